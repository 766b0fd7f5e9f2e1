import type { ProfileProblem } from '../framework/profile-error.ts';
import { extensionPoints } from '../framework/extension-point.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import { PluginArgumentsError } from '../plugins/plugin-arguments-error.ts';
import { fieldOf, listOf } from './raw-value.ts';

/** An error in a field of a configuration. */
interface FieldProblem {
  readonly path: FieldPath;
  readonly text: string;
}

/**
 * Finds the fields of a configuration that caused a problem while its profiles were created. Some problems show only then, because
 * what a custom plugin implements is unknown earlier. `schedulerNames` are those of the profiles, in file order.
 */
export function placesOf(
  { schedulerName, text, plugin, point, cause }: ProfileProblem,
  value: unknown,
  schedulerNames: readonly string[],
): readonly FieldProblem[] {
  const index = schedulerNames.indexOf(schedulerName);
  const profile = listOf(fieldOf(value, 'profiles'))[index];
  const path: FieldPath = ['profiles', index];
  const args = plugin === undefined ? undefined : argumentsOf(profile, plugin);
  if (cause instanceof PluginArgumentsError && args !== undefined) {
    return cause.problems.map((one) => ({ path: [...path, ...args, ...one.path], text: one.problem }));
  }
  const place =
    plugin === undefined ? (point === undefined ? [] : ['plugins', point]) : enabledAt(profile, plugin, point);
  return [{ path: [...path, ...(place ?? [])], text: `cannot be used: ${text}` }];
}

/** Returns the path of the plugin's arguments in the profile; undefined if there are none. */
function argumentsOf(profile: unknown, plugin: string): FieldPath | undefined {
  const index = listOf(fieldOf(profile, 'pluginConfig')).findIndex((entry) => fieldOf(entry, 'name') === plugin);
  return index < 0 ? undefined : ['pluginConfig', index, 'args'];
}

/** Returns the path at which the profile enables the plugin: at `point` if it is given, otherwise at any point. */
function enabledAt(profile: unknown, plugin: string, point: string | undefined): FieldPath | undefined {
  for (const set of point === undefined ? ['multiPoint', ...extensionPoints] : [point]) {
    const enabled = listOf(fieldOf(fieldOf(fieldOf(profile, 'plugins'), set), 'enabled'));
    const index = enabled.findIndex((entry) => fieldOf(entry, 'name') === plugin);
    if (index >= 0) return ['plugins', set, 'enabled', index, 'name'];
  }
  return undefined;
}
