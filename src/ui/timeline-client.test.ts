import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TimelineMessage } from '../api/timeline/timeline-message.ts';
import { schedulerTime, TimelineClient } from './timeline-client.ts';
import type { Received } from './timeline-client.ts';

const snapshot: TimelineMessage = {
  ...{ kind: 'snapshot', epoch: 'e', sequence: 5, now: 1_000, isLeading: true, heldSince: 0, capacity: 10 },
  ...{ entities: [], nodes: [], transitions: [] },
};
const delta = (from: number, sequence: number): TimelineMessage => ({
  ...{ kind: 'delta', epoch: 'e', from, sequence, now: 2_000 },
  ...{ entities: [], nodes: [], removedNodes: [], transitions: [] },
});

let received: Received;
/** Last-Event-ID of each request. */
let ids: (string | undefined)[];
let responses: (() => Response)[];

const answer = (...messages: readonly TimelineMessage[]): Response =>
  new Response(messages.map((message) => `event: ${message.kind}\ndata: ${JSON.stringify(message)}\n\n`).join(''));

beforeEach(() => {
  vi.useFakeTimers();
  ids = [];
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs a client until it has used all responses. Further requests hang. */
async function run(...given: readonly (() => Response)[]): Promise<void> {
  responses = [...given];
  const client = new TimelineClient({
    url: 'debug/events',
    fetch: async (_, options) => {
      ids.push((options!.headers as Record<string, string>)['last-event-id']);
      const next = responses.shift();
      return next === undefined ? new Promise<never>(() => undefined) : next();
    },
    now: () => 100,
    random: () => 1,
    onChange: (changed) => (received = changed),
  });
  void client.run();
  for (let round = 0; round < given.length; round++) await vi.advanceTimersByTimeAsync(10_000);
}

it('continues after a lost connection from where it was', async () => {
  await run(
    () => answer(snapshot, delta(5, 7)),
    () => answer(delta(7, 8)),
  );
  expect(ids).toEqual([undefined, 'e.7', 'e.8']);
  expect(received.timeline).toMatchObject({ status: 'current', sequence: 8, now: 2_000 });
  expect(received.connection).toEqual({ kind: 'lost', why: 'the scheduler has closed the connection' });
});

it('asks again for changes that are missing', async () => {
  const endless = (): Response =>
    new Response(
      new ReadableStream({
        start(controller) {
          const text = [snapshot, delta(9, 12)].map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');
          controller.enqueue(new TextEncoder().encode(text));
        },
      }),
    );
  await run(endless, () => answer({ ...snapshot, sequence: 12 }));
  expect(ids.slice(0, 2)).toEqual([undefined, 'e.5']);
  expect(received.timeline).toMatchObject({ status: 'current', sequence: 12 });
});

it('shows why the server refuses', async () => {
  await run(() => new Response('8 clients follow it already\n', { status: 503 }));
  expect(received.connection).toEqual({ kind: 'lost', why: '8 clients follow it already' });
});

it('waits longer after each failure', async () => {
  const fails = (): Response => new Response('', { status: 502 });
  responses = [];
  const times: number[] = [];
  const start = Date.now();
  await run(
    ...Array.from({ length: 8 }, () => () => {
      times.push(Date.now() - start);
      return fails();
    }),
  );
  expect(times.slice(0, 6)).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500]);
  expect(times[7]! - times[6]!).toBe(10_000);
});

it('knows the time of the scheduler from its messages and what has passed since', () => {
  const timeline = { now: 5_000 } as Received['timeline'];
  expect(schedulerTime({ timeline, connection: { kind: 'live' }, receivedAt: 100 }, 350)).toBe(5_250);
  const none = { now: 0 } as Received['timeline'];
  expect(schedulerTime({ timeline: none, connection: { kind: 'connecting' }, receivedAt: 0 }, 350)).toBe(0);
});
