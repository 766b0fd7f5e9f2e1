import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { ReservedNode } from '../../../cluster/node-reservations.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { PluginSplit } from './cached-results.ts';
import type { NodeSubset } from './node-subset.ts';
import type { RankingBuffers } from './ranking-buffers.ts';

/** A pod with its PreFilter result. */
export interface PreFilteredPod {
  readonly pod: Pod;
  readonly state: CycleState;
  /** The only nodes to check; undefined: all. */
  readonly nodeNames: ReadonlySet<string> | undefined;
}

/** The inputs for checking and ranking nodes for identical pods. */
export interface FeasibilityOptions {
  readonly profile: Profile;
  readonly nodes: readonly NodeInfo[];
  readonly split: PluginSplit;
  /** Indexes of the nodes to check. Absent: all nodes. */
  readonly within?: readonly number[] | undefined;
  /** The extenders' result; absent: no extender restricts the nodes. */
  readonly nodeSubset?: NodeSubset | undefined;
  /** Returns node index -> current generation of the node. */
  readonly generations: () => Float64Array;
  /** Returns the nodes with reservations that count and that the pod must respect, even unknown nodes. The same list until it has to change. */
  readonly reservedFor: (pod: Pod) => readonly ReservedNode[];
  /** Called with the number of nodes before each pass over them; may throw. */
  readonly spend?: ((steps: number) => void) | undefined;
  /** Returns whether a reservation no longer counts, because its owner is on a node already, or gone. */
  readonly hasNoReservation: (uid: string) => boolean;
  readonly buffers: RankingBuffers;
}
