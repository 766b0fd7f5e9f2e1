import { afterEach, describe, expect, it, vi } from 'vitest';
import { expectValidTimelineMessage } from '../../../test/expect/valid-answer.ts';
import { emptyTimeline, withMessage } from '../../api/timeline/client-timeline.ts';
import type { ClientTimeline } from '../../api/timeline/client-timeline.ts';
import type { TimelineMessage } from '../../api/timeline/timeline-message.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { RequestHandler } from '../request-handler.ts';
import type { StreamEvents } from '../route.ts';
import { startLocalServing } from '../start-local-serving.ts';
import type { Serving } from '../start-local-serving.ts';
import { eventsRoute } from './events-route.ts';

/** A client that has received everything, unless the test says otherwise. */
class Client {
  timeline: ClientTimeline = emptyTimeline;
  /** Kinds of the messages, in order. */
  readonly kinds: string[] = [];
  lastEventId = '';
  isOpen = true;
  events!: StreamEvents;
  /** It receives nothing, as if its connection were stuck. */
  isStuck = false;

  send(text: string): void {
    if (this.isStuck) return;
    for (const { kind, id, message } of readEvents(text)) {
      expectValidTimelineMessage(message);
      this.kinds.push(kind);
      if (id !== undefined) this.lastEventId = id;
      this.timeline = withMessage(this.timeline, message);
    }
  }

  end(): void {
    this.isOpen = false;
    this.events.closed();
  }

  get lines(): string[] {
    return this.timeline.transitions.map(({ kind, entity }) => `${kind} ${entity}`);
  }
}

function readEvents(text: string): { kind: string; id: string | undefined; message: TimelineMessage }[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('event:'))
    .map((block) => {
      const lines = block.split('\n');
      const of = (name: string): string[] =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      const message = JSON.parse(of('data').join('\n')) as TimelineMessage;
      return { kind: of('event')[0]!, id: of('id')[0], message };
    });
}

/** A scheduler, and the route that serves its timeline. */
class Story {
  core: Scheduling;
  readonly route: ReturnType<typeof eventsRoute>;

  constructor(phase: 'listing' | 'running' = 'running') {
    this.core = new Scheduling({ plugins: defaultPlugins }, phase);
    this.route = this.#routeOf(this.core);
  }

  #routeOf({ harness }: Scheduling): ReturnType<typeof eventsRoute> {
    return eventsRoute({ scheduler: { state: harness.core }, clock: harness.clock, logger: silentLogger });
  }

  /** Returns undefined if the route has rejected the client. */
  async connect(client: Client = new Client()): Promise<Client | undefined> {
    const answer = await this.route.answer(new URLSearchParams(), undefined, { lastEventId: client.lastEventId });
    if (answer.stream === undefined) return undefined;
    client.isOpen = true;
    client.events = answer.stream(client);
    await new Promise((resolve) => setImmediate(resolve));
    return client;
  }

  async tick(): Promise<void> {
    this.core.harness.clock.advance(250);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('/debug/events', () => {
  it('sends a snapshot, and every 250 ms what has changed, merged', async () => {
    const story = new Story();
    story.core.node({ name: 'a', cpu: 4, memory: '8Gi' });
    story.core.pod({ name: 'old', gates: ['x'] });
    const client = (await story.connect())!;
    expect(client.kinds).toEqual(['snapshot']);
    expect(client.timeline).toMatchObject({ status: 'current', isLeading: true });
    expect(client.lines).toEqual(['Added pod/old']);
    expect([...client.timeline.nodes.keys()]).toEqual(['a']);
    story.core.pod({ name: 'new', gates: ['x'] });
    story.core.removePod('old');
    story.core.node({ name: 'b', cpu: 4 });
    story.core.removeNode('a');
    expect(client.kinds).toHaveLength(1);
    await story.tick();
    expect(client.kinds).toEqual(['snapshot', 'delta']);
    expect(client.lines).toEqual(['Added pod/old', 'Added pod/new', 'Removed pod/old']);
    expect(client.timeline.entities.get('pod/old')!.state).toBe('Gone');
    expect([...client.timeline.nodes.keys()]).toEqual(['b']);
    await story.tick();
    expect(client.kinds).toHaveLength(2);
  });

  it('resumes a client without repeating what it has', async () => {
    const story = new Story();
    story.core.pod({ name: 'one', gates: ['x'] });
    const client = (await story.connect())!;
    client.end();
    story.core.pod({ name: 'two', gates: ['x'] });
    await story.connect(client);
    expect(client.kinds).toEqual(['snapshot', 'snapshot']);
    expect(client.lines).toEqual(['Added pod/one', 'Added pod/two']);
    expect(client.timeline.gap).toBeUndefined();
  });

  it('UI6: sends a gap and a snapshot to a client that was too slow, once it has caught up, and nothing in between', async () => {
    const story = new Story();
    const client = (await story.connect())!;
    client.isStuck = true;
    for (let i = 0; i < 5; i++) {
      story.core.pod({ name: `p-${i}`, gates: ['x'] });
      await story.tick();
    }
    client.isStuck = false;
    client.events.lagged();
    await story.tick();
    expect(client.kinds).toEqual(['snapshot', 'gap', 'snapshot']);
    expect(client.timeline).toMatchObject({ status: 'current', gap: 'SlowClient' });
    expect(client.lines).toHaveLength(5);
    story.core.pod({ name: 'later', gates: ['x'] });
    await story.tick();
    expect(client.lines.at(-1)).toBe('Added pod/later');
  });

  it('UI7: rejects the ninth client with 503 and a text, until another one leaves', async () => {
    const story = new Story();
    const clients: Client[] = [];
    for (let i = 0; i < 8; i++) clients.push((await story.connect())!);
    expect(await story.connect()).toBeUndefined();
    const answer = await story.route.answer(new URLSearchParams());
    expect(answer).toMatchObject({ status: 503, text: expect.stringContaining('8 clients') as string });
    clients[3]!.end();
    expect(await story.connect()).toBeDefined();
  });

  it('UI8: a client of a scheduler that restarts loses what the earlier one knew, and learns why', async () => {
    const before = new Story();
    before.core.group({ name: 'gone', minMember: 2 });
    before.core.members(1, { group: 'gone' });
    const client = (await before.connect())!;
    expect([...client.timeline.entities.keys()]).toEqual(['gang/default/gone']);
    client.end();
    const after = new Story('listing');
    after.core.harness.clock.advance(5_000);
    after.core.group({ name: 'red', minMember: 2 });
    after.core.start();
    await after.connect(client);
    expect(client.kinds).toEqual(['snapshot', 'gap', 'snapshot']);
    expect(client.timeline).toMatchObject({ status: 'current', gap: 'NewLeader', transitions: [] });
    expect([...client.timeline.entities.keys()]).toEqual(['gang/default/red']);
  });

  it('of a standby shows its cache, and starts over when it begins to lead', async () => {
    const story = new Story('listing');
    story.core.group({ name: 'red', minMember: 2 });
    const client = (await story.connect())!;
    expect(client.timeline).toMatchObject({ isLeading: false, transitions: [] });
    expect([...client.timeline.entities.keys()]).toEqual(['gang/default/red']);
    story.core.start();
    await story.tick();
    expect(client.kinds).toEqual(['snapshot', 'gap', 'snapshot']);
    expect(client.timeline).toMatchObject({ isLeading: true, gap: 'NewLeader' });
  });

  it('ends a stream after 30 minutes, so that permissions are checked again', async () => {
    const story = new Story();
    const client = (await story.connect())!;
    story.core.harness.clock.advance(30 * 60_000);
    expect(client.isOpen).toBe(false);
  });

  it('ends the streams, and nothing else, if a change cannot be shown', async () => {
    const story = new Story();
    const client = (await story.connect())!;
    vi.spyOn(story.core.harness.core.timeline, 'delta').mockImplementationOnce(() => {
      throw new Error('a bug');
    });
    await story.tick();
    expect(client.isOpen).toBe(false);
    story.core.group({ name: 'red', minMember: 1 });
    await story.connect(client);
    expect(client.lines).toEqual(['Added gang/default/red']);
  });

  it('runs nothing without clients', async () => {
    const story = new Story();
    const client = (await story.connect())!;
    client.end();
    const making = vi.spyOn(story.core.harness.core.timeline, 'delta');
    await story.tick();
    expect(making).not.toHaveBeenCalled();
    expect((await story.route.answer(new URLSearchParams('limit=1'))).status).toBe(400);
  });
});

describe('over HTTP', () => {
  let serving: Serving | undefined;
  afterEach(() => serving?.close());

  it('is an event stream with ids, and ends when the server drains', async () => {
    const { core, route } = new Story();
    core.pod({ name: 'one', gates: ['x'] });
    const handler = new RequestHandler({ routes: [route], logger: silentLogger });
    serving = await startLocalServing({ port: 0, portFlag: '--port', handler });
    const response = await fetch(`${serving.url}/debug/events`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.endsWith('\n\n')) text += (await reader.read()).value!;
    const [{ kind, id, message }] = readEvents(text) as [ReturnType<typeof readEvents>[0]];
    expect(kind).toBe('snapshot');
    expect(id).toBe(`${message.epoch}.1`);
    const head = await fetch(`${serving.url}/debug/events`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    serving.drain();
    expect((await reader.read()).done).toBe(true);
  });
});
