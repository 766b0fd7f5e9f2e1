import { UserError } from '../base/user-error.ts';
import type { ExtensionPoint } from './extension-point.ts';

/** A problem in a profile, with its location where known. */
export interface ProfileProblem {
  readonly schedulerName: string;
  /** "plugin Zone does not implement score; it implements filter" */
  readonly text: string;
  readonly plugin?: string;
  readonly point?: ExtensionPoint;
  /** The error that a plugin's factory threw. */
  readonly cause?: unknown;
}

/** A profile is invalid; `message` describes all problems with their locations. */
export class ProfileError extends UserError {
  override readonly name = 'ProfileError';
  /** Empty if the error does not concern a single profile. */
  readonly problems: readonly ProfileProblem[];

  /** Takes a text, or at least one problem of one or more profiles. */
  constructor(cause: string | readonly ProfileProblem[]) {
    const problems = typeof cause === 'string' ? [] : cause;
    super(typeof cause === 'string' ? cause : messageOf(cause), { cause: problems[0]?.cause });
    this.problems = problems;
  }
}

/** Reports a problem of several profiles only once. */
function messageOf(problems: readonly ProfileProblem[]): string {
  const lines = [...Map.groupBy(problems, ({ text }) => text)].map(([text, sameText]) => {
    const names = [...new Set(sameText.map(({ schedulerName }) => schedulerName))];
    return `profile${names.length > 1 ? 's' : ''} ${names.join(', ')}: ${text}`;
  });
  return lines.length > 1 ? ['invalid profiles:', ...lines].join('\n  ') : (lines[0] ?? '');
}

/** Collects the problems of several steps, to throw them in one ProfileError. */
export class ProfileProblems {
  readonly #found: ProfileProblem[] = [];

  /** Returns the result of `run`, or undefined when it throws a ProfileError. */
  collect<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ProfileError) || error.problems.length === 0) throw error;
      this.#found.push(...error.problems);
      return undefined;
    }
  }

  add(problem: ProfileProblem): void {
    this.#found.push(problem);
  }

  /** Throws if there is any problem. */
  throwAny(): void {
    if (this.#found.length > 0) throw new ProfileError(this.#found);
  }
}
