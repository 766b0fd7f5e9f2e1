import type { ExtensionPoint } from './extension-point.ts';

/** A plugin that a profile names, for all its points or for one; order matters. */
export interface EnabledPlugin {
  readonly name: string;
  /** Multiplies the plugin's scores; at least 1. Default 1. What the point score says goes before what is said for all points. */
  readonly weight?: number;
  /** There is one of a plugin in a profile, so they are the same wherever it is named; the first ones are used. */
  readonly args?: unknown;
}

/** What a profile says of one point, beside the plugins that it enables at all of theirs. */
export interface PointPlugins {
  /** Enabled here, in order, also where `disabled` names them. */
  readonly enabled?: readonly EnabledPlugin[];
  /** Not enabled here by being enabled everywhere; `*` for all. */
  readonly disabled?: readonly string[];
}

/** point -> what is different there; a point that is absent runs every enabled plugin that implements it */
export type PointsConfiguration = Readonly<Partial<Record<ExtensionPoint, PointPlugins>>>;

/** The names of plugins that run at a point, in order, and what they are taken from. */
export interface PluginsAtPointOptions {
  /** Enabled at all their points, in order. */
  readonly everywhere: readonly string[];
  readonly here: PointPlugins | undefined;
  /** Whether a plugin has something to do at the point. */
  readonly implementing: (name: string) => boolean;
}

/**
 * The plugins of one point, in kube-scheduler's order: first those named here which are enabled everywhere as well, then the
 * rest of those that are enabled everywhere, then the others named here.
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
