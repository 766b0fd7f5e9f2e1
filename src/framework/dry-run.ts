import type { Pod } from '../api/pod.ts';
import type { Diagnosis } from './diagnosis.ts';

/** A member with the node that it would take. */
export interface Nomination {
  readonly pod: Pod;
  readonly nodeName: string;
}

/** How a trial differs from the cluster as it is. */
export interface DryRunOptions {
  /**
   * These pods, whole gangs too, are gone: their room is free, and their groups do not count them. `others`: all but the entity's
   * own.
   */
  readonly without?: Iterable<Pod> | 'others';
  /** Names of the only nodes that are looked at. Default: all. */
  readonly within?: ReadonlySet<string>;
  /** The only members that are placed, of those that may be. Default: all. */
  readonly members?: readonly Pod[];
  /** How many members must be placed. Default: as many as the entity is short of once `without` are gone. */
  readonly need?: number;
}

/** What would happen to an entity. */
export interface DryRunResult {
  /** As many as were needed find nodes, together. */
  readonly fits: boolean;
  /** Where they would go, in the order in which they were placed: all that were needed, or as far as it went. */
  readonly plan: readonly Nomination[];
  /** Why the hardest member that found no node found none; undefined when it fits. */
  readonly blocked: Diagnosis | undefined;
}
