import type { Unknown } from '../api/explain/basis.ts';
import { configurationObject, formatConfiguration } from './format-configuration.ts';
import { configurationGroup, configurationKind } from './configuration-schema.ts';
import type { SchedulerConfiguration } from './scheduler-configuration.ts';
import { usableConfiguration } from './usable-configuration.ts';

/** The part of a configuration that a snapshot holds. */
export interface SnapshotConfiguration {
  readonly configuration: object;
  readonly unknowns: readonly Unknown[];
}

/**
 * Returns the profiles and the backoff. Leaves out connections, extenders with their keys, and plugins of others with their arguments, which a
 * replay cannot run.
 */
export function snapshotConfigurationOf(configuration: SchedulerConfiguration): SnapshotConfiguration {
  const usable = usableConfiguration('', formatConfiguration(configuration));
  const { profiles, podInitialBackoffSeconds, podMaxBackoffSeconds } = configurationObject(
    usable?.configuration ?? configuration,
  ) as Readonly<Record<string, unknown>>;
  return {
    configuration: {
      apiVersion: `${configurationGroup}/v1`,
      kind: configurationKind,
      ...{ podInitialBackoffSeconds, podMaxBackoffSeconds, profiles },
    },
    unknowns: usable?.unknowns ?? ['configuration'],
  };
}

/** Reads it again. Returns undefined if it is invalid. */
export function configurationOf(stored: object): SchedulerConfiguration | undefined {
  return usableConfiguration('the snapshot', JSON.stringify(stored))?.configuration;
}
