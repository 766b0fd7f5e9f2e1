import type { Placing } from './placing.ts';
import type { Plan } from './plan.ts';

/** A plan that is being made. Its work is counted, not timed, so that the same input pauses at the same places anywhere. */
export class OpenPlan {
  readonly #placing: Placing;
  readonly #steps: ReturnType<Placing['run']>;
  #isOver = false;

  constructor(placing: Placing) {
    this.#placing = placing;
    this.#steps = placing.run();
  }

  /**
   * Goes on until the plan stands, which it answers, or until work as of so many looks at a node is done, and then to the end of
   * the step, which is a pass over the nodes at most. Throws as `Planner.plan` does. Only to be called while there is more to do.
   */
  advance(work: number): Plan | undefined {
    if (this.#isOver) throw new Error('the plan is over');
    this.#placing.pauseAfter(work);
    let step: IteratorResult<undefined, Plan>;
    try {
      step = this.#steps.next();
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
    if (step.done !== true) return undefined;
    this.#isOver = true;
    return step.value;
  }

  /** Goes on to the end. */
  finish(): Plan {
    return this.advance(Infinity)!;
  }

  /** Gives it up: nothing is reserved any more, and the rollback is the caller's. Does nothing once it is over. */
  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#placing.unreserve();
  }
}
