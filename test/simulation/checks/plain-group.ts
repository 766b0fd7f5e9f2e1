import type { WatchedResource } from '../scenario.ts';
import type { StoreRecord } from '../world/record.ts';
import { groupObjectOf, hasEnded, isOnNode, isOpen, plainGroup, plainNode, plainPod } from './plain-objects.ts';
import type { PlainCondition, PlainGroup, PlainNode, PlainPod } from './plain-objects.ts';

/** Latest version to read of each resource. Default: now. */
export type View = Readonly<Record<WatchedResource, number>>;

/** Returns the view in which each resource is as of this version. */
export function viewAt(version: number): View {
  return { pods: version, nodes: version, podgroups: version, nativepodgroups: version };
}

const latest = viewAt(Infinity);

export function podsIn(record: StoreRecord, view: View = latest): PlainPod[] {
  return [...record.all('pods', view.pods)].map(plainPod);
}

function nodesIn(record: StoreRecord, view: View = latest): PlainNode[] {
  return [...record.all('nodes', view.nodes)].map(plainNode);
}

export function nodeNamed(record: StoreRecord, name: string): PlainNode | undefined {
  const object = record.get('nodes', `/${name}`);
  return object && plainNode(object);
}

/** Returns the claims as PlainCapacity reads them. A volume's zone is the one that its node affinity names. */
export function claimsIn(record: StoreRecord): ReadonlyMap<string, string | undefined> {
  const claims = new Map<string, string | undefined>();
  for (const { metadata, spec } of record.all('persistentvolumeclaims') as Iterable<any>) {
    const volume: any = spec.volumeName && record.get('persistentvolumes', `/${spec.volumeName}`);
    const [term] = volume?.spec.nodeAffinity.required.nodeSelectorTerms ?? [];
    claims.set(metadata.name, term?.matchExpressions[0].values[0]);
  }
  return claims;
}

/** Returns all nodes. The one that rejects every Binding is closed. */
export function usableNodes(record: StoreRecord, forbidden: string | undefined, view: View = latest): PlainNode[] {
  return closed(nodesIn(record, view), forbidden === undefined ? [] : [forbidden]);
}

/** Returns the nodes, of which those with these names are closed. They remain topology domains. */
export function closed(nodes: readonly PlainNode[], names: readonly string[]): PlainNode[] {
  return nodes.map((node) => (names.includes(node.name) ? { ...node, isClosed: true } : node));
}

export function groupsIn(record: StoreRecord, view: View = latest): PlainGroup[] {
  const resources = ['podgroups', 'nativepodgroups'] as const;
  return resources.flatMap((resource) => [...record.all(resource, view[resource])].map(plainGroup));
}

export function groupNamed(record: StoreRecord, name: string, view: View = latest): PlainGroup | undefined {
  const { resource, key } = groupObjectOf(name);
  const object = record.get(resource, key, view[resource]);
  return object && plainGroup(object);
}

/**
 * Returns whether the group has started according to the controller; undefined: the controller has not recorded it. In a PodGroup of Kubernetes
 * itself, this stays true for ever.
 */
export function notedStart(group: PlainGroup): boolean | undefined {
  const status = startCondition(group)?.status;
  return status === undefined ? undefined : status === 'True';
}

/**
 * Returns whether the pod may have been bound before the start that a PodGroup of Kubernetes itself shows. Times have whole seconds, so a start of
 * an earlier life may look like one of the pod's.
 */
export function mayConfirmStart(group: PlainGroup, { scheduled }: PlainPod): boolean {
  const condition = group.isNative ? startCondition(group) : undefined;
  return (
    condition?.status === 'True' &&
    scheduled !== undefined &&
    scheduled.lastTransitionTime <= condition.lastTransitionTime
  );
}

/**
 * Returns whether the controller has recorded the start of this life of the group. In a PodGroup of Kubernetes itself it records only the first one,
 * so the condition says nothing if all bound members were bound later.
 */
export function isStartNoted(group: PlainGroup, pods: readonly PlainPod[]): boolean {
  if (notedStart(group) !== true) return false;
  return !group.isNative || tallyOf(group, pods).bound.some((pod) => mayConfirmStart(group, pod));
}

function startCondition({
  isNative,
  status,
}: PlainGroup): Pick<PlainCondition, 'status' | 'lastTransitionTime'> | undefined {
  const type = isNative ? 'PodGroupInitiallyScheduled' : 'Started';
  const conditions = (status.conditions ?? []) as unknown as readonly (PlainCondition & { readonly type: string })[];
  return conditions.find((condition) => condition.type === type);
}

/** The members of one group object, by state. */
export interface Tally {
  /** Bound for this very group object. */
  readonly bound: readonly PlainPod[];
  readonly succeeded: number;
  /** Members that wait for a node. */
  readonly open: readonly PlainPod[];
  /** Bound plus succeeded members reach the current quorum, or the quorum at the time they were bound. */
  readonly isWhole: boolean;
}

export function tallyOf({ name, uid, minMember }: PlainGroup, pods: readonly PlainPod[]): Tally {
  const members = pods.filter((pod) => pod.group === name && (pod.boundFor === undefined || pod.boundFor === uid));
  const bound = members.filter((pod) => isOnNode(pod) && !pod.isLeaving);
  // A pod that has to leave may exit with 0, too.
  const succeeded = members.filter(({ phase, isLeaving }) => phase === 'Succeeded' && !isLeaving);
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

/**
 * Returns how many of the waiting members the group needs at the same time; 0 or less: each of them is scheduled by itself. `started`: uids of
 * the groups that have started, for which succeeded members count.
 */
export function missingOf(group: PlainGroup, pods: readonly PlainPod[], started: ReadonlySet<string>): number {
  const { bound, succeeded } = tallyOf(group, pods);
  return group.minMember - bound.length - (started.has(group.uid) ? succeeded : 0);
}

/** Why members of a group may not be scheduled, and the members that are the reason. */
export interface HeldBack {
  readonly why: string;
  readonly pods: readonly PlainPod[];
}

/**
 * Returns why a waiting member of the group may not be scheduled, whatever capacity there is; undefined: nothing holds it back. In a group without a
 * quorum, a member holds back only itself. `pods`: by the same view. `of`: the waiting member; undefined: any.
 */
export function whyHeldBack(
  record: StoreRecord,
  group: PlainGroup,
  pods: readonly PlainPod[],
  view: View = latest,
  of?: PlainPod,
): HeldBack | undefined {
  const found = misfitsIn(record, group, pods, view);
  if (found === undefined || group.minMember > 0) return found;
  return of !== undefined && found.pods.includes(of) ? { ...found, pods: [of] } : undefined;
}

function misfitsIn(
  record: StoreRecord,
  { name, uid, isNative, minMember, memberPriority }: PlainGroup,
  pods: readonly PlainPod[],
  view: View,
): HeldBack | undefined {
  const members = pods.filter(
    (pod) =>
      pod.group === name && !hasEnded(pod) && !pod.isLeaving && (pod.boundFor === undefined || pod.boundFor === uid),
  );
  const isOfOther = ({ otherGroup }: PlainPod): boolean =>
    otherGroup !== undefined && (groupNamed(record, otherGroup, view)?.minMember ?? 0) > 0;
  const ofOthers = members.filter(isOfOther);
  if (ofOthers.length > 0) return { why: 'a member is in another gang by its spec', pods: ofOthers };
  const unlike = members.filter(({ priority }) => memberPriority !== undefined && priority !== memberPriority);
  if (unlike.length > 0) return { why: 'a member has another priority', pods: unlike };
  const gated = isNative && minMember > 0 ? members.filter(({ isGated, node }) => isGated && node === '') : [];
  return gated.length > 0 ? { why: 'a member has scheduling gates', pods: gated } : undefined;
}

/** Returns whether these waiting members name several schedulers. None of them is then scheduled. */
export function nameSeveralSchedulers(open: readonly PlainPod[]): boolean {
  return new Set(open.map(({ schedulerName }) => schedulerName)).size > 1;
}

/**
 * Returns the pods that use capacity, each with its node: bound pods, and pods of at least this priority that the API shows as nominated.
 */
export function takenCapacity(pods: readonly PlainPod[], priority = -Infinity): (readonly [PlainPod, string])[] {
  return pods.flatMap((pod) => {
    if (isOnNode(pod)) return [[pod, pod.node] as const];
    const isComing = pod.nominatedNode !== '' && !hasEnded(pod) && !pod.isLeaving && pod.priority >= priority;
    return isComing ? [[pod, pod.nominatedNode] as const] : [];
  });
}
