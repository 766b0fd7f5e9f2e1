import { UserError } from '../base/user-error.ts';

/**
 * A plugin's arguments, as the configuration gives them, are not valid. The message names the plugin, the field path and
 * what would be right.
 */
export class PluginArgumentsError extends UserError {
  override readonly name = 'PluginArgumentsError';
  readonly plugin: string;
  /** For example scoringStrategy.resources[0].weight; empty for the arguments as a whole. */
  readonly path: string;

  constructor(plugin: string, path: string, problem: string, options?: ErrorOptions) {
    super(`arguments of ${plugin}: ${path === '' ? '' : `${path} `}${problem}`, options);
    this.plugin = plugin;
    this.path = path;
  }
}

/** Fields that every pluginConfig entry may carry. */
const typeFields: readonly string[] = ['apiVersion', 'kind'];

/**
 * The arguments as an object that has no other fields than `known`. Absent arguments are empty ones. Throws
 * PluginArgumentsError.
 */
export function readArguments(
  plugin: string,
  args: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  return readFields(plugin, args ?? {}, '', [...typeFields, ...known]);
}

/** As `readArguments`, for an object inside the arguments. */
export function readFields(
  plugin: string,
  value: unknown,
  path: string,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PluginArgumentsError(plugin, path, `must be an object, not ${JSON.stringify(value)}`);
  }
  for (const field of Object.keys(value)) {
    if (known.includes(field)) continue;
    const allowed = known.filter((name) => path !== '' || !typeFields.includes(name));
    const advice = allowed.length === 0 ? 'it takes none' : `it takes ${allowed.join(', ')}`;
    throw new PluginArgumentsError(plugin, path === '' ? field : `${path}.${field}`, `is not known; ${advice}`);
  }
  return value as Readonly<Record<string, unknown>>;
}
