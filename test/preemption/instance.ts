/** An entity that preempts, and the cluster in which it does, as plain data. No code of the product reads it. */
export interface Instance {
  readonly family: string;
  readonly seed: number;
  readonly nodes: readonly InstanceNode[];
  /** The groups of running pods. */
  readonly groups: readonly { readonly minMember: number }[];
  readonly running: readonly RunningPod[];
  readonly kinds: readonly MemberKind[];
  /** False: the preemptor is a pod without a group. */
  readonly isGang: boolean;
  /** member of the preemptor -> its kind, in order of arrival */
  readonly members: readonly number[];
  /** How many of the members need a node. */
  readonly needed: number;
  /** Pods of others for which capacity is reserved. */
  readonly reservations: readonly InstanceReservation[];
  /** budget -> how many evictions it allows */
  readonly budgets: readonly number[];
}

/** CPU in millicores, memory in MiB, GPUs. */
export type ResourceAmounts = readonly [number, number, number];

export interface InstanceNode {
  readonly allocatable: ResourceAmounts;
  /** Takes only pods that tolerate its taint. */
  readonly isTainted: boolean;
}

/** What decides which pods fit together on a node. */
export interface PodShape {
  readonly amounts: ResourceAmounts;
  readonly hostPort: number | undefined;
  /** Value of a label. */
  readonly color: string;
  /** Colors of pods with which it shares no node. */
  readonly shuns: readonly string[];
}

export interface RunningPod extends PodShape {
  readonly node: number;
  readonly priority: number;
  /** `own`: the preemptor's group. */
  readonly group: number | 'own' | undefined;
  /** Is being deleted. */
  readonly isLeaving: boolean;
  /** When it started, in seconds; different for each pod. */
  readonly startedAt: number;
  /** The disruption budget that selects it. */
  readonly budget: number | undefined;
}

/** What identical members have in common. */
export interface MemberKind extends PodShape {
  readonly priority: number;
  readonly toleratesTaint: boolean;
}

/** Capacity that is reserved on a node for a pod of others. */
export interface InstanceReservation {
  readonly node: number;
  readonly amounts: ResourceAmounts;
  readonly priority: number;
}

export const resourceIndexes = [0, 1, 2] as const;
export const preemptorPriority = 50;

/** Victims must have a lower priority than this. */
export function lowestPriorityOf({ members, kinds }: Instance): number {
  return Math.min(...members.map((kind) => kinds[kind]!.priority));
}
