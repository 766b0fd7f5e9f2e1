import type { ExtenderConfiguration, ProfileConfiguration } from './scheduler-configuration.ts';

const fit = 'NodeResourcesFit';

/** Returns the profile in which NodeResourcesFit also ignores the resources that extenders manage with `ignoredByScheduler`. */
export function ignoringManagedResources(
  profile: ProfileConfiguration,
  extenders: readonly ExtenderConfiguration[],
): ProfileConfiguration {
  const managed = extenders.flatMap(({ managedResources }) => managedResources);
  const ignored = managed.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name);
  if (ignored.length === 0) return profile;
  return {
    ...profile,
    plugins: profile.plugins.map((plugin) => {
      if (plugin.name !== fit) return plugin;
      // NodeResourcesFit itself validates its other arguments.
      const args = (plugin.args ?? {}) as { readonly ignoredResources?: readonly string[] };
      const { ignoredResources: before = [] } = args;
      if (!(Array.isArray as (value: unknown) => boolean)(before)) return plugin;
      return { ...plugin, args: { ...args, ignoredResources: [...new Set([...before, ...ignored])] } };
    }),
  };
}
