import type { Unknown } from '../../api/explain/basis.ts';
import { configurationObject, formatConfiguration } from '../../config/format-configuration.ts';
import { configurationGroup, configurationKind } from '../../config/configuration-schema.ts';
import type { SchedulerConfiguration } from '../../config/scheduler-configuration.ts';
import { usableConfiguration } from '../cluster-state/usable-configuration.ts';
import { SnapshotError } from './snapshot-error.ts';

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

/** Reads it again. Throws SnapshotError. */
export function configurationOf(stored: object): SchedulerConfiguration {
  const usable = usableConfiguration('the snapshot', JSON.stringify(stored));
  if (usable === undefined) throw new SnapshotError('the snapshot is damaged: its configuration is invalid');
  return usable.configuration;
}
