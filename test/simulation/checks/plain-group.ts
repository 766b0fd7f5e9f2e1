import type { StoreRecord } from '../world/record.ts';
import { hasEnded, isOnNode, isOpen, plainGroup, plainNode, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainNode, PlainPod } from './plain-objects.ts';

/** Up to which version of each resource to look. Default: now. */
export interface View {
  readonly pods: number;
  readonly nodes: number;
  readonly podgroups: number;
}

const latest: View = { pods: Infinity, nodes: Infinity, podgroups: Infinity };

export function podsIn(record: StoreRecord, view: View = latest): PlainPod[] {
  return [...record.all('pods', view.pods)].map(plainPod);
}

function nodesIn(record: StoreRecord, view: View = latest): PlainNode[] {
  return [...record.all('nodes', view.nodes)].map(plainNode);
}

/** All nodes but the one to which every Binding is rejected. */
export function usableNodes(record: StoreRecord, forbidden: string | undefined): PlainNode[] {
  return nodesIn(record).filter(({ name }) => name !== forbidden);
}

export function groupsIn(record: StoreRecord, view: View = latest): PlainGroup[] {
  return [...record.all('podgroups', view.podgroups)].map(plainGroup);
}

export function groupNamed(record: StoreRecord, name: string, view: View = latest): PlainGroup | undefined {
  const object = record.get('podgroups', `default/${name}`, view.podgroups);
  return object && plainGroup(object);
}

/** Whether the group has started, as the controller has noted it; undefined: it has not. */
export function notedStart(group: PlainGroup): boolean | undefined {
  const conditions = (group.status.conditions ?? []) as unknown as readonly {
    readonly type: string;
    readonly status: string;
  }[];
  const status = conditions.find(({ type }) => type === 'Started')?.status;
  return status === undefined ? undefined : status === 'True';
}

/** The members of one group object, by what they are good for. */
export interface Tally {
  /** On nodes for this very group object. */
  readonly bound: readonly PlainPod[];
  readonly succeeded: number;
  /** They wait for a node. */
  readonly open: readonly PlainPod[];
  /** So many are on nodes, or have succeeded, as the quorum is, or was when they were bound. */
  readonly isWhole: boolean;
}

export function tallyOf({ name, uid, minMember }: PlainGroup, pods: readonly PlainPod[]): Tally {
  const members = pods.filter((pod) => pod.group === name && (pod.boundFor === undefined || pod.boundFor === uid));
  const bound = members.filter((pod) => isOnNode(pod) && !pod.isLeaving);
  const succeeded = members.filter(({ phase }) => phase === 'Succeeded');
  const there = [...bound, ...succeeded];
  return {
    bound,
    succeeded: succeeded.length,
    open: members.filter((pod) => isOpen(pod)),
    isWhole:
      there.length >= minMember ||
      there.some(({ quorum }) => there.filter((other) => other.quorum === quorum).length >= quorum),
  };
}

/** Pods that take up room, with where: those on nodes, and those that the API says are nominated there. */
export function takenCapacity(pods: readonly PlainPod[]): (readonly [PlainPod, string])[] {
  return pods.flatMap((pod) => {
    if (isOnNode(pod)) return [[pod, pod.node] as const];
    const isComing = pod.nominatedNode !== '' && !hasEnded(pod) && !pod.isLeaving;
    return isComing ? [[pod, pod.nominatedNode] as const] : [];
  });
}
