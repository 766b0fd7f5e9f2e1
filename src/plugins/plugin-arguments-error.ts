import { UserError } from '../base/user-error.ts';
import { formatFieldPath } from './field-path.ts';
import type { FieldPath } from './field-path.ts';

/** A problem with one field of the arguments. */
export interface ArgumentProblem {
  /** Path from the arguments to the field, even if it is missing; empty for the arguments as a whole. */
  readonly path: FieldPath;
  /** Continues a sentence after the path: "must be a whole number from 1 to 100, not 101". */
  readonly problem: string;
}

const maxShown = 10;

/**
 * A plugin's arguments are invalid. `problems` lists all problems. The message names the plugin and shows the first ten: the field, its
 * value and what a valid value is.
 */
export class PluginArgumentsError extends UserError {
  override readonly name = 'PluginArgumentsError';
  readonly plugin: string;
  /** At least one. */
  readonly problems: readonly ArgumentProblem[];

  constructor(plugin: string, problems: readonly ArgumentProblem[], options?: ErrorOptions) {
    super(messageOf(plugin, problems), options);
    this.plugin = plugin;
    this.problems = problems;
  }
}

function messageOf(plugin: string, problems: readonly ArgumentProblem[]): string {
  const lines = problems
    .slice(0, maxShown)
    .map(({ path, problem }) => `${formatFieldPath(path)} ${problem}`.trimStart());
  if (problems.length > maxShown) lines.push(`and ${problems.length - maxShown} more`);
  return lines.length === 1
    ? `arguments of ${plugin}: ${lines[0]}`
    : `arguments of ${plugin}:\n  ${lines.join('\n  ')}`;
}
