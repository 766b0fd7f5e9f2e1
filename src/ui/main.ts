import { byId } from './element.ts';
import { Page } from './page.ts';
import { signIn } from './sign-in.ts';
import { TimelineClient } from './timeline-client.ts';
import { emptyTimeline } from '../api/timeline/client-timeline.ts';

const page = new Page({ timeline: emptyTimeline, connection: { kind: 'connecting' }, receivedAt: 0 });
const refusal = await signIn(location, history);
if (refusal === undefined) {
  const client = new TimelineClient({
    url: 'debug/events',
    fetch: (...request) => fetch(...request),
    now: () => performance.now(),
    random: Math.random,
    onChange: (received) => page.show(received),
  });
  await client.run();
} else {
  byId('connection', HTMLElement).textContent = refusal;
}
