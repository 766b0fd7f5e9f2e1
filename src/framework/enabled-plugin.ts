import type { ExtensionPoint } from './extension-point.ts';

/** A plugin that a profile enables, at all its points or at one. Order matters. */
export interface EnabledPlugin {
  readonly name: string;
  /** Multiplies the plugin's scores; at least 1. Default 1. A weight at the score point overrides the weight set for all points. */
  readonly weight?: number;
  /** Arguments of the plugin. A profile has one instance of each plugin, so the first arguments given apply at all points. */
  readonly args?: unknown;
}

/** Configuration of one extension point, in addition to the plugins enabled at all points. */
export interface PointPlugins {
  /** Plugins enabled here, in order, even if `disabled` names them. */
  readonly enabled?: readonly EnabledPlugin[];
  /** Plugins enabled at all points but disabled here; `*` for all. */
  readonly disabled?: readonly string[];
}

/** point -> its configuration; a point that is absent runs every enabled plugin that implements it */
export type PointsConfiguration = Readonly<Partial<Record<ExtensionPoint, PointPlugins>>>;

/** Input for computing the plugins that run at one point. */
export interface PluginsAtPointOptions {
  /** Names of the plugins enabled at all their points, in order. */
  readonly everywhere: readonly string[];
  readonly here: PointPlugins | undefined;
  /** Returns whether a plugin implements the point. */
  readonly implementing: (name: string) => boolean;
}

/**
 * Returns the plugins of one point in kube-scheduler's order: first the plugins named here that are also enabled at all points, then
 * the remaining plugins enabled at all points, then the other plugins named here.
 */
export function pluginsAtPoint({ everywhere, here, implementing }: PluginsAtPointOptions): readonly string[] {
  const { enabled = [], disabled = [] } = here ?? {};
  const named = enabled.map(({ name }) => name);
  if (disabled.includes('*')) return named;
  const expanded = everywhere.filter((name) => !disabled.includes(name) && implementing(name));
  return [
    ...named.filter((name) => expanded.includes(name)),
    ...expanded.filter((name) => !named.includes(name)),
    ...named.filter((name) => !expanded.includes(name)),
  ];
}
