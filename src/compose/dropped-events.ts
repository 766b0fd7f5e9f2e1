import type { EventRecorder } from '../client/event-recorder.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { readCounter } from '../observability/read-counter.ts';

/** Exports how many Events the recorder has left out. */
export function countDroppedEvents(registry: MetricRegistry, recorder: Pick<EventRecorder, 'dropped'>): void {
  readCounter({
    name: 'tutti_events_dropped_total',
    help: 'Events that were not written because too many waited: members that say what another of their group says, first.',
    labelNames: [],
    registry,
    read: () => [[{}, recorder.dropped]],
  });
}
