import { parseEventId } from '../../api/timeline/event-id.ts';
import { TimelineClients } from './timeline-clients.ts';
import type { TimelineClientsOptions } from './timeline-clients.ts';
import type { Route } from '../route.ts';

/**
 * Serves /debug/events: the timeline as server-sent events, whose data are TimelineMessages. A snapshot comes first, then every 250 ms what has changed.
 * A client that sends Last-Event-ID gets only what it lacks, if the scheduler still has that. At most 8 clients; others get status 503.
 */
export function eventsRoute(options: TimelineClientsOptions): Route {
  const clients = new TimelineClients(options);
  return {
    path: '/debug/events',
    answer(query, _part, request) {
      if ([...query.keys()].length > 0) return { status: 400, text: 'unknown parameter: this path accepts none\n' };
      if (clients.isFull) return tooMany;
      const last = parseEventId(request?.lastEventId ?? '');
      return {
        status: 200,
        type: 'text/event-stream',
        text: '',
        stream: (client) => clients.add(client, last),
      };
    },
  };
}

const tooMany = {
  status: 503,
  text: 'the timeline has 8 clients already: close one, or retry later\n',
  headers: { 'retry-after': '10' },
};
