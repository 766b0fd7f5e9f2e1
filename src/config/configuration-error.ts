import { UserError } from '../base/user-error.ts';
import { formatFieldPath } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';

/** Something about one field of a configuration file: what is wrong with it, or what a user should know. */
export interface ConfigurationRemark {
  readonly file: string;
  /** Where the field begins, from 1; of a field that is missing, where what should hold it begins. 0 where nothing could be read. */
  readonly line: number;
  readonly column: number;
  /** Empty for the file as a whole. */
  readonly path: FieldPath;
  /** Follows the path: "must be a whole number from 0 to 100, not 101". */
  readonly text: string;
}

/** `scheduler.yaml:4:3: profiles[0].schedulerName must be …`, with `error: ` or the like before the field where `kind` is given. */
export function formatRemark({ file, line, column, path, text }: ConfigurationRemark, kind?: string): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  const parts = [formatFieldPath(path), text].filter((part) => part !== '');
  return `${place}: ${kind === undefined ? '' : `${kind}: `}${parts.join(' ')}`;
}

const mostShown = 50;

/** A configuration file cannot be used. `problems` holds all that is wrong with it, in the order of the file; the message the first fifty. */
export class ConfigurationError extends UserError {
  override readonly name = 'ConfigurationError';
  readonly file: string;
  /** At least one. */
  readonly problems: readonly ConfigurationRemark[];

  constructor(file: string, problems: readonly ConfigurationRemark[], options?: ErrorOptions) {
    const lines = problems.slice(0, mostShown).map((problem) => formatRemark(problem));
    if (problems.length > mostShown) lines.push(`and ${problems.length - mostShown} more problems`);
    super(['the configuration cannot be used:', ...lines].join('\n  '), options);
    this.file = file;
    this.problems = problems;
  }
}
