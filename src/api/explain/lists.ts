import type { WaitsFor } from '../verdict.ts';
import type { Assignment, Basis, PartError, Subject } from './basis.ts';
import type { explainApiVersion } from './basis.ts';
import type { EntityState, Explanation } from './explanation.ts';

/** One row of `tutti status`. */
export interface StatusItem {
  readonly subject: Subject;
  readonly state: EntityState;
  readonly waitsFor?: WaitsFor;
  readonly bound: number;
  /** 1 for a pod. */
  readonly minMember: number;
  readonly size: number;
  /** RFC 3339: since when it is in this state, as far as its objects show. */
  readonly since?: string;
  /** Reason of the condition that says why it waits. */
  readonly reason?: string;
  readonly message: string;
}

export interface StatusList {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'StatusList';
  readonly basis: Basis;
  readonly items: readonly StatusItem[];
  /** state -> number of items */
  readonly totals: Readonly<Partial<Record<EntityState, number>>>;
  readonly nodes?: number;
  readonly errors: readonly PartError[];
}

/** What `tutti status --watch` prints for each change. */
export interface StatusChange {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'StatusChange';
  readonly type: 'Added' | 'Modified' | 'Deleted';
  /** Of `Deleted`: as it was last. */
  readonly item: StatusItem;
}

/** One row of `tutti queue`. */
export interface QueueItem {
  /** Rank by QueueSort among all that are ready. Absent: it is not ready. */
  readonly position?: number;
  readonly subject: Subject;
  readonly state: 'gated' | 'active' | 'backoff' | 'unschedulable' | 'inFlight';
  /** RFC 3339: end of the backoff. */
  readonly until?: string;
  readonly priority: number;
  /** RFC 3339. */
  readonly readySince?: string;
  readonly attempts?: number;
  readonly rejectedBy: readonly string[];
  readonly message?: string;
}

export interface QueueList {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'QueueList';
  readonly basis: Basis;
  readonly items: readonly QueueItem[];
}

/** One entity of `tutti plan`. */
export interface PlanItem {
  readonly subject: Subject;
  readonly members: number;
  readonly minMember: number;
  /** Absent: unknown, because the caller may not list the nodes and pods. */
  readonly fits?: boolean;
  /** As many as could be made. */
  readonly assignments: readonly Assignment[];
  /** Pods that preemption would evict. */
  readonly victims?: readonly Subject[];
  /** Only if it does not fit. */
  readonly explanation?: Explanation;
}

export interface PlanResult {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'PlanResult';
  readonly basis: Basis;
  /** `dryRun`: the API server has checked and completed the objects. `local`: they are planned as they are in the file. */
  readonly admission: 'dryRun' | 'local';
  readonly items: readonly PlanItem[];
  readonly errors: readonly PartError[];
}

/**
 * What a drain does to a group.
 * - `safe`: all displaced members fit elsewhere, and the quorum stays bound meanwhile.
 * - `interrupts`: they fit elsewhere, but fewer than the quorum are bound meanwhile.
 * - `shrinks`: they do not all fit elsewhere, but with those that do, the group has its quorum.
 * - `strands`: the group cannot keep its quorum.
 */
export type DrainOutcome = 'safe' | 'interrupts' | 'shrinks' | 'strands';

export interface DrainItem {
  readonly subject: Subject;
  /** Members on the nodes. */
  readonly here: number;
  /** Members that count towards the quorum once the nodes are empty and before replacements start. */
  readonly after: number;
  readonly minMember: number;
  /** Replacements that fit elsewhere. A member without a controller has none. Absent, like `outcome`: the caller may not list the nodes and pods. */
  readonly fit?: number;
  readonly assignments: readonly Assignment[];
  readonly outcome?: DrainOutcome;
}

/** A PodDisruptionBudget that does not allow the drain at once. */
export interface DrainBudget {
  readonly namespace: string;
  readonly name: string;
  readonly allowed: number;
  readonly needed: number;
}

export interface DrainCheck {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'DrainCheck';
  readonly basis: Basis;
  readonly nodes: readonly string[];
  readonly items: readonly DrainItem[];
  readonly budgets: readonly DrainBudget[];
  /** Pods that no controller recreates. */
  readonly lost: readonly Subject[];
  /** Pods of other schedulers, which are not judged. */
  readonly notJudged: number;
  readonly errors: readonly PartError[];
}
