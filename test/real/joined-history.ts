import type { ClusterRecord } from '../expect/cluster-record.ts';
import type { History } from '../expect/history-problems.ts';
import type { Change, Recording } from '../expect/recording.ts';
import type { WatchedObject } from '../expect/watched.ts';

/**
 * Opens with what exists when a record was opened, so that its history can be told after that of an earlier record. Ask for
 * it as soon as the record is there.
 */
export function openingOf(record: ClusterRecord): History {
  return {
    nodes: { changes: additions(record.nodes) },
    podGroups: { changes: additions(record.podGroups) },
    pods: { changes: additions(record.pods) },
    pulse: record.pulse,
  };
}

/** One history told after the other. What went away between two records, and no third saw, is missed. */
export function joined(...parts: readonly History[]): History {
  return {
    nodes: { changes: parts.flatMap(({ nodes }) => nodes.changes) },
    podGroups: { changes: parts.flatMap(({ podGroups }) => podGroups.changes) },
    pods: { changes: parts.flatMap(({ pods }) => pods.changes) },
    // Each knows of its own time.
    pulse: { workedMs: (from, to) => Math.max(...parts.map(({ pulse }) => pulse.workedMs(from, to))) },
  };
}

function additions<T extends WatchedObject>({ current }: Recording<T>): Change<T>[] {
  const at = performance.now();
  return [...current.values()].map((object) => ({ at, type: 'ADDED', object }));
}
