import { isAdmissionRejection } from '../../src/api/admission-rejection.ts';
import { groupKeyOf } from '../../src/api/group-key.ts';
import type { GroupSource } from '../../src/api/group-key.ts';
import { defaultMinMember } from '../../src/api/pod-group.ts';
import { isTerminal } from '../../src/api/pod.ts';
import { PodProjector } from '../../src/api/pod-projector.ts';
import type { Pod } from '../../src/api/pod.ts';
import { readResources } from '../../src/api/resource-list.ts';
import type { ResourceSum } from '../../src/api/resource-list.ts';
import { ResourceNames } from '../../src/api/resource-names.ts';
import type { WorkingTime } from './pulse.ts';
import type { Change } from './recording.ts';
import { keyOf } from './watched.ts';
import type { WatchedNativeGroup, WatchedNode, WatchedObject, WatchedPod, WatchedPodGroup } from './watched.ts';

/** A history, for example a ClusterRecord. */
export interface History {
  readonly nodes: { readonly changes: readonly Change<WatchedNode>[] };
  readonly podGroups: { readonly changes: readonly Change<WatchedPodGroup>[] };
  /** PodGroups of `scheduling.k8s.io`. Absent: none existed. */
  readonly nativePodGroups?: { readonly changes: readonly Change<WatchedNativeGroup>[] } | undefined;
  readonly pods: { readonly changes: readonly Change<WatchedPod>[] };
  readonly pulse: WorkingTime;
}

export interface HistoryRules {
  /** Only pods of these namespaces are checked. */
  readonly namespaces: ReadonlySet<string>;
  /** How long a group that never started may be partially bound, in milliseconds of working time. */
  readonly partialForMs: number;
  /** The test makes nodes reject pods on purpose. */
  readonly expectsRejections?: boolean;
}

/** A group's quorum by the history. */
interface GroupState {
  readonly uid: string;
  readonly minMember: number;
  started: boolean;
  partialSince: number | undefined;
}

/**
 * Returns a sentence for each breach of the rules of every scenario: no group is partially bound for long or at the end, no node is
 * over-committed, and no node rejects a pod.
 */
export function historyProblems(record: History, rules: HistoryRules): string[] {
  const replay = new Replay(rules, record.pulse);
  const changes = [
    ...record.nodes.changes.map((change) => ({ at: change.at, apply: () => replay.node(change) })),
    ...record.podGroups.changes.map((change) => ({
      at: change.at,
      apply: () => replay.podGroup('scheduling.x-k8s.io', change, change.object.spec?.minMember ?? defaultMinMember),
    })),
    ...(record.nativePodGroups?.changes ?? []).map((change) => ({
      at: change.at,
      // A basic group has no quorum.
      apply: () =>
        replay.podGroup('scheduling.k8s.io', change, change.object.spec?.schedulingPolicy?.gang?.minCount ?? 0),
    })),
    ...record.pods.changes.map((change) => ({ at: change.at, apply: () => replay.pod(change) })),
  ];
  changes.sort((a, b) => a.at - b.at);
  for (const { apply } of changes) apply();
  return replay.end();
}

class Replay {
  readonly #rules: HistoryRules;
  readonly #time: WorkingTime;
  readonly #names = new ResourceNames();
  readonly #projector = new PodProjector(this.#names);
  /** key -> pod that exists */
  readonly #pods = new Map<string, Pod>();
  /** node name -> allocatable resources */
  readonly #nodes = new Map<string, ResourceSum>();
  /** key -> group that exists */
  readonly #groups = new Map<string, GroupState>();
  readonly #problems = new Set<string>();

  constructor(rules: HistoryRules, time: WorkingTime) {
    this.#rules = rules;
    this.#time = time;
  }

  node({ type, object }: Change<WatchedNode>): void {
    const { name } = object.metadata;
    if (type === 'DELETED') this.#nodes.delete(name);
    else this.#nodes.set(name, readResources(object.status?.allocatable));
  }

  podGroup(source: GroupSource, { at, type, object }: Change<WatchedObject>, minMember: number): void {
    const { uid, namespace = '', name } = object.metadata;
    const key = groupKeyOf(source, namespace, name);
    const before = this.#groups.get(key);
    if (type === 'DELETED') {
      this.#groups.delete(key);
      return;
    }
    const same = before?.uid === uid ? before : { started: false, partialSince: undefined };
    this.#groups.set(key, { ...same, uid, minMember });
    this.#lookAtGroup(key, at);
  }

  pod({ at, type, object }: Change<WatchedPod>): void {
    const { metadata, status } = object;
    if (!this.#rules.namespaces.has(metadata.namespace)) return;
    const key = keyOf(object);
    const before = this.#pods.get(key);
    const pod = this.#projector.project(object);
    if (type === 'DELETED') this.#pods.delete(key);
    else this.#pods.set(key, pod);
    if (status?.phase === 'Failed' && isAdmissionRejection(status.reason) && this.#rules.expectsRejections !== true) {
      this.#problems.add(`node ${pod.nodeName} rejected ${key}: ${status.reason}: ${status.message}`);
    }
    if (type !== 'DELETED' && pod.nodeName !== '' && before?.nodeName !== pod.nodeName) this.#lookAtNode(pod.nodeName);
    if (pod.podGroupKey !== undefined) this.#lookAtGroup(pod.podGroupKey, at);
  }

  end(): string[] {
    for (const [key, group] of this.#groups) {
      if (group.partialSince !== undefined) {
        this.#problems.add(`PodGroup ${key} ends with ${this.#bound(key)} of ${group.minMember} members bound`);
      }
    }
    return [...this.#problems];
  }

  #lookAtGroup(key: string, at: number): void {
    const group = this.#groups.get(key);
    if (group === undefined) return;
    const bound = this.#bound(key);
    if (bound >= group.minMember) group.started = true;
    else if (!this.#isAlive(key)) group.started = false;
    if (!group.started && bound > 0) {
      group.partialSince ??= at;
      return;
    }
    const lasted = group.partialSince === undefined ? 0 : this.#time.workedMs(group.partialSince, at);
    group.partialSince = undefined;
    if (lasted > this.#rules.partialForMs) {
      this.#problems.add(`PodGroup ${key} was partially bound for ${Math.round(lasted)} ms`);
    }
  }

  /** Returns whether a member is on a node or has succeeded. Otherwise, the group starts over. */
  #isAlive(group: string): boolean {
    const pods = [...this.#pods.values()];
    return pods.some((pod) => pod.podGroupKey === group && pod.nodeName !== '' && pod.phase !== 'Failed');
  }

  #bound(group: string): number {
    const pods = [...this.#pods.values()];
    return pods.filter((pod) => pod.podGroupKey === group && pod.nodeName !== '' && !isTerminal(pod)).length;
  }

  #lookAtNode(name: string): void {
    const allocatable = this.#nodes.get(name);
    if (allocatable === undefined) return;
    const used: ResourceSum = new Map();
    for (const pod of this.#pods.values()) {
      if (pod.nodeName !== name || isTerminal(pod)) continue;
      const { ids, amounts } = pod.template.requests;
      ids.forEach((id, index) => {
        const resource = this.#names.nameOf(id);
        used.set(resource, (used.get(resource) ?? 0) + amounts[index]!);
      });
    }
    for (const [resource, amount] of used) {
      const capacity = allocatable.get(resource) ?? 0;
      if (amount <= capacity) continue;
      this.#problems.add(`node ${name} is over-committed: ${amount} of ${resource}, it has ${capacity}`);
    }
  }
}
