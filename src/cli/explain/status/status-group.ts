import { groupKeyOf } from '../../../api/group-key.ts';
import type { GroupSource } from '../../../api/group-key.ts';
import type { NativePodGroup } from '../../../api/native-pod-group.ts';
import { hasStarted, podGroupConditions, podGroupPhaseOf, projectPodGroup } from '../../../api/pod-group.ts';
import type { PodGroupPhase } from '../../../api/pod-group.ts';
import { readConditions } from '../../../controller/pod-group-status.ts';
import { statusConditionOf } from './status-pod.ts';
import type { StatusCondition } from './status-pod.ts';

/** What the objects of both APIs show of a pod group. */
export interface StatusGroup {
  readonly source: GroupSource;
  /** Undefined: pods name the group, but it does not exist. */
  readonly uid: string | undefined;
  readonly namespace: string;
  readonly name: string;
  /** See `groupKeyOf`. */
  readonly key: string;
  /** The quorum. 0: the members start one by one, or the group does not exist. */
  readonly minMember: number;
  /** RFC 3339. */
  readonly createdAt: string | undefined;
  /** Undefined: no controller has written one, or the API has none. */
  readonly phase: PodGroupPhase | undefined;
  /** The quorum has been bound, by the status. */
  readonly started: boolean;
  /** True, or False with the verdict. */
  readonly scheduled: StatusCondition | undefined;
  readonly startedCondition: StatusCondition | undefined;
  readonly incomplete: StatusCondition | undefined;
  readonly ready: StatusCondition | undefined;
  /** Counts of the members in the status; undefined: it has none. */
  readonly counts: { readonly members: number; readonly bound: number } | undefined;
}

/** Reads a PodGroup of `scheduling.x-k8s.io`. Throws MalformedObjectError. */
export function statusGroupOf(raw: unknown): StatusGroup {
  const { uid, namespace, name, key, minMember, creationTimestamp, status } = projectPodGroup(raw);
  const conditions = readConditions(status);
  const condition = (type: string): StatusCondition | undefined => {
    const found = conditions.find((each) => each.type === type);
    return found && statusConditionOf(found);
  };
  return {
    source: 'scheduling.x-k8s.io',
    ...{ uid, namespace, name, key, minMember },
    createdAt: timeOf(creationTimestamp),
    phase: podGroupPhaseOf(status),
    started: hasStarted(status),
    scheduled: condition(podGroupConditions.scheduled),
    startedCondition: condition(podGroupConditions.started),
    incomplete: condition(podGroupConditions.incomplete),
    ready: condition(podGroupConditions.ready),
    counts: status.members === undefined ? undefined : { members: status.members, bound: status.scheduled ?? 0 },
  };
}

/** Returns what a PodGroup of `scheduling.k8s.io` shows. */
export function nativeStatusGroupOf(group: NativePodGroup): StatusGroup {
  const { uid, namespace, name, key, minCount = 0, creationTimestamp, scheduled } = group;
  const condition = scheduled && statusConditionOf(scheduled);
  return {
    source: 'scheduling.k8s.io',
    ...{ uid, namespace, name, key, minMember: minCount },
    createdAt: timeOf(creationTimestamp),
    phase: undefined,
    started: condition?.status === 'True',
    scheduled: condition,
    startedCondition: condition?.status === 'True' ? condition : undefined,
    incomplete: undefined,
    ready: undefined,
    counts: undefined,
  };
}

/** Returns a group that pods name although it does not exist. */
export function absentStatusGroup(source: GroupSource, namespace: string, name: string): StatusGroup {
  return {
    source,
    uid: undefined,
    namespace,
    name,
    key: groupKeyOf(source, namespace, name),
    minMember: 0,
    createdAt: undefined,
    phase: undefined,
    started: false,
    scheduled: undefined,
    startedCondition: undefined,
    incomplete: undefined,
    ready: undefined,
    counts: undefined,
  };
}

function timeOf(ms: number): string | undefined {
  return ms === 0 ? undefined : new Date(ms).toISOString();
}
