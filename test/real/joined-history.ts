import type { ClusterRecord } from '../expect/cluster-record.ts';
import type { History } from '../expect/history-problems.ts';
import type { Change, Recording } from '../expect/recording.ts';
import type { WatchedObject } from '../expect/watched.ts';

/**
 * Returns the objects that existed when a record was opened as a history that can follow that of an earlier record. Call it as soon as the
 * record is open.
 */
export function openingOf(record: ClusterRecord): History {
  return {
    nodes: { changes: additions(record.nodes) },
    podGroups: { changes: additions(record.podGroups) },
    pods: { changes: additions(record.pods) },
    pulse: record.pulse,
  };
}

/** Concatenates histories. Changes between two records that no third record covers are missing. */
export function joined(...parts: readonly History[]): History {
  return {
    nodes: { changes: parts.flatMap(({ nodes }) => nodes.changes) },
    podGroups: { changes: parts.flatMap(({ podGroups }) => podGroups.changes) },
    pods: { changes: parts.flatMap(({ pods }) => pods.changes) },
    // Each record knows only its own time.
    pulse: { workedMs: (from, to) => Math.max(...parts.map(({ pulse }) => pulse.workedMs(from, to))) },
  };
}

function additions<T extends WatchedObject>({ current }: Recording<T>): Change<T>[] {
  const at = performance.now();
  return [...current.values()].map((object) => ({ at, type: 'ADDED', object }));
}
