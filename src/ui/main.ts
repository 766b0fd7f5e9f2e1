import { nothingReceived, TimelineClient } from '../api/timeline/timeline-client.ts';
import { systemClock } from '../base/system-clock.ts';
import { byId } from './element.ts';
import { openEvents } from './open-events.ts';
import { Page } from './page.ts';
import { signIn } from './sign-in.ts';

const page = new Page(nothingReceived);
const refusal = await signIn(location, history);
if (refusal === undefined) {
  const client = new TimelineClient({
    open: (lastEventId, signal) => openEvents('debug/events', lastEventId, signal),
    clock: systemClock,
    random: Math.random,
    onChange: (received) => page.show(received),
  });
  await client.run();
} else {
  byId('connection', HTMLElement).textContent = refusal;
}
