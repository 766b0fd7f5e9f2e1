import { safeMessage } from '../../base/safe-text.ts';
import type { Verdict } from '../../api/verdict.ts';

/** Maximum length of a reason. */
const maxLength = 80;
/** Maximum length of a text to remember. */
const longest = 1_024;
/** Number of reasons to share. */
const maxShared = 256;

/** Short texts of reasons. Equal ones are one string for as long as there are few, because thousands of pods are rejected for the same reason. */
export class ShortReasons {
  /** text -> its reason */
  readonly #shared = new Map<string, string>();
  /** The latest text and its reason. Comparing two texts takes less time than hashing a new one. */
  #latest = { text: '', reason: '' };

  /** Returns the verdict's cause, without its counts. */
  ofVerdict({ cause, message }: Pick<Verdict, 'cause' | 'message'>): string {
    return this.of(cause ?? message);
  }

  of(text: string): string {
    if (text === this.#latest.text) return this.#latest.reason;
    const known = this.#shared.get(text);
    const reason = known ?? safeMessage(text, maxLength);
    if (known === undefined) {
      if (this.#shared.size >= maxShared) this.#shared.clear();
      this.#shared.set(text.length > longest ? reason : text, reason);
    }
    if (text.length <= longest) this.#latest = { text, reason };
    return reason;
  }
}
