import type { Snapshot } from '../../api/explain/snapshot.ts';
import type { Clock } from '../../base/clock.ts';
import { clusterVersion } from '../../cluster/cluster-version.ts';
import { pluginRegistry } from '../../plugins/registry.ts';
import { DanglingReferenceError } from '../../scheduler/snapshot/snapshot-decoder.ts';
import type { ClusterState } from '../cluster-state/load-cluster-state.ts';
import { createReadOnlyCore } from '../read-only-core.ts';
import { FrozenClock } from './frozen-clock.ts';
import { restoreSnapshot } from './restore-snapshot.ts';
import { configurationOf } from '../../config/snapshot-configuration.ts';
import { SnapshotError } from './snapshot-error.ts';

/** The cluster state of a snapshot. Its core has begun. */
export interface OpenSnapshot extends ClusterState {
  readonly snapshot: Snapshot;
  readonly clock: FrozenClock;
}

/** Builds a core that writes nothing from a snapshot. `clock` tells how old the snapshot is. Throws SnapshotError. */
export function openSnapshot(snapshot: Snapshot, clock: Pick<Clock, 'now'>): OpenSnapshot {
  const configuration = configurationOf(snapshot.configuration);
  if (configuration === undefined) throw new SnapshotError('the snapshot is damaged: its configuration is invalid');
  const { profiles, podBackoff: backoff } = configuration;
  const takenAt = Date.parse(snapshot.takenAt);
  const frozen = new FrozenClock(takenAt);
  const { seed, ties } = snapshot;
  const core = createReadOnlyCore({
    ...{ profiles, backoff, ties, plugins: pluginRegistry, clock: frozen },
    // The planner takes its seed from the first random number.
    random: () => seed / 2 ** 32,
  });
  try {
    restoreSnapshot(core, snapshot);
  } catch (error) {
    if (!(error instanceof DanglingReferenceError)) throw error;
    throw new SnapshotError(`the snapshot is damaged: ${error.message}`, { cause: error });
  }
  return {
    ...{ core, configuration, snapshot, clock: frozen },
    basis: {
      source: 'snapshot',
      takenAt: snapshot.takenAt,
      ageSeconds: Math.max(0, clock.now() - takenAt) / 1000,
      version: clusterVersion(core.cluster),
      unknowns: snapshot.unknowns,
    },
    errors: [],
  };
}
