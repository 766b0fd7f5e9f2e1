import type { Snapshot } from '../../api/explain/snapshot.ts';
import { packageVersion } from '../../base/package-files.ts';
import { snapshotText } from '../../scheduler/snapshot/snapshot-text.ts';
import type { ClusterState } from '../cluster-state/load-cluster-state.ts';
import { snapshotConfigurationOf } from '../../config/snapshot-configuration.ts';

/** Returns a snapshot of what the caller has listed, with plans of what waits. Begins the core. */
export function snapshotOfState({ core, configuration, basis }: ClusterState): Snapshot {
  core.begin();
  const header = {
    tuttiVersion: packageVersion(),
    source: 'api' as const,
    unknowns: basis.unknowns,
    configuration: snapshotConfigurationOf(configuration).configuration,
  };
  return JSON.parse([...snapshotText(core.takeSnapshotNow(), header)].join('')) as Snapshot;
}
