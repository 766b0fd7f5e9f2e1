import type { ExtensionPoint } from '../framework/extension-point.ts';
import { defaultPlugins } from '../plugins/registry.ts';

/** What a configuration can be checked against of a plugin that it may enable. */
export interface KnownPlugin {
  readonly name: string;
  /** The points that it implements; absent: known when it is made. */
  readonly points?: readonly ExtensionPoint[];
  /** Checks its arguments and fills in defaults, throwing PluginArgumentsError; absent: the plugin does so when it is made. */
  readonly arguments?: { read(args: unknown): unknown };
}

/** name -> plugin: Tutti's own, and those of the caller, which take the place of ours with the same name */
export type KnownPlugins = ReadonlyMap<string, KnownPlugin>;

export function knownPlugins(own: readonly KnownPlugin[]): KnownPlugins {
  return new Map([...defaultPlugins, ...own].map((plugin) => [plugin.name, plugin]));
}
