import { RE2JS, RE2JSException } from 're2js';

/** A text that is no regular expression of RE2's syntax, or one that cannot be matched in time. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** Instructions of a compiled pattern: those of people have tens. */
const programLimit = 10_000;
/** Characters: compiling takes time and memory in proportion to them. */
const lengthLimit = 10_000;
/** Steps: matching takes less than a second for so many. */
const matchingLimit = 100_000_000;

/** What all patterns of one schema together may cost in judging one object. */
export class MatchingWork {
  #left = matchingLimit;

  renew(): void {
    this.#left = matchingLimit;
  }

  /** Throws PatternError when it comes to too much. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) {
      throw new PatternError('its texts are too long, or too many, to be matched with the patterns of its schema');
    }
  }
}

/**
 * A regular expression as the schemas of custom resources have them: RE2's, which Kubernetes runs. Matching takes time in proportion to the
 * text and the pattern, whatever they say.
 */
export class Pattern {
  readonly #source: string;
  readonly #compiled: RE2JS;
  readonly #size: number;
  readonly #work: MatchingWork;

  /** Throws PatternError. */
  constructor(source: string, work = new MatchingWork()) {
    if (source.length > lengthLimit) throw new PatternError(`it is longer than ${lengthLimit} characters`);
    try {
      this.#compiled = RE2JS.compile(source);
    } catch (error) {
      if (error instanceof RE2JSException) throw new PatternError(error.message, { cause: error });
      throw error;
    }
    this.#size = this.#compiled.programSize();
    if (this.#size > programLimit) throw new PatternError('its repetitions come to a pattern that is too large');
    this.#source = source;
    this.#work = work;
  }

  /** Whether the pattern is found anywhere in the text. Throws PatternError when finding out would take too long. */
  test(text: string): boolean {
    this.#work.spend(this.#size * (text.length + 1));
    return this.#compiled.test(text);
  }

  /** Ajv takes patterns of one text for the same. */
  toString(): string {
    return this.#source;
  }
}

/** The format that texts have which are patterns. */
export const patternFormat = 'RE2 regular expression';

/** Why a text is no pattern; undefined when it is one. */
export function patternProblem(text: string): string | undefined {
  try {
    new Pattern(text);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}
