import type { EnabledPlugin } from '../framework/enabled-plugin.ts';
import type { Plugin, PluginFactory } from '../framework/plugin.ts';
import type { PluginHandle } from '../framework/plugin-handle.ts';
import type { ObjectSchema } from './argument-schema.ts';
import { PluginArguments } from './plugin-arguments.ts';

/**
 * An out-of-tree plugin. `args` stands for profiles that give none, `weight` is that of profiles that do not name it. `Args` is what its factory gets: what
 * `argumentsSchema` accepts, defaults filled in, or without a schema whatever the configuration says.
 */
export interface OwnPlugin<Args = unknown> extends EnabledPlugin {
  /** Called once for each profile that enables the plugin; throws when the plugin cannot work there. */
  factory(args: Args, handle: PluginHandle): Plugin;
  /**
   * What its arguments have to be; whoever gives others is told everything that is wrong with them. The type of what it accepts is
   * `ArgumentsOf<typeof argumentsSchema>`, if the schema is declared `as const`.
   */
  readonly argumentsSchema?: ObjectSchema;
}

/** Its factory as a registry has it: what it gets has been checked. */
export function factoryOf(plugin: OwnPlugin): PluginFactory {
  const { name, argumentsSchema } = plugin;
  if (argumentsSchema === undefined) return (args, handle) => plugin.factory(args ?? plugin.args, handle);
  const schema = new PluginArguments(name, argumentsSchema);
  return (args, handle) => plugin.factory(schema.read(args ?? plugin.args), handle);
}

/** What a configuration that names it can be checked against. */
export function knownPlugin({ name, argumentsSchema, args: own }: OwnPlugin): {
  readonly name: string;
  readonly arguments?: { read(args: unknown): unknown };
} {
  if (argumentsSchema === undefined) return { name };
  const schema = new PluginArguments(name, argumentsSchema);
  return { name, arguments: { read: (args) => schema.read(args ?? own) } };
}
