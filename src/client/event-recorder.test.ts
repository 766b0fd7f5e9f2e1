import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answerJson, answerStatus, MisbehavingServer, resetsConnection } from '../../test/planes/misbehaving-server.ts';
import { collectGarbage } from '../base/testing/collect-garbage.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { NotFoundError } from './api-errors.ts';
import { fixedEndpoint } from './endpoint.ts';
import { EventRecorder } from './event-recorder.ts';
import type { EventToRecord } from './event-recorder.ts';
import { KubeClient } from './kube-client.ts';
import type { CallOptions } from './kube-client.ts';
import { HttpTransport } from './http/http-transport.ts';

let server: MisbehavingServer;
let transport: HttpTransport;
let clock: VirtualClock;
let recorder: EventRecorder;
/** Number of writes without a response so far. */
let inFlight: number;
let failures: unknown[];

beforeEach(async () => {
  server = await MisbehavingServer.start();
  server.otherwise(answerJson({}, 201));
  transport = new HttpTransport({ endpoint: fixedEndpoint(server.url) });
  clock = new VirtualClock();
  const client = new KubeClient({ transport, clock });
  inFlight = 0;
  const counted = async (call: Promise<never>): Promise<never> => {
    inFlight++;
    return call.finally(() => inFlight--);
  };
  failures = [];
  recorder = new EventRecorder({
    client: {
      create: (path, body, options) => counted(client.create<never>(path, body, options)),
      patch: (path, kind, body, options) => counted(client.patch<never>(path, kind, body, options)),
    },
    onError: (error) => failures.push(error),
    clock,
    reportingController: 'tutti-scheduler',
    reportingInstance: 'host-1',
    queueLimit: 3,
  });
});

afterEach(async () => {
  recorder.stop();
  await transport.close();
  await server.close();
});

/** Runs everything that does not wait for a response. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until every recorded Event is written: while any waits, writes are in flight. */
async function written(): Promise<void> {
  await expect
    .poll(
      async () => {
        await settle();
        return inFlight;
      },
      { interval: 1 },
    )
    .toBe(0);
}

function podEvent(name = 'a', note = 'insufficient cpu'): EventToRecord {
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` },
    type: 'Warning',
    reason: 'FailedScheduling',
    action: 'Scheduling',
    note,
  };
}

test('writes an Event with its object, reporter, reason and time', async () => {
  recorder.record(podEvent());
  await written();
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
  });
  const { metadata, ...event } = JSON.parse(server.requests[0]!.body);
  expect(metadata.namespace).toBe('default');
  expect(metadata.name).toMatch(/^a\.[0-9a-f]+$/);
  expect(event).toEqual({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    eventTime: '2026-01-01T00:00:00.000000Z',
    type: 'Warning',
    reason: 'FailedScheduling',
    action: 'Scheduling',
    note: 'insufficient cpu',
    regarding: podEvent().regarding,
    reportingController: 'tutti-scheduler',
    reportingInstance: 'host-1',
  });
});

test('makes the note safe to show and cuts it at the limit of the API', async () => {
  recorder.record(podEvent('a', `\u001b[2J\n${'ä'.repeat(200_000)}`));
  await written();
  const { note } = JSON.parse(server.requests[0]!.body);
  expect(note).toMatch(/^\\u001b\[2J\\u000aä+…$/);
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
});

test('counts repeats within the window in one Event and writes a new Event for later ones', async () => {
  recorder.record(podEvent());
  await written();
  clock.advance(60_000);
  for (let repeat = 0; repeat < 5; repeat++) recorder.record(podEvent());
  await written();
  clock.advance(360_001);
  recorder.record(podEvent());
  await written();

  // The first repeat is written at once. Repeats that arrive during that write share the next one.
  expect(server.requests.map((request) => request.method)).toEqual(['POST', 'PATCH', 'PATCH', 'POST']);
  const [created, , patched, again] = server.requests;
  const { name } = JSON.parse(created!.body).metadata;
  expect(patched!.path).toBe(`/apis/events.k8s.io/v1/namespaces/default/events/${name}`);
  expect(JSON.parse(patched!.body)).toEqual({ series: { count: 6, lastObservedTime: '2026-01-01T00:01:00.000000Z' } });
  expect(JSON.parse(again!.body).metadata.name).not.toBe(name);
});

test('writes another Event for another note or another object', async () => {
  recorder.record(podEvent('a', 'one'));
  recorder.record(podEvent('a', 'two'));
  recorder.record(podEvent('b', 'one'));
  await written();
  expect(server.requests.map((request) => request.method)).toEqual(['POST', 'POST', 'POST']);
});

test('frees a series after its window, even if nothing else is recorded', async () => {
  let remaining = 1;
  const registry = new FinalizationRegistry<undefined>(() => remaining--);
  (() => {
    const event = podEvent();
    registry.register(event.regarding, undefined);
    recorder.record(event);
  })();
  await written();
  clock.advance(360_002);
  await collectGarbage(() => remaining === 0);
});

test('counts notes that differ only beyond the cut as the same note', async () => {
  recorder.record(podEvent('a', `${'x'.repeat(2_000)} one`));
  await written();
  recorder.record(podEvent('a', `${'x'.repeat(2_000)} two`));
  await written();
  expect(server.requests.map((request) => request.method)).toEqual(['POST', 'PATCH']);
});

test('creates the Event again when it has expired', async () => {
  recorder.record(podEvent());
  await written();
  server.next(answerStatus(404, 'NotFound', 'expired'));
  recorder.record(podEvent());
  await written();
  expect(server.requests.map((request) => request.method)).toEqual(['POST', 'PATCH', 'POST']);
  expect(JSON.parse(server.requests[2]!.body).series.count).toBe(2);
});

test('drops the oldest Event when too many wait', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) recorder.record(podEvent(name));
  await written();
  const names = server.requests.map((request) => JSON.parse(request.body).regarding.name as string);
  expect(names.sort()).toEqual(['a', 'b', 'c', 'd', 'g', 'h', 'i']); // the first four were already in flight
  expect(failures).toEqual([]);
});

test('drops minor Events while many wait, and counts every dropped Event', () => {
  const many = new EventRecorder({
    client: { create: () => new Promise(() => undefined), patch: () => new Promise(() => undefined) },
    clock,
    reportingController: 'tutti-scheduler',
    reportingInstance: 'host-1',
    queueLimit: 300,
  });
  for (let i = 0; i < 250; i++) many.record({ ...podEvent(`minor-${i}`), isMinor: true });
  // Four are in flight, and two hundred wait.
  expect(many.dropped).toBe(250 - 4 - 200);
  for (let i = 0; i < 100; i++) many.record(podEvent(`own-${i}`));
  expect(many.dropped).toBe(250 - 4 - 200);
  many.record(podEvent('one-more'));
  expect(many.dropped).toBe(250 - 4 - 200 + 1);
});

test('reports a failed write and continues with the others', async () => {
  server.next(resetsConnection, answerStatus(403, 'Forbidden', 'no'));
  recorder.record(podEvent('a'));
  recorder.record(podEvent('b'));
  recorder.record(podEvent('c'));
  await written();
  expect(failures.map((error) => (error as Error).name).sort()).toEqual(['ConnectionError', 'ForbiddenError']);
  expect(server.requests).toHaveLength(3);
});

test('writes nothing after stop', async () => {
  recorder.stop();
  recorder.record(podEvent());
  await written();
  expect(server.requests).toHaveLength(0);
});

/** A write without a response so far. */
interface PendingWrite {
  readonly method: 'POST' | 'PATCH';
  /** Name of the Event. */
  readonly name: string;
  readonly count: number;
  readonly heldSince: CallOptions['heldSince'];
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
}

/** An API server whose responses the test gives by hand. */
class Writes {
  readonly pending: PendingWrite[] = [];
  /** Every write that was sent. */
  readonly sent: PendingWrite[] = [];

  readonly client = {
    create: (_path: string, body: unknown, options?: CallOptions) => {
      const { metadata, series } = body as { metadata: { name: string }; series?: { count: number } };
      return this.#send('POST', metadata.name, series?.count ?? 1, options);
    },
    patch: (path: string, _kind: string, body: unknown, options?: CallOptions) => {
      const { series } = body as { series: { count: number } };
      return this.#send('PATCH', path.split('/').at(-1)!, series.count, options);
    },
  };

  #send(method: PendingWrite['method'], name: string, count: number, options?: CallOptions): Promise<never> {
    return new Promise((resolve, reject) => {
      const take = (): void => void this.pending.splice(this.pending.indexOf(write), 1);
      const fail = (error: Error): void => {
        take();
        reject(error);
      };
      const answer = (): void => {
        take();
        resolve(undefined as never);
      };
      const write = { method, name, count, heldSince: options?.heldSince, answer, fail };
      options?.signal?.addEventListener('abort', () => fail(options.signal!.reason as Error), { once: true });
      this.pending.push(write);
      this.sent.push(write);
    });
  }
}

describe('concurrent writes', () => {
  let writes: Writes;
  let limited: EventRecorder;

  beforeEach(() => {
    writes = new Writes();
    limited = new EventRecorder({
      client: writes.client,
      clock,
      reportingController: 'tutti-scheduler',
      reportingInstance: 'host-1',
      onError: (error) => failures.push(error),
    });
  });

  const names = (): string[] => writes.pending.map(({ name }) => name.split('.')[0]!);

  test('are limited to four, start in order, and follow each response', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) limited.record(podEvent(name));
    expect(names()).toEqual(['a', 'b', 'c', 'd']);
    writes.pending[2]!.answer();
    await settle();
    expect(names()).toEqual(['a', 'b', 'd', 'e']);
  });

  test('never share a series: one patch after the create includes all repeats', async () => {
    limited.record(podEvent('a'));
    limited.record(podEvent('a'));
    limited.record(podEvent('a'));
    expect(writes.pending).toHaveLength(1);
    writes.pending[0]!.answer();
    await settle();
    expect(writes.sent.map(({ method, count }) => [method, count])).toEqual([
      ['POST', 1],
      ['PATCH', 3],
    ]);
  });

  test('include a repeat that arrives during a failing write', async () => {
    limited.record(podEvent('a'));
    limited.record(podEvent('a'));
    writes.pending[0]!.fail(new Error('connection lost'));
    await settle();
    writes.pending[0]!.fail(new NotFoundError('gone', { status: 404, reason: 'NotFound', request: '', causes: [] }));
    await settle();
    expect(writes.sent.map(({ method, count }) => [method, count])).toEqual([
      ['POST', 1],
      ['PATCH', 2],
      ['POST', 2],
    ]);
    expect(failures).toMatchObject([{ message: 'connection lost' }]);
  });

  test('pass on when each Event was recorded, as the start of its wait for binds', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) limited.record(podEvent(name));
    clock.advance(700);
    limited.record(podEvent('e'));
    limited.record(podEvent('a'));
    clock.advance(700);
    limited.record(podEvent('a'));
    for (let write = 0; write < 6; write++) {
      writes.pending[0]!.answer();
      await settle();
    }
    expect(writes.sent.map(({ method, heldSince }) => [method, heldSince])).toEqual([
      ['POST', 0],
      ['POST', 0],
      ['POST', 0],
      ['POST', 0],
      ['POST', 0],
      ['PATCH', 700],
    ]);
  });

  test('end with stop, which starts no others', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'a']) limited.record(podEvent(name));
    limited.stop();
    await settle();
    expect(writes.pending).toEqual([]);
    expect(writes.sent).toHaveLength(4);
    expect(failures).toEqual([]);
  });

  test('complete for 2,000 Events at once', async () => {
    for (let pod = 0; pod < 2_000; pod++) limited.record(podEvent(`pod-${pod}`));
    while (writes.pending.length > 0) {
      writes.pending[0]!.answer();
      await Promise.resolve();
    }
    await settle();
    expect(writes.pending).toEqual([]);
    expect(writes.sent).toHaveLength(2_000);
  });
});

test('never overlaps writes of one series and loses no occurrence, for any order of records and responses', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('record' as const), pod: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ kind: fc.constant('answer' as const), index: fc.nat({ max: 3 }) }),
  );
  const scenario = fc.array(step, { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(scenario, fc.integer({ min: 1, max: 4 }), async (steps, concurrency) => {
      const writes = new Writes();
      const limited = new EventRecorder({
        client: writes.client,
        clock,
        reportingController: 'tutti-scheduler',
        reportingInstance: 'host-1',
        concurrency,
      });
      /** pod -> number of recorded Events */
      const recorded = new Map<string, number>();
      const expectOrder = (): void => {
        const inFlight = writes.pending.map(({ name }) => name);
        expect(inFlight.length).toBeLessThanOrEqual(concurrency);
        expect(new Set(inFlight).size).toBe(inFlight.length);
      };
      for (const each of steps) {
        if (each.kind === 'record') {
          const name = `pod-${each.pod}`;
          recorded.set(name, (recorded.get(name) ?? 0) + 1);
          limited.record(podEvent(name));
        } else writes.pending[each.index]?.answer();
        await settle();
        expectOrder();
      }
      while (writes.pending.length > 0) {
        writes.pending[0]!.answer();
        await settle();
        expectOrder();
      }
      /** pod -> counts of its writes, in order */
      const counts = Map.groupBy(writes.sent, ({ name }) => name.split('.')[0]!);
      expect([...counts.keys()].sort()).toEqual([...recorded.keys()].sort());
      for (const [name, of] of counts) {
        expect(of.map(({ method }) => method)).toEqual(of.map((_, index) => (index === 0 ? 'POST' : 'PATCH')));
        expect(of.map(({ count }) => count)).toEqual(of.map(({ count }) => count).toSorted((a, b) => a - b));
        expect(of.at(-1)!.count).toBe(recorded.get(name));
      }
    }),
  );
});
