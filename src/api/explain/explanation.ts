import type { StartConfidence, WaitsFor } from '../verdict.ts';
import type { RejectionCode } from '../rejection-code.ts';
import type { Basis, PartError, Quantities, Subject } from './basis.ts';
import type { explainApiVersion } from './basis.ts';

/**
 * State of an entity.
 * - `Waiting`: nothing of it is bound that it needs.
 * - `Starting`: it is planned, and its pods are being bound.
 * - `Partial`: some members are bound, fewer than its quorum, and it never started.
 * - `Running`: the quorum has been bound, or the pod is. `Degraded`: it has started, but has fewer members than its quorum now.
 * - `Finished`: no pod of it will run any more.
 * - `Unknown`: the caller cannot see it.
 */
export type EntityState = 'Waiting' | 'Starting' | 'Partial' | 'Running' | 'Degraded' | 'Finished' | 'Unknown';

/** Why nodes reject a pod. */
export interface RejectionDetail {
  /** Empty: the scheduler itself. */
  readonly plugin: string;
  readonly code: RejectionCode;
  /** Of `InsufficientResource`. */
  readonly resource?: string;
  /** What the pod requests of it. */
  readonly needed?: string;
  /** What the node with most of it has free. */
  readonly mostFree?: string;
  /** The key of the taint or label that decides. */
  readonly key?: string;
  readonly message: string;
}

/** One row of the funnel: nodes that one plugin rejects for the same reasons. `left` nodes remain after them. */
export interface FunnelRow {
  /** At least one. A node that lacks two resources has two. */
  readonly rejections: readonly RejectionDetail[];
  readonly removed: number;
  readonly left: number;
}

/** A node that rejects the pod, but lacks little. */
export interface NearestNode {
  readonly node: string;
  /** What the pod lacks there; empty: no resource. */
  readonly missing: Quantities;
  readonly rejections: readonly RejectionDetail[];
  /** Who uses most of what is missing, at most three. */
  readonly heldBy: readonly Subject[];
}

/** The member that finds no node. */
export interface Blocker {
  readonly member: string;
  /** Number of waiting members with the same requirements, this one included. */
  readonly alike: number;
  readonly requests: Quantities;
  /** Number of nodes. The rows of the funnel add up to it. */
  readonly nodes: number;
  /** In the order in which the plugins run, `TakenBySiblings` last. Empty if the pod was rejected as a whole, like `nearest`. */
  readonly funnel: readonly FunnelRow[];
  /** Why the pod was rejected as a whole: by PreFilter, or because a plugin failed. */
  readonly rejection?: RejectionDetail;
  /** At most five: nodes that the pod may use before others, then by the share that it lacks, then by name. */
  readonly nearest: readonly NearestNode[];
}

/**
 * One resource of which too little is free for the members that must still be placed. The verdict has the same numbers. They cover the nodes
 * that reject these members only because too little is free.
 */
export interface Shortage {
  readonly resource: string;
  /** How much more is needed. Absent: enough is free in total, but too little on each node. */
  readonly more?: string;
  /** More than `more` may be needed. */
  readonly isAtLeast?: true;
  /** Free on these nodes, before the members that would fit are placed. */
  readonly free: string;
  /** What those members leave. */
  readonly left: string;
  /** Most of what they leave on one node. */
  readonly mostLeft: string;
  /** What these nodes have in total. */
  readonly total: string;
}

/**
 * A change after which a dry run placed the whole entity.
 * - `podsEnd`: these pods end. `uncordon`: these nodes take pods again. `addNodes`: more nodes like this one.
 * - `lowerMinMember`: the group needs fewer members. `raisePriority`: it may then preempt.
 */
export type Remedy =
  | { readonly kind: 'podsEnd'; readonly pods: readonly Subject[]; readonly highestPriority: number }
  | { readonly kind: 'uncordon'; readonly nodes: readonly string[] }
  | { readonly kind: 'addNodes'; readonly count: number; readonly like: string }
  | { readonly kind: 'lowerMinMember'; readonly to: number }
  | { readonly kind: 'raisePriority'; readonly above: number };

/** When the entity should start. */
export type StartPrediction =
  | { readonly at: string; readonly confidence: StartConfidence }
  /** `withoutEnd` of the `blocking` pods in its way declare no end. */
  | { readonly at?: never; readonly confidence: 'Unknown'; readonly withoutEnd: number; readonly blocking: number };

/** Member counts of a group. */
export interface GangCounts {
  readonly minMember: number;
  readonly existing: number;
  readonly gated: number;
  readonly bound: number;
  readonly ended: number;
}

/** Why an entity is not bound. */
export interface Explanation {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'Explanation';
  readonly basis: Basis;
  readonly subject: Subject;
  readonly state: EntityState;
  readonly waitsFor?: WaitsFor;
  /** RFC 3339: since when the entity is ready, or exists. */
  readonly since?: string;
  /** What the scheduler has written, or would write. */
  readonly verdict?: { readonly reason: string; readonly message: string };
  readonly gang?: GangCounts;
  /** Attempts so far. Absent: only the scheduler knows. */
  readonly attempts?: number;
  /** How many of the needed members a plan places now. */
  readonly placed?: number;
  readonly needed?: number;
  readonly blocker?: Blocker;
  /** The verdict says the first. */
  readonly shortages: readonly Shortage[];
  /** Whether a plan fits now, and whether it fits without all other pods. `fitsNow` is absent if an extender has yet to agree. */
  readonly fitsNow?: boolean;
  readonly withoutOtherPods?: 'fits' | 'never' | 'unknown';
  /** Number of ready entities that come before it in the queue. */
  readonly ahead?: number;
  /** Only what a dry run has shown. */
  readonly whatHelps: readonly Remedy[];
  readonly start?: StartPrediction;
  readonly errors: readonly PartError[];
}
