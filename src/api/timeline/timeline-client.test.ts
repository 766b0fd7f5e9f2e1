import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../base/system-clock.ts';
import type { TimelineMessage } from './timeline-message.ts';
import { RefusedError, schedulerTime, TimelineClient } from './timeline-client.ts';
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
type Answer = () => AsyncIterable<string>;
let answers: Answer[];

const textOf = (message: TimelineMessage): string => `event: ${message.kind}\ndata: ${JSON.stringify(message)}\n\n`;

async function* stream(...messages: readonly TimelineMessage[]): AsyncIterable<string> {
  for (const message of messages) yield textOf(message);
}

beforeEach(() => {
  vi.useFakeTimers();
  ids = [];
});
afterEach(() => {
  vi.useRealTimers();
});

function refuse(why: string): Answer {
  return () => {
    throw new RefusedError(why);
  };
}

/** Runs a client until it has used all answers. Further requests hang. */
async function run(...given: readonly Answer[]): Promise<void> {
  answers = [...given];
  const client = new TimelineClient({
    open: async (lastEventId) => {
      ids.push(lastEventId);
      const next = answers.shift();
      return next === undefined ? new Promise<never>(() => undefined) : next();
    },
    clock: systemClock,
    random: () => 1,
    onChange: (changed) => (received = changed),
  });
  void client.run();
  for (let round = 0; round < given.length; round++) await vi.advanceTimersByTimeAsync(10_000);
}

it('continues after a lost connection from where it was', async () => {
  await run(
    () => stream(snapshot, delta(5, 7)),
    () => stream(delta(7, 8)),
  );
  expect(ids).toEqual([undefined, 'e.7', 'e.8']);
  expect(received.timeline).toMatchObject({ status: 'current', sequence: 8, now: 2_000 });
  expect(received.connection).toEqual({ kind: 'lost', why: 'the scheduler has closed the connection' });
});

it('asks again for changes that are missing', async () => {
  async function* endless(): AsyncIterable<string> {
    yield* stream(snapshot, delta(9, 12));
    await new Promise(() => undefined);
  }
  await run(endless, () => stream({ ...snapshot, sequence: 12 }));
  expect(ids.slice(0, 2)).toEqual([undefined, 'e.5']);
  expect(received.timeline).toMatchObject({ status: 'current', sequence: 12 });
});

it('shows why the server refuses', async () => {
  await run(refuse('8 clients follow it already'));
  expect(received.connection).toEqual({ kind: 'lost', why: '8 clients follow it already' });
});

const pod = { kind: 'Pod', namespace: 'ml', name: 'lone' };
const change = { sequence: 6, time: 1_000, kind: 'Changed', entity: 'pod/a', state: 'Running' };

it.each<[string, string]>([
  ['no JSON', '{'],
  ['no object', 'null'],
  ['no kind', '{}'],
  ['a snapshot without its lists', '{"kind":"snapshot"}'],
  ['a time that is no number', JSON.stringify({ ...delta(5, 6), now: 'soon' })],
  ['a number that is too large', JSON.stringify(delta(5, 6)).replace('2000', '1e999')],
  ['a time after the last one', JSON.stringify({ ...delta(5, 6), now: 1e22 })],
  ['a negative number', JSON.stringify(delta(-1, 6))],
  ['a capacity without end', JSON.stringify({ ...snapshot, capacity: 1e15 })],
  ['an entity without a name', JSON.stringify({ ...delta(5, 6), entities: [{ key: 'pod/a', state: 'Running' }] })],
  ['counts that are none', JSON.stringify({ ...delta(5, 6), transitions: [{ ...change, counts: null }] })],
  ['a reason that is no text', JSON.stringify({ ...delta(5, 6), transitions: [{ ...change, reason: 7 }] })],
  [
    'an entity without a creation time',
    JSON.stringify({ ...delta(5, 6), entities: [{ key: 'pod/a', state: 'Running', subject: pod }] }),
  ],
  ['a node without shares', JSON.stringify({ ...delta(5, 6), nodes: [{ name: 'a', state: 'Ready', resources: {} }] })],
])('says so if the server sends %s, and tries again slowly', async (_what, data) => {
  const times: number[] = [];
  const answer: Answer = async function* () {
    times.push(Date.now());
    yield* stream(snapshot);
    yield `data: ${data}\n\n`;
    await new Promise(() => undefined);
  };
  await run(answer, answer, answer);
  expect(received.connection).toEqual({ kind: 'lost', why: 'the scheduler has sent what this version cannot read' });
  expect(received.timeline).toMatchObject({ status: 'current', sequence: 5 });
  expect(times.slice(1).map((time, index) => time - times[index]!)).toEqual([10_000, 10_000]);
});

it('waits longer after each failure', async () => {
  const times: number[] = [];
  const start = Date.now();
  await run(
    ...Array.from({ length: 8 }, () => () => {
      times.push(Date.now() - start);
      return refuse('busy')();
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

it('ends when the signal aborts, also while it waits to try again', async () => {
  for (const open of [() => new Promise<never>(() => undefined), async () => stream()]) {
    const abort = new AbortController();
    const client = new TimelineClient({
      open: (_, signal) =>
        Promise.race([
          open(),
          new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended')))),
        ]),
      ...{ clock: systemClock, random: () => 1, onChange: () => undefined },
    });
    const ended = client.run(abort.signal);
    await vi.advanceTimersByTimeAsync(100);
    abort.abort();
    await ended;
    expect(vi.getTimerCount()).toBe(0);
  }
});
