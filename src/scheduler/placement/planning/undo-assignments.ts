import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Savepoint, Transaction } from '../../../cluster/transaction.ts';
import type { Profile } from '../../../framework/profile.ts';
import { workPerShortStep } from '../../../framework/work-per-member.ts';
import type { NodeAssignment } from './plan.ts';

/** Number of assignments to undo between two checks whether a pause is due. */
const undoneAtATime = 250;

/** Calls Unreserve for the assignments, in reverse order. */
export function unreserveAll(profile: Profile, assignments: readonly NodeAssignment[]): void {
  for (const { state, pod, nodeName } of assignments.toReversed()) profile.unreserve(state, pod, nodeName);
}

/**
 * Undoes assignments in steps: calls Unreserve for all of them in reverse order, then rolls the transaction back to the savepoint. If it is
 * abandoned, it calls Unreserve for the rest, and the caller must roll back.
 */
export function* undoAssignments(
  profile: Profile,
  assignments: readonly NodeAssignment[],
  transaction: Transaction,
  before: Savepoint,
  budget: WorkBudget,
): Yielding<void> {
  let reserved = assignments.length;
  const unreserve = (limit: number): number => {
    const count = Math.min(limit, reserved);
    for (const end = reserved - count; reserved > end;) {
      const { state, pod, nodeName } = assignments[--reserved]!;
      profile.unreserve(state, pod, nodeName);
    }
    return count;
  };
  const rollBack = (): number => {
    const from = transaction.savepoint();
    const to = Math.max(before, from - undoneAtATime);
    if (to < from) transaction.rollbackTo(to);
    return from - to;
  };
  try {
    for (const undo of [() => unreserve(undoneAtATime), rollBack]) {
      for (let done = undo(); done > 0; done = undo()) {
        budget.spend(done * workPerShortStep);
        if (budget.isDue) yield;
      }
    }
  } finally {
    unreserve(Infinity);
  }
}
