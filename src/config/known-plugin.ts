import type { ExtensionPoint } from '../framework/extension-point.ts';
import type { ObjectSchema } from '../plugins/argument-schema.ts';
import { defaultPlugins } from '../plugins/registry.ts';

/** The information about a plugin that validates a configuration. */
export interface KnownPlugin {
  readonly name: string;
  /** Its extension points; absent: known only when it is created. */
  readonly points?: readonly ExtensionPoint[];
  /** Validates its arguments and fills in defaults; throws PluginArgumentsError. Absent: the plugin does so when it is created. */
  readonly arguments?: { readonly schema?: ObjectSchema; read(args: unknown): unknown };
}

/** name -> plugin: Tutti's and the caller's, which replace those of Tutti with the same name */
export type KnownPlugins = ReadonlyMap<string, KnownPlugin>;

export function knownPlugins(own: readonly KnownPlugin[]): KnownPlugins {
  return new Map([...defaultPlugins, ...own].map((plugin) => [plugin.name, plugin]));
}
