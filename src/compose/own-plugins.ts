import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import type { PluginRegistry } from '../framework/make-plugins.ts';
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

/** The profiles with the caller's plugins in each of them, after the others; one that has the name of another takes its place. */
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
