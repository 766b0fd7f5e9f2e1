import type { EventRecorder } from '../client/event-recorder.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { readCounter } from '../observability/read-counter.ts';

/** Exports the number of Events that the recorder dropped. */
export function countDroppedEvents(registry: MetricRegistry, recorder: Pick<EventRecorder, 'dropped'>): void {
  readCounter({
    name: 'tutti_events_dropped_total',
    help: 'Number of Events dropped because too many were waiting. Tutti first drops Events of members that repeat the message of another member of their group.',
    labelNames: [],
    registry,
    read: () => [[{}, recorder.dropped]],
  });
}
