import { podGroupResource } from '../api/pod-group.ts';
import type { EventSink } from '../scheduler/ports.ts';
import { statusDropped } from '../scheduler/verdicts/events.ts';
import type { ServedSchemaWatch } from './watch-served-schema.ts';

/**
 * Hands Events on. Each of a PodGroup is followed by one on the same group that says which fields of its status are dropped, while
 * the served definition drops any: who describes the group sees there why its status says so little.
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
