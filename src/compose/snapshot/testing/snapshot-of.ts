import type { Snapshot } from '../../../api/explain/snapshot.ts';
import { defaultConfiguration, defaultProfile } from '../../../config/scheduler-configuration.ts';
import { pluginRegistry } from '../../../plugins/registry.ts';
import type { SchedulerCore } from '../../../scheduler/scheduler-core.ts';
import { snapshotText } from '../../../scheduler/snapshot/snapshot-text.ts';
import { snapshotConfigurationOf } from '../../../config/snapshot-configuration.ts';
import { ExplainedCluster } from '../../../scheduler/testing/explained-cluster.ts';

const defaultProfiles = [defaultProfile('default-scheduler')];

/** Takes a snapshot of a core with these profiles, as its scheduler does. Default: one profile with the default plugins. */
export function snapshotOf(core: SchedulerCore, profiles = defaultProfiles): Snapshot {
  const configuration = defaultConfiguration({ profiles });
  const header = { tuttiVersion: '1.2.3', source: 'scheduler' as const, ...snapshotConfigurationOf(configuration) };
  return JSON.parse([...snapshotText(core.takeSnapshotNow(), header)].join('')) as Snapshot;
}

/**
 * Takes a snapshot of a drawn cluster after its attempts. Undefined: plugins or extenders of others take part, which a replay does not have.
 */
export async function snapshotOfDrawn(seed: number): Promise<Snapshot | undefined> {
  const cluster = ExplainedCluster.of(seed);
  const { profiles, before } = cluster.draw;
  const isOwn = profiles.every(({ plugins }) => plugins.every(({ name }) => pluginRegistry.has(name)));
  if (!isOwn || before === 'extender') return undefined;
  await cluster.run();
  return snapshotOf(cluster.scheduling.harness.core, [...profiles]);
}
