import { safeMessage } from '../../base/safe-text.ts';
import type { Verdict } from '../../api/verdict.ts';

/** Maximum length of a reason. */
const maxLength = 80;
/** Number of reasons to share. */
const maxShared = 256;

/** Short texts of reasons. Equal ones are one string for as long as there are few, because thousands of pods are rejected for the same reason. */
export class ShortReasons {
  /** reason -> the same */
  readonly #shared = new Map<string, string>();

  /** Returns the verdict's cause, without its counts. */
  ofVerdict({ cause, message }: Pick<Verdict, 'cause' | 'message'>): string {
    return this.of(cause ?? message);
  }

  of(text: string): string {
    const short = safeMessage(text, maxLength);
    const known = this.#shared.get(short);
    if (known !== undefined) return known;
    if (this.#shared.size >= maxShared) this.#shared.clear();
    this.#shared.set(short, short);
    return short;
  }
}
