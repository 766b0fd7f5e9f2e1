import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import type { PluginRegistry } from '../framework/make-plugins.ts';
import { ProfileError } from '../framework/profile-error.ts';
import { factoryOf } from '../plugins/own-plugin.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { pluginRegistry } from '../plugins/registry.ts';

/**
 * Returns Tutti's plugins and the caller's; a plugin of the caller replaces one of Tutti's with the same name. Throws
 * ProfileError.
 */
export function registryWith(own: readonly OwnPlugin[]): PluginRegistry {
  const names = own.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new ProfileError(`two plugins have the name ${twice}; rename one of them`);
  return new Map([...pluginRegistry, ...own.map((plugin) => [plugin.name, factoryOf(plugin)] as const)]);
}

/** Adds the caller's plugins to the end of every profile; a plugin with the name of an existing one replaces it. */
export function enableOwn(
  profiles: readonly ProfileConfiguration[],
  own: readonly OwnPlugin[],
): readonly ProfileConfiguration[] {
  const added = own.map(({ name, weight }) => ({ name, ...(weight !== undefined && { weight }) }));
  const isAdded = (name: string): boolean => own.some((plugin) => plugin.name === name);
  return profiles.map(({ plugins, ...profile }) => ({
    ...profile,
    plugins: [...plugins.filter(({ name }) => !isAdded(name)), ...added],
  }));
}
