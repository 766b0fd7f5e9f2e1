import { WorkBudget } from '../../base/work-budget.ts';
import { finish } from '../../base/yielding.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { SideWork } from '../cycle/side-work.ts';
import type { Parts } from './explainer.ts';

/** Another question is being answered. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

interface Question {
  /** Runs up to the next part. Returns undefined once the answer was given. */
  readonly next: () => ((budget: WorkBudget) => Yielding<void>) | undefined;
  readonly reject: (error: unknown) => void;
}

/** Answers questions about the cluster state between attempts, one at a time: explanations and snapshots. */
export class Explanations implements SideWork {
  readonly #ready: () => void;
  #question: Question | undefined;

  /** `ready`: called when there is work to do. */
  constructor(ready: () => void) {
    this.#ready = ready;
  }

  /** Resolves to what the parts return. Rejects with BusyError while another question is being answered. */
  ask<Answer>(parts: Parts<Answer>): Promise<Answer> {
    if (this.#question !== undefined)
      return Promise.reject(new BusyError('another explanation or snapshot is being made'));
    return new Promise((resolve, reject) => {
      const next: Question['next'] = () => {
        const step = parts.next();
        if (step.done !== true) return step.value;
        resolve(step.value);
        return undefined;
      };
      this.#question = { next, reject };
      this.#ready();
    });
  }

  nextPart(): ((budget: WorkBudget) => Yielding<void>) | undefined {
    const question = this.#question;
    if (question === undefined) return undefined;
    try {
      const part = question.next();
      if (part !== undefined) return part;
    } catch (error) {
      question.reject(error);
    }
    this.#question = undefined;
    return undefined;
  }

  failed(error: unknown): void {
    this.#question?.reject(error);
    this.#question = undefined;
  }

  /** Rejects what is being asked with this reason. */
  stop(reason: Error): void {
    this.failed(reason);
  }
}

/** Runs all parts at once. Nothing else may use the core meanwhile. */
export function answerAtOnce<Answer>(parts: Parts<Answer>): Answer {
  for (;;) {
    const step = parts.next();
    if (step.done === true) return step.value;
    finish(step.value(new WorkBudget()));
  }
}
