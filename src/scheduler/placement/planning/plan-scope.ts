import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import type { KeptAnswers } from '../cache/kept-answers.ts';
import type { RankingRoom } from '../cache/ranking-room.ts';
import type { PlanRequest } from './plan.ts';
import type { PlanWork } from './plan-work.ts';

/** What the parts of one plan work with. */
export interface PlanScope {
  readonly cluster: Cluster;
  readonly room: RankingRoom;
  /** Of the profile. */
  readonly answers: KeptAnswers;
  /** Where the order among equal nodes begins. */
  readonly seed: number;
  readonly request: PlanRequest;
  readonly transaction: Transaction;
  readonly work: PlanWork;
  /** Indexes of the only nodes to look at, in order; undefined: all. */
  readonly indexes: readonly number[] | undefined;
}
