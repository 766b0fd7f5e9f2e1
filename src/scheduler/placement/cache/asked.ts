import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { Answering } from './cached-results.ts';
import type { KnownNodes } from './known-nodes.ts';
import type { NodeSubset } from './node-subset.ts';
import type { RankingBuffers } from './ranking-buffers.ts';

/** A pod, with what PreFilter said of it. */
export interface Asked {
  readonly pod: Pod;
  readonly state: CycleState;
  /** The only nodes worth looking at; undefined: all. */
  readonly nodeNames: ReadonlySet<string> | undefined;
}

/** What pods that are alike are asked about. */
export interface FeasibilityOptions {
  readonly profile: Profile;
  readonly nodes: readonly NodeInfo[];
  readonly answering: Answering;
  /** Indexes of the only nodes to look at; absent: all. */
  readonly within?: readonly number[] | undefined;
  /** What extenders said of the nodes; absent: they have no say. */
  readonly nodeSubset?: NodeSubset | undefined;
  /** node index -> generation of the node, as it is. */
  readonly generations: () => Float64Array;
  /** Somebody keeps room on some node. */
  readonly hasReservations: () => boolean;
  /** Told how many nodes will be looked at, each time; may throw. */
  readonly spend?: ((steps: number) => void) | undefined;
  /** Whether a claimant is on a node already, or gone, so that its claim no longer counts. */
  readonly hasNoReservation: (uid: string) => boolean;
  readonly buffers: RankingBuffers;
  /** What is known of pods that are alike; kept along a plan. */
  readonly known: KnownNodes;
}
