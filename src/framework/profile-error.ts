import { UserError } from '../base/user-error.ts';
import type { ExtensionPoint } from './extension-point.ts';

/** Something that cannot be in a profile, and where it is, as far as that is known. */
export interface ProfileProblem {
  readonly schedulerName: string;
  /** "plugin Zone has nothing to do at score; its points are filter" */
  readonly text: string;
  readonly plugin?: string;
  readonly point?: ExtensionPoint;
  /** What a plugin's factory threw. */
  readonly cause?: unknown;
}

/** The configuration names something that cannot be; `message` says what and where. */
export class ProfileError extends UserError {
  override readonly name = 'ProfileError';
  /** Empty where no single profile is to blame. */
  readonly problems: readonly ProfileProblem[];

  /** Takes the text, or all that is wrong with some profiles, at least one problem. */
  constructor(what: string | readonly ProfileProblem[]) {
    const problems = typeof what === 'string' ? [] : what;
    super(typeof what === 'string' ? what : messageOf(what), { cause: problems[0]?.cause });
    this.problems = problems;
  }
}

/** What is wrong with several profiles is said once. */
function messageOf(problems: readonly ProfileProblem[]): string {
  const lines = [...Map.groupBy(problems, ({ text }) => text)].map(([text, alike]) => {
    const names = [...new Set(alike.map(({ schedulerName }) => schedulerName))];
    return `profile${names.length > 1 ? 's' : ''} ${names.join(', ')}: ${text}`;
  });
  return lines.length > 1 ? ['the profiles cannot be used:', ...lines].join('\n  ') : (lines[0] ?? '');
}

/** Runs each, and throws one ProfileError with the problems of all that fail. */
export class ProfileProblems {
  readonly #found: ProfileProblem[] = [];

  /** Undefined when it throws a ProfileError. */
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

  /** Throws what was found, if anything was. */
  throwAny(): void {
    if (this.#found.length > 0) throw new ProfileError(this.#found);
  }
}
