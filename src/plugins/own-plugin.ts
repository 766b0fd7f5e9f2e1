import type { EnabledPlugin } from '../framework/enabled-plugin.ts';
import type { Plugin, PluginFactory } from '../framework/plugin.ts';
import type { PluginHandle } from '../framework/plugin-handle.ts';
import type { ObjectSchema } from './argument-schema.ts';
import { PluginArguments } from './plugin-arguments.ts';

/**
 * An out-of-tree plugin. `args` applies to profiles that configure no arguments. `weight` applies to profiles that do not name the plugin.
 * `Args` is the factory's input: arguments that `argumentsSchema` accepts, with defaults filled in, or without a schema the raw
 * configuration.
 */
export interface OwnPlugin<Args = unknown> extends EnabledPlugin {
  /** Called once per profile that enables the plugin. Throws if the plugin cannot work in that profile. */
  factory(args: Args, handle: PluginHandle): Plugin;
  /**
   * Schema of the plugin's arguments; Tutti reports every violation. If you declare the schema `as const`, the type of valid arguments
   * is `ArgumentsOf<typeof argumentsSchema>`.
   */
  readonly argumentsSchema?: ObjectSchema;
}

/** Returns a factory for a registry that validates the arguments first. */
export function factoryOf(plugin: OwnPlugin): PluginFactory {
  const { name, argumentsSchema } = plugin;
  if (argumentsSchema === undefined) return (args, handle) => plugin.factory(args ?? plugin.args, handle);
  const schema = new PluginArguments(name, argumentsSchema);
  return (args, handle) => plugin.factory(schema.read(args ?? plugin.args), handle);
}

/** Returns what is needed to validate a configuration that names the plugin. */
export function knownPlugin({ name, argumentsSchema, args: own }: OwnPlugin): {
  readonly name: string;
  readonly arguments?: { read(args: unknown): unknown };
} {
  if (argumentsSchema === undefined) return { name };
  const schema = new PluginArguments(name, argumentsSchema);
  return { name, arguments: { read: (args) => schema.read(args ?? own) } };
}
