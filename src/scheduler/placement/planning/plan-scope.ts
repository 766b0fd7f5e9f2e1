import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import type { CachedResults } from '../cache/cached-results.ts';
import type { RankingBuffers } from '../cache/ranking-buffers.ts';
import type { PlanRequest } from './plan.ts';
import type { PlanWork } from './plan-work.ts';

/** Shared state of the parts of one plan. */
export interface PlanScope {
  readonly cluster: Cluster;
  readonly buffers: RankingBuffers;
  /** Cached results of the profile's plugins. */
  readonly cachedResults: CachedResults;
  /** Seed of the order among equal nodes. */
  readonly seed: number;
  readonly request: PlanRequest;
  readonly transaction: Transaction;
  readonly work: PlanWork;
  /** Indexes of the only nodes to check, in order; undefined: all. */
  readonly indexes: readonly number[] | undefined;
}
