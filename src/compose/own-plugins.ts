import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import type { EnabledPlugin, PluginRegistry } from '../framework/profile.ts';
import { ProfileError } from '../framework/profile-error.ts';
import { factoryOf } from '../plugins/own-plugin.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { pluginRegistry } from '../plugins/registry.ts';

/** Tutti's plugins and the caller's; one of the caller's goes before one of Tutti's with its name. Throws ProfileError. */
export function registryWith(own: readonly OwnPlugin[]): PluginRegistry {
  const names = own.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new ProfileError(`two plugins are called ${twice}; give one of them another name`);
  return new Map([...pluginRegistry, ...own.map((plugin) => [plugin.name, factoryOf(plugin)] as const)]);
}

/**
 * The profiles with the caller's plugins enabled: where a profile names one, it is enabled there; one that no profile names, in
 * every profile, after its other plugins.
 */
export function enableOwn(
  profiles: readonly ProfileConfiguration[],
  own: readonly OwnPlugin[],
): readonly ProfileConfiguration[] {
  const named = new Set(profiles.flatMap(({ plugins }) => plugins.map(({ name }) => name)));
  const everywhere = own.filter(({ name }) => !named.has(name)).map((plugin) => entry(undefined, plugin));
  return profiles.map(({ plugins, ...profile }) => {
    const enabled = plugins.map((plugin) => {
      const mine = own.find(({ name }) => name === plugin.name);
      return mine === undefined ? plugin : entry(plugin, mine);
    });
    return { ...profile, plugins: [...enabled, ...everywhere] };
  });
}

/** What the profile says of the plugin goes before what the plugin says of itself, unless it was said of Tutti's of that name. */
function entry(said: EnabledPlugin | undefined, own: OwnPlugin): EnabledPlugin {
  const [first, second] = pluginRegistry.has(own.name) ? [own, said] : [said, own];
  const weight = first?.weight ?? second?.weight;
  const args = first?.args ?? second?.args;
  return { ...said, name: own.name, ...(weight !== undefined && { weight }), ...(args !== undefined && { args }) };
}
