import type { Snapshot } from '../../../api/explain/snapshot.ts';
import { defaultConfiguration, defaultProfile } from '../../../config/scheduler-configuration.ts';
import type { SchedulerCore } from '../../../scheduler/scheduler-core.ts';
import type { SnapshotSource } from '../../../scheduler/snapshot/snapshot-source.ts';
import { snapshotText } from '../../../scheduler/snapshot/snapshot-text.ts';
import { snapshotConfigurationOf } from '../snapshot-configuration.ts';

/** Returns the snapshot that a scheduler with the default plugins has made of this. */
export function encoded(source: SnapshotSource, schedulerName = 'default-scheduler'): Snapshot {
  const configuration = defaultConfiguration({ profiles: [defaultProfile(schedulerName)] });
  const header = { tuttiVersion: '1.2.3', source: 'scheduler' as const, ...snapshotConfigurationOf(configuration) };
  return JSON.parse([...snapshotText(source, header)].join('')) as Snapshot;
}

/** Takes a snapshot of a core with the default plugins. */
export function snapshotOf(core: SchedulerCore, schedulerName?: string): Snapshot {
  return encoded(core.takeSnapshotNow(), schedulerName);
}
