import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Savepoint, Transaction } from '../../../cluster/transaction.ts';
import type { Profile } from '../../../framework/profile.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';
import { AssignmentPass } from './assignment-pass.ts';
import type { ChosenNode } from './assignment-pass.ts';
import { batchOf } from './batch.ts';
import type { Batch, ClassContext } from './batch.ts';
import type { NodeAssignment, Plan } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { undoAssignments, unreserveAll } from './undo-assignments.ts';

/** The passes of one plan. Each begins in the state before the plan, so that none depends on another. */
export class PlanPasses {
  readonly #transaction: Transaction;
  readonly #profile: Profile;
  readonly #before: Savepoint;
  #assignments: readonly NodeAssignment[] = [];
  #rejected: readonly ChosenNode[] = [];

  constructor(transaction: Transaction, profile: Profile) {
    this.#transaction = transaction;
    this.#profile = profile;
    this.#before = transaction.savepoint();
  }

  /** The assignments of the last pass, which are still assumed and reserved. */
  get assignments(): readonly NodeAssignment[] {
    return this.#assignments;
  }

  /** See `AssignmentPass.rejected`, of the last pass. */
  get rejected(): readonly ChosenNode[] {
    return this.#rejected;
  }

  /** Undoes the last pass, and returns batches of the classes in this order. */
  *start(scope: PlanScope, order: readonly ClassContext[]): Yielding<Batch[]> {
    const { work } = scope;
    yield* this.undo(work.budget);
    const batches: Batch[] = [];
    for (const context of order) {
      batches.push(batchOf(scope, context));
      work.budget.spend(workPerMember);
      if (work.isDue) yield;
    }
    return batches;
  }

  /**
   * Places the members of the batches, which `start` returned. `strategy`: name of the strategy. `chosen`: nodes for some of the members; the
   * pass places these first.
   */
  *run(scope: PlanScope, batches: Batch[], strategy: string, chosen: readonly ChosenNode[] = []): Yielding<Plan> {
    const pass = new AssignmentPass(scope, batches, strategy);
    this.#assignments = pass.assignments;
    this.#rejected = pass.rejected;
    return yield* pass.run(chosen);
  }

  /** Undoes the last pass. */
  *undo(budget: WorkBudget): Yielding<void> {
    const assignments = this.#assignments;
    this.#assignments = [];
    yield* undoAssignments(this.#profile, assignments, this.#transaction, this.#before, budget);
  }

  /** Calls Unreserve for all placed members, in reverse order. */
  unreserve(): void {
    unreserveAll(this.#profile, this.#assignments);
    this.#assignments = [];
  }
}
