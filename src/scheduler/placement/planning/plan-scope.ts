import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import type { CachedResults } from '../cache/cached-results.ts';
import type { RankingBuffers } from '../cache/ranking-buffers.ts';
import type { PlanRequest } from './plan.ts';
import type { PlanWork } from './plan-work.ts';

/** What the parts of one plan work with. */
export interface PlanScope {
  readonly cluster: Cluster;
  readonly buffers: RankingBuffers;
  /** Of the profile. */
  readonly answers: CachedResults;
  /** Where the order among equal nodes begins. */
  readonly seed: number;
  readonly request: PlanRequest;
  readonly transaction: Transaction;
  readonly work: PlanWork;
  /** Indexes of the only nodes to look at, in order; undefined: all. */
  readonly indexes: readonly number[] | undefined;
}
