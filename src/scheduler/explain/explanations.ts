import { WorkBudget } from '../../base/work-budget.ts';
import { finish } from '../../base/yielding.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { SideWork } from '../cycle/side-work.ts';
import type { Explainer, ExplanationPart, Parts } from './explainer.ts';
import type { SubjectName } from './find-subject.ts';

/** Another explanation is being made. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

interface Question {
  readonly parts: Parts<ExplanationPart | undefined>;
  readonly resolve: (explanation: ExplanationPart | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes explanations between attempts, one at a time. */
export class Explanations implements SideWork {
  readonly #explainer: Explainer;
  readonly #ready: () => void;
  #question: Question | undefined;

  /** `ready`: called when there is work to do. */
  constructor(explainer: Explainer, ready: () => void) {
    this.#explainer = explainer;
    this.#ready = ready;
  }

  /** Resolves to undefined if neither a group nor a pod has this name. Rejects with BusyError while another explanation is made. */
  ask(name: SubjectName): Promise<ExplanationPart | undefined> {
    if (this.#question !== undefined) return Promise.reject(new BusyError('another explanation is being made'));
    return new Promise((resolve, reject) => {
      this.#question = { parts: this.#explainer.explain(name), resolve, reject };
      this.#ready();
    });
  }

  nextPart(): ((budget: WorkBudget) => Yielding<void>) | undefined {
    const question = this.#question;
    if (question === undefined) return undefined;
    try {
      const step = question.parts.next();
      if (step.done !== true) return step.value;
      question.resolve(step.value);
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

/** Makes an explanation at once. Nothing else may use the core meanwhile. */
export function explainAtOnce(explainer: Explainer, name: SubjectName): ExplanationPart | undefined {
  const parts = explainer.explain(name, true);
  for (;;) {
    const step = parts.next();
    if (step.done === true) return step.value;
    finish(step.value(new WorkBudget()));
  }
}
