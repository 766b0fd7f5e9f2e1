import { UserError } from '../base/user-error.ts';
import { formatFieldPath } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';

/** An error or a warning about one field of a configuration file. */
export interface ConfigurationDiagnostic {
  readonly file: string;
  /** Position of the field, from 1; for a missing field, that of its parent. 0 if nothing could be read. */
  readonly line: number;
  readonly column: number;
  /** Empty for the file as a whole. */
  readonly path: FieldPath;
  /** The text after the path: "must be a whole number from 0 to 100, not 101". */
  readonly text: string;
}

/**
 * Formats a diagnostic as `scheduler.yaml:4:3: profiles[0].schedulerName must be …`, with `kind` (such as `error`) before the field
 * if given.
 */
export function formatDiagnostic({ file, line, column, path, text }: ConfigurationDiagnostic, kind?: string): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  const parts = [formatFieldPath(path), text].filter((part) => part !== '');
  return `${place}: ${kind === undefined ? '' : `${kind}: `}${parts.join(' ')}`;
}

const maxShown = 50;

/** A configuration file is invalid. `problems` has all its errors in file order; the message has the first fifty. */
export class ConfigurationError extends UserError {
  override readonly name = 'ConfigurationError';
  readonly file: string;
  /** At least one. */
  readonly problems: readonly ConfigurationDiagnostic[];

  constructor(file: string, problems: readonly ConfigurationDiagnostic[], options?: ErrorOptions) {
    const lines = problems.slice(0, maxShown).map((problem) => formatDiagnostic(problem));
    if (problems.length > maxShown) lines.push(`and ${problems.length - maxShown} more problems`);
    super(['invalid configuration:', ...lines].join('\n  '), options);
    this.file = file;
    this.problems = problems;
  }
}
