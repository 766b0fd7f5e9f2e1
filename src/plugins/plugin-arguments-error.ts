import { UserError } from '../base/user-error.ts';
import { formatFieldPath } from './field-path.ts';
import type { FieldPath } from './field-path.ts';

/** What is wrong with one field of the arguments. */
export interface ArgumentProblem {
  /** From the arguments on; empty for the arguments as a whole. A field that is missing is named all the same. */
  readonly path: FieldPath;
  /** Follows the path: "must be a whole number from 1 to 100, not 101". */
  readonly problem: string;
}

const mostShown = 10;

/**
 * The arguments that the configuration gives a plugin are not valid. `problems` holds everything that is wrong with them; the
 * message names the plugin, and for each of the first ten problems the field, what was found and what would be right.
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
    .slice(0, mostShown)
    .map(({ path, problem }) => `${formatFieldPath(path)} ${problem}`.trimStart());
  if (problems.length > mostShown) lines.push(`and ${problems.length - mostShown} more`);
  return lines.length === 1
    ? `arguments of ${plugin}: ${lines[0]}`
    : `arguments of ${plugin}:\n  ${lines.join('\n  ')}`;
}
