import { parse } from 'yaml';
import { ignoringManagedResources } from './ignored-resources.ts';
import { knownPlugins } from './known-plugin.ts';
import { readConfiguration } from './parse-configuration.ts';
import type { ProfileConfiguration, SchedulerConfiguration } from './scheduler-configuration.ts';
import type { PointsConfiguration } from '../framework/enabled-plugin.ts';
import type { Unknown } from '../api/explain/basis.ts';

/** The part of a scheduler's configuration that this process can run. */
export interface UsableConfiguration {
  readonly configuration: SchedulerConfiguration;
  /** `plugins` if the file enables plugins that this process does not have, `extenders` if it names extenders. */
  readonly unknowns: readonly Unknown[];
}

/**
 * Reads a KubeSchedulerConfiguration and leaves out what only the scheduler itself can run: plugins that this process does not have, and
 * extenders. Returns undefined if the file is invalid otherwise.
 */
export function usableConfiguration(file: string, text: string): UsableConfiguration | undefined {
  const known = knownPlugins([]);
  const foreign = namesIn(text).filter((name) => !known.has(name));
  const { configuration, problems } = readConfiguration(
    file,
    text,
    foreign.map((name) => ({ name })),
  );
  if (problems.length > 0) return undefined;
  const { profiles, extenders } = configuration;
  const isEnabled = profiles.some((profile) => pluginNamesOf(profile).some((name) => foreign.includes(name)));
  return {
    configuration: {
      ...configuration,
      profiles: profiles.map((profile) =>
        withoutPlugins(ignoringManagedResources(profile, extenders), new Set(foreign)),
      ),
      extenders: [],
    },
    unknowns: [...(isEnabled ? (['plugins'] as const) : []), ...(extenders.length > 0 ? (['extenders'] as const) : [])],
  };
}

function pluginNamesOf({ plugins, points = {} }: ProfileConfiguration): readonly string[] {
  const atPoints = Object.values(points).flatMap(({ enabled = [] }) => enabled);
  return [...plugins, ...atPoints].map(({ name }) => name);
}

function withoutPlugins(profile: ProfileConfiguration, names: ReadonlySet<string>): ProfileConfiguration {
  const { plugins, points = {} } = profile;
  const kept = Object.entries(points).map(([point, { enabled, ...rest }]) => [
    point,
    { ...rest, ...(enabled !== undefined && { enabled: enabled.filter(({ name }) => !names.has(name)) }) },
  ]);
  return {
    ...profile,
    plugins: plugins.filter(({ name }) => !names.has(name)),
    points: Object.fromEntries(kept) as PointsConfiguration,
  };
}

/** Returns the texts of all fields `name`, wherever they are. That contains the names of all plugins. */
function namesIn(text: string): readonly string[] {
  let document: unknown;
  try {
    document = parse(text);
  } catch {
    return []; // the check of the configuration reports it
  }
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { name } = value as { readonly name?: unknown };
    if (typeof name === 'string' && name !== '' && name !== '*') names.add(name);
    Object.values(value).forEach(visit);
  };
  visit(document);
  return [...names];
}
