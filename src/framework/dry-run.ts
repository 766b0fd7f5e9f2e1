import type { Pod } from '../api/pod.ts';
import type { Diagnosis } from './diagnosis.ts';

/** A member and the node that it would get. */
export interface Nomination {
  readonly pod: Pod;
  readonly nodeName: string;
}

/** How a dry run differs from the current cluster state. */
export interface DryRunOptions {
  /**
   * Pods to treat as deleted, possibly whole gangs: their capacity is free and their groups do not count them. `others`: all pods
   * except the entity's own.
   */
  readonly without?: Iterable<Pod> | 'others';
  /** Names of the nodes to consider. Default: all. */
  readonly within?: ReadonlySet<string>;
  /** Members to place, out of those that can be placed. Default: all. */
  readonly members?: readonly Pod[];
  /** Number of members to place. Default: the number that the entity still needs once the pods in `without` are gone. */
  readonly need?: number;
}

/** Outcome of a dry run for an entity. */
export interface DryRunResult {
  /** True when enough members find nodes at the same time. */
  readonly fits: boolean;
  /** Node assignments in the order in which they were made: all needed ones, or as many as could be made. */
  readonly plan: readonly Nomination[];
  /** Diagnosis of the most constrained member that fits no node; undefined when the entity fits. */
  readonly blocked: Diagnosis | undefined;
}
