import { podGroupResource } from '../api/pod-group.ts';
import type { EventSink } from '../scheduler/ports.ts';
import { statusDropped } from '../scheduler/verdicts/events.ts';
import type { ServedSchemaWatch } from './watch-served-schema.ts';

/**
 * Passes Events on. If the served CRD drops status fields, each Event of a PodGroup is followed by one on the same group that
 * lists these fields: `kubectl describe` then shows why the status is incomplete.
 */
export function withDroppedStatusEvents(
  events: EventSink,
  schema: Pick<ServedSchemaWatch, 'droppedFields'>,
): EventSink {
  return {
    record(event) {
      events.record(event);
      if (event.regarding.kind !== podGroupResource.kind) return;
      void schema.droppedFields().then((fields) => {
        if (fields.length > 0) events.record(statusDropped(event, fields));
      });
    },
  };
}
