import type { ExtensionPoint } from '../../framework/extension-point.ts';
import { defaultPlugins } from '../../plugins/registry.ts';

/** Names of Tutti's plugins, as messages list them. */
export const pluginNames = defaultPlugins.map(({ name }) => name).join(', ');

/** Returns the default plugins at a point, as `describeConfiguration` lists them: at score with their weights, or the given ones. */
export function defaultsAt(
  point: ExtensionPoint,
  options: { readonly without?: readonly string[]; readonly weights?: Readonly<Record<string, number>> } = {},
): string {
  const { without = [], weights = {} } = options;
  return defaultPlugins
    .filter(({ name, points }) => points.includes(point) && !without.includes(name))
    .map(({ name, weight = 1 }) => (point === 'score' ? `${name}(${weights[name] ?? weight})` : name))
    .join(', ');
}
