import type { Unknown } from '../../api/explain/basis.ts';
import { defaultConfiguration, defaultProfile } from '../../config/scheduler-configuration.ts';
import type { SchedulerConfiguration } from '../../config/scheduler-configuration.ts';
import { releaseObjects } from './release-objects.ts';
import type { ReleaseLookup } from './release-objects.ts';
import { configurationFile } from '../../config/installed-file.ts';
import { usableConfiguration } from '../../config/usable-configuration.ts';
import type { UsableConfiguration } from '../../config/usable-configuration.ts';

export interface InstalledConfigurationOptions extends ReleaseLookup {
  /**
   * The release must schedule pods of these names. If no configuration is found, they are the names of the default profiles. Absent: any, or
   * `tutti`.
   */
  readonly schedulerNames?: readonly string[] | undefined;
}

export interface InstalledConfiguration {
  readonly configuration: SchedulerConfiguration;
  /** `configuration` if the default one is assumed, because none was found, or several. */
  readonly unknowns: readonly Unknown[];
}

interface RawConfigMap {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly data?: Readonly<Record<string, unknown>> | null;
}

/** Returns the configuration of the scheduler that the chart has installed; otherwise the default one, with Tutti's plugins. */
export async function installedConfiguration(options: InstalledConfigurationOptions): Promise<InstalledConfiguration> {
  const { schedulerNames } = options;
  const maps = (await releaseObjects<RawConfigMap>(options, '/api/v1', 'configmaps')) ?? [];
  const found = maps.flatMap(usableIn).filter(({ configuration: { profiles } }) => {
    const names = profiles.map(({ schedulerName }) => schedulerName);
    return schedulerNames?.every((name) => names.includes(name)) ?? true;
  });
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  return { configuration: assumedConfiguration(schedulerNames), unknowns: ['configuration'] };
}

/** Returns the configuration that is assumed for a scheduler whose own cannot be read. */
export function assumedConfiguration(schedulerNames: readonly string[] = ['tutti']): SchedulerConfiguration {
  return defaultConfiguration({ profiles: schedulerNames.map(defaultProfile) });
}

function usableIn({ metadata: { namespace, name }, data }: RawConfigMap): readonly UsableConfiguration[] {
  const text = data?.[configurationFile];
  const usable = typeof text === 'string' ? usableConfiguration(`ConfigMap ${namespace}/${name}`, text) : undefined;
  return usable === undefined ? [] : [usable];
}
