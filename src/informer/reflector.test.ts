import { Buffer } from 'node:buffer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  answerJson,
  answerStatus,
  answerText,
  cutsAfter,
  MisbehavingServer,
  resetsConnection,
  saysNothing,
  streams,
  streamsAndEnds,
} from '../../test/planes/misbehaving-server.ts';
import type { Behaviour } from '../../test/planes/misbehaving-server.ts';
import { seededRandom } from '../base/random.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { ConnectionError } from '../client/api-errors.ts';
import { fixedEndpoint } from '../client/endpoint.ts';
import { KubeClient } from '../client/kube-client.ts';
import { HttpTransport } from '../client/http/http-transport.ts';
import { AnswerTooLongError } from '../client/transport.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector.ts';
import type { ReflectorProblem } from './reflector-problem.ts';
import { ObservedClient } from './testing/observed-client.ts';
import { hangsMs } from '../../test/planes/patience.ts';

interface Small {
  readonly name: string;
  readonly value: number;
}

let server: MisbehavingServer;
let transport: HttpTransport;
let clock: VirtualClock;
let client: ObservedClient;
let changes: string[];
let problems: ReflectorProblem[];
let reflector: Reflector<Small>;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  server.otherwise(streams()); // a watch without events
  transport = new HttpTransport({ endpoint: fixedEndpoint(server.url) });
  clock = new VirtualClock();
  client = new ObservedClient(new KubeClient({ transport, clock }));
  changes = [];
  problems = [];
  reflector = create();
});

afterEach(async () => {
  await reflector.stop();
  await transport.close();
  await server.close();
});

function project(raw: unknown): Small {
  const { metadata, value } = raw as { metadata: { name: string }; value: unknown };
  if (typeof value !== 'number') throw new Error(`value: expected a number, got ${JSON.stringify(value)}`);
  return { name: metadata.name, value };
}

const text = ({ name, value }: Small): string => `${name}=${value}`;

function create(options: Partial<ReflectorOptions<Small>> = {}): Reflector<Small> {
  return new Reflector<Small>({
    client,
    clock,
    random: seededRandom(1),
    path: '/api/v1/things',
    project,
    handler: {
      onAdd: (object) => changes.push(`add ${text(object)}`),
      onUpdate: (old, object) => changes.push(`update ${text(old)} ${text(object)}`),
      onDelete: (last, isUnknown) => changes.push(`delete ${text(last)}${isUnknown ? ' (missed)' : ''}`),
      onSynced: () => changes.push('synced'),
      onListing: () => changes.push('listing'),
      onReplaced: () => changes.push('replaced'),
    },
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
}

function thing(name: string, version: number, value: unknown = version, uid = `uid-${name}`): object {
  return { metadata: { namespace: 'default', name, uid, resourceVersion: String(version) }, value };
}

function list(version: number, ...items: unknown[]): Behaviour {
  return answerJson({ metadata: { resourceVersion: String(version) }, items });
}

const added = (...of: Parameters<typeof thing>): object => ({ type: 'ADDED', object: thing(...of) });
const modified = (...of: Parameters<typeof thing>): object => ({ type: 'MODIFIED', object: thing(...of) });
const deleted = (...of: Parameters<typeof thing>): object => ({ type: 'DELETED', object: thing(...of) });
const bookmark = (version: number): object => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: String(version) } },
});
const expired = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } };

/** Returns the requests so far: `list`, `list+TOKEN`, `watch@RV`, `versions`. */
function requests(): string[] {
  return server.requests.map(({ query, headers }) => {
    if (query.get('watch') === 'true') return `watch@${query.get('resourceVersion')}`;
    const what = headers.accept?.includes('PartialObjectMetadataList') === true ? 'versions' : 'list';
    const token = query.get('continue');
    return token === null ? what : `${what}+${token}`;
  });
}

/** Whether the reflector waits out a backoff: a started reflector without a request in flight does. */
const isWaiting = (): boolean => server.requests.length > 0 && client.inFlight === 0;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits for the condition in real time. The virtual time advances only through the reflector's own backoffs. */
async function until(condition: () => boolean): Promise<void> {
  await expect
    .poll(
      async () => {
        await turn(); // runs everything that follows directly from a response
        if (condition()) return true;
        if (isWaiting()) clock.advance(clock.untilNextTimer() ?? 0);
        return condition();
      },
      { interval: 1, timeout: hangsMs },
    )
    .toBe(true);
}

const untilRequests = (count: number): Promise<void> => until(() => server.requests.length >= count);

describe('list and watch', () => {
  test("adds the pages of a list, reports the sync, then watches from the list's resourceVersion", async () => {
    server.next(answerJson({ metadata: { resourceVersion: '9', continue: 'p2' }, items: [thing('a', 1)] }));
    server.next(answerJson({ metadata: { resourceVersion: '9' }, items: [thing('b', 2)] }));
    reflector = create({ fieldSelector: 'status.phase!=Failed', labelSelector: 'app' });
    expect(reflector.hasSynced).toBe(false);
    reflector.start();
    await reflector.synced();
    await untilRequests(3);
    expect(changes).toEqual(['add a=1', 'add b=2', 'synced']);
    expect(requests()).toEqual(['list', 'list+p2', 'watch@9']);
    expect(reflector.hasSynced).toBe(true);
    const [first, , watch] = server.requests;
    expect(first!.query.get('limit')).toBe('500');
    expect(watch!.query.get('allowWatchBookmarks')).toBe('true');
    for (const { query } of server.requests) {
      expect(query.get('fieldSelector')).toBe('status.phase!=Failed');
      expect(query.get('labelSelector')).toBe('app');
    }
    const seconds = Number(watch!.query.get('timeoutSeconds'));
    expect(seconds).toBeGreaterThanOrEqual(300);
    expect(seconds).toBeLessThan(600);
  });

  test('delivers watch events to store and handler in order', async () => {
    server.next(list(5, thing('a', 1)));
    server.next(streamsAndEnds(added('b', 6), modified('a', 7), deleted('a', 8, 70)));
    reflector.start();
    await untilRequests(3);
    expect(requests()[2]).toBe('watch@8');
    expect(changes).toEqual(['add a=1', 'synced', 'add b=6', 'update a=1 a=7', 'delete a=70']);
    expect([...reflector.store.values()].map(text)).toEqual(['b=6']);
  });

  test('does not deliver known state again', async () => {
    server.next(list(5, thing('a', 1)));
    server.next(streams(added('a', 1), deleted('unknown', 6), deleted('a', 7, 0, 'older-uid'), added('b', 8)));
    reflector.start();
    await until(() => changes.includes('add b=8'));
    expect(changes).toEqual(['add a=1', 'synced', 'add b=8']);
  });

  test('does not deliver a change that the owner does not read, but resumes after it', async () => {
    reflector = create({ isSame: (old, object) => old.value === object.value });
    server.next(list(5, thing('a', 1)), streamsAndEnds(modified('a', 6, 1)));
    reflector.start();
    await untilRequests(3);
    expect(changes).toEqual(['add a=1', 'synced']);
    expect(requests()[2]).toBe('watch@6');
  });

  test('delivers a new uid under the same name as a deletion and an addition', async () => {
    server.next(list(5, thing('a', 1)));
    server.next(streams(added('a', 6, 6, 'other-uid')));
    reflector.start();
    await until(() => changes.length === 4);
    expect(changes.slice(2)).toEqual(['delete a=1 (missed)', 'add a=6']);
  });

  test('decodes UTF-8 split anywhere and many lines in one chunk', async () => {
    reflector = create({ project: (raw) => ({ name: JSON.stringify((raw as { value: unknown }).value), value: 0 }) });
    const lines = Buffer.from(`${JSON.stringify(added('a', 6, 'ä€😀'))}\n\n${JSON.stringify(added('b', 7, 'ö'))}\n`);
    server.next(list(5), (response) => {
      response.writeHead(200);
      const writeNext = (index: number): void => {
        if (index < lines.length) response.write(lines.subarray(index, index + 1), () => writeNext(index + 1));
      };
      writeNext(0);
    });
    reflector.start();
    await until(() => reflector.store.size === 2);
    expect([...reflector.store.values()].map(({ name }) => name)).toEqual(['"ä€😀"', '"ö"']);
  });
});

describe('resuming', () => {
  test('continues a watch that ended normally from the last change or bookmark', async () => {
    server.next(list(5), streamsAndEnds(added('a', 6), bookmark(20)), streamsAndEnds(added('b', 21)));
    reflector.start();
    await untilRequests(4);
    expect(requests()).toEqual(['list', 'watch@5', 'watch@20', 'watch@21']);
    expect(problems).toEqual([]);
  });

  test.each([
    ['reset before the response', resetsConnection, 'watch@5'],
    ['cut in the middle of a line', cutsAfter(`${JSON.stringify(added('a', 6))}\n{"type":"ADD`), 'watch@6'],
    ['ended normally in the middle of a line', answerText(`${JSON.stringify(added('a', 6))}\n{"type"`), 'watch@6'],
    ['malformed', streamsAndEnds(added('a', 6), 'no event'), 'watch@6'],
    ['broken by an ERROR event', streamsAndEnds(added('a', 6), { type: 'ERROR', object: { code: 500 } }), 'watch@6'],
    ['rejected with 500', answerStatus(500, 'InternalError', 'broken'), 'watch@5'],
    ['rejected with 403', answerStatus(403, 'Forbidden', 'no'), 'watch@5'],
  ])('reports a watch that is %s, and resumes it after a backoff', async (_, behaviour, resumed) => {
    server.next(list(5), behaviour);
    reflector.start();
    await until(isWaiting);
    expect(requests()).toHaveLength(2);
    expect(clock.untilNextTimer()).toBeGreaterThanOrEqual(500);
    expect(clock.untilNextTimer()).toBeLessThanOrEqual(1_000);
    expect(problems).toMatchObject([{ kind: 'watch', failures: 1, path: '/api/v1/things' }]);
    await untilRequests(3);
    expect(requests()[2]).toBe(resumed);
  });

  test('retries a failing list with growing backoff until it succeeds', async () => {
    server.next(
      resetsConnection,
      answerStatus(503, 'ServiceUnavailable', 'starting'),
      answerText('{"items": ['),
      list(5, thing('a', 1)),
    );
    reflector.start();
    await until(() => reflector.hasSynced);
    expect(problems.map(({ kind }) => kind)).toEqual(['list', 'list', 'list']);
    const delays = problems.map((problem) => (problem as { delayMs: number }).delayMs);
    expect(delays[1]).toBeGreaterThanOrEqual(1_000);
    expect(delays[2]).toBeGreaterThanOrEqual(2_000);
    expect(changes).toEqual(['add a=1', 'synced']);
  });

  test('waits for Retry-After', async () => {
    server.next(list(5), answerStatus(429, 'TooManyRequests', 'slow', { headers: { 'retry-after': '17' } }));
    reflector.start();
    await until(isWaiting);
    expect(clock.untilNextTimer()).toBe(17_000);
    expect(problems).toMatchObject([{ kind: 'watch', delayMs: 17_000 }]);
  });

  test('backs off from a server that closes every watch at once', async () => {
    server.next(list(5)).otherwise(streamsAndEnds());
    reflector.start();
    await untilRequests(21);
    // 0.5-1 s, 1-2 s, … and 15-30 s from the sixth on.
    expect(clock.monotonic()).toBeGreaterThan(15_000 * 14);
    expect(requests().filter((each) => each === 'list')).toHaveLength(1);
  });

  test('retries at most twice a second if the server closes the watch after each change', async () => {
    let version = 5;
    server.next(list(5)).otherwise((response, request) => {
      streamsAndEnds(modified('a', ++version))(response, request);
    });
    reflector.start();
    await untilRequests(21);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(500 * 19);
    expect(clock.monotonic()).toBeLessThanOrEqual(1_000 * 20);
  });

  test('resets the backoff after progress', async () => {
    server.next(
      list(5),
      resetsConnection,
      resetsConnection,
      resetsConnection,
      cutsAfter(`${JSON.stringify(added('a', 6))}\n`),
    );
    reflector.start();
    await until(() => problems.length === 4);
    expect(problems.map((problem) => (problem as { failures: number }).failures)).toEqual([1, 2, 3, 1]);
  });
});

describe('deadlines', () => {
  test.each([
    ['never responds', saysNothing],
    ['falls silent', streams(added('a', 6))],
  ])('end and resume a watch that %s, after the dead-man time', async (_, behaviour) => {
    server.next(list(5), behaviour);
    reflector = create({ deadManMs: 90_000 });
    reflector.start();
    await untilRequests(2);
    const isEmpty = behaviour === saysNothing;
    if (!isEmpty) await until(() => reflector.store.size === 1);
    clock.advance(89_999);
    await turn();
    expect(client.inFlight).toBe(1);
    clock.advance(1);
    await untilRequests(3);
    expect(requests()[2]).toBe(isEmpty ? 'watch@5' : 'watch@6');
    expect(problems[0]).toMatchObject({ kind: 'watch', error: { name: 'WatchSilentError' } });
  });

  test('leave a watch open on which bookmarks arrive', async () => {
    let write = (_line: string): void => undefined;
    server.next(list(5), (response) => {
      response.writeHead(200).flushHeaders();
      write = (line) => response.write(line);
    });
    reflector.start();
    await untilRequests(2);
    for (let minute = 6; minute < 10; minute++) {
      clock.advance(60_000);
      write(`${JSON.stringify(bookmark(minute))}\n`);
      await until(() => client.chunks === minute - 5);
    }
    expect(client.inFlight).toBe(1);
    expect(server.requests).toHaveLength(2);
    expect(problems).toEqual([]);
  });

  test('end and resume a watch that the server fails to end, without a report', async () => {
    let write = (_line: string): void => undefined;
    server.next(list(5), (response) => {
      response.writeHead(200).flushHeaders();
      write = (line) => response.write(line);
    });
    reflector.start();
    await untilRequests(2);
    for (let version = 6; server.requests.length < 3 && version < 20; version++) {
      clock.advance(60_000);
      write(`${JSON.stringify(bookmark(version))}\n`);
      await until(() => client.chunks === version - 5 || server.requests.length === 3);
    }
    expect(server.requests).toHaveLength(3);
    expect(problems).toEqual([]);
  });

  test('end a list without a response', async () => {
    server.next(saysNothing, list(5));
    reflector.start();
    await untilRequests(1);
    clock.advance(60_000);
    await until(() => reflector.hasSynced);
    expect(problems).toMatchObject([{ kind: 'list', error: { name: 'TimeoutError' } }]);
  });
});

describe('with a resourceVersion that the server no longer knows, the reflector', () => {
  test.each([
    ['an HTTP 410', answerStatus(410, 'Expired', 'too old')],
    ['an ERROR event with 410', streams(expired)],
  ])('lists at once after %s, and delivers the differences', async (_, gone) => {
    server.next(list(5, thing('stays', 1), thing('goes', 2), thing('changes', 3), thing('reborn', 4)), gone);
    server.next(list(9, thing('stays', 1), thing('changes', 8), thing('reborn', 9, 9, 'other'), thing('comes', 7)));
    reflector.start();
    await untilRequests(4);
    expect(requests()).toEqual(['list', 'watch@5', 'list', 'watch@9']);
    expect(clock.monotonic()).toBe(0);
    expect(changes.slice(5)).toEqual([
      'listing',
      'update changes=3 changes=8',
      'delete reborn=4 (missed)',
      'add reborn=9',
      'add comes=7',
      'delete goes=2 (missed)',
      'replaced',
    ]);
  });

  test.each([
    [
      'asks to wait for a second',
      answerStatus(429, 'TooManyRequests', 'storage is initializing', { headers: { 'retry-after': '1' } }),
      1_000,
    ],
    ['responds with 410', answerStatus(410, 'Expired', 'too old'), 0],
    ['is still starting', answerStatus(503, 'ServiceUnavailable', 'starting'), 1_000],
  ])('retries soon after an outage when the server %s', async (_, answer, maxMs) => {
    server.next(list(5), ...Array.from({ length: 6 }, () => resetsConnection), answer);
    reflector.start();
    await until(() => problems.length === 7);
    const delays = problems.map((problem) => (problem as { delayMs: number }).delayMs);
    expect(delays[5]).toBeGreaterThan(15_000);
    expect(delays[6]).toBeLessThanOrEqual(maxMs);
  });

  test('limits the rate of lists under repeated 410s', async () => {
    server.otherwise((response, request) => {
      const isWatch = request.query.get('watch') === 'true';
      (isWatch ? streams(added('a', 6), expired) : list(5))(response, request);
    });
    reflector.start();
    await untilRequests(20);
    expect(clock.monotonic()).toBeGreaterThan(60_000);
  });

  test('lists in one piece after an expired continue token', async () => {
    server.next(answerJson({ metadata: { resourceVersion: '5', continue: 'p2' }, items: [thing('a', 1)] }));
    server.next(answerStatus(410, 'Expired', 'continue token too old'), list(9, thing('b', 2)));
    reflector.start();
    await until(() => reflector.hasSynced);
    expect(server.requests[2]!.query.has('limit')).toBe(false);
    expect(changes).toEqual(['add a=1', 'add b=2', 'delete a=1 (missed)', 'synced']);
  });

  test('lists again after repeated rejections of the resourceVersion', async () => {
    const tooLarge = answerStatus(504, 'Timeout', 'Too large resource version');
    server.next(list(500, thing('a', 1)), tooLarge, tooLarge, tooLarge, list(3, thing('b', 2)));
    reflector.start();
    await untilRequests(6);
    expect(requests()).toEqual(['list', 'watch@500', 'watch@500', 'watch@500', 'list', 'watch@3']);
    expect(changes).toEqual(['add a=1', 'synced', 'listing', 'add b=2', 'delete a=1 (missed)', 'replaced']);
  });
});

describe('catchUp', () => {
  /** Returns whether the promise resolves within a few turns. */
  async function isOver(promise: Promise<void>): Promise<boolean> {
    let over = false;
    void promise.then(() => (over = true));
    for (let turns = 0; turns < 5; turns++) await turn();
    return over;
  }

  const untilNextTimerIs = (ms: number): Promise<void> =>
    expect.poll(() => clock.untilNextTimer(), { interval: 1 }).toBe(ms);

  /** Starts a catch-up whose watch does not reach the version in time. */
  async function catchUpWithoutEvent(): Promise<{ readonly ends: Promise<void> }> {
    reflector.start();
    await untilRequests(2);
    const ends = reflector.catchUp();
    await untilRequests(3);
    await untilNextTimerIs(100);
    expect(await isOver(ends)).toBe(false);
    clock.advance(100);
    return { ends };
  }

  const limits = (): (string | null)[] => server.requests.map(({ query }) => query.get('limit'));

  test('takes one small read if the store is current', async () => {
    server.next(list(9, thing('a', 1)), streams(), list(9, thing('a', 1)));
    reflector.start();
    await untilRequests(2);
    await reflector.catchUp();
    expect(requests()).toEqual(['list', 'watch@9', 'list']);
    expect(limits()).toEqual(['500', null, '1']);
    expect(changes).toEqual(['add a=1', 'synced']);
  });

  test.each([
    ['change', added('b', 1000), ['add a=1', 'synced', 'add b=1000']],
    ['bookmark', bookmark(1000), ['add a=1', 'synced']],
  ])('waits a moment for a pending %s', async (_, line, expected) => {
    let send: () => void = () => expect.unreachable('not watched yet');
    server.next(list(999, thing('a', 1)), (response, request) => {
      streams()(response, request);
      send = () => response.write(`${JSON.stringify(line)}\n`);
    });
    server.next(list(1000, thing('a', 1)));
    reflector.start();
    await untilRequests(2);
    const caughtUp = reflector.catchUp();
    await untilRequests(3);
    expect(await isOver(caughtUp)).toBe(false);
    send();
    await caughtUp;
    expect(changes).toEqual(expected);
    expect(server.requests).toHaveLength(3);
  });

  test('compares the versions of all objects page by page if the watch stays silent', async () => {
    server.next(list(9, thing('a', 1), thing('b', 2)), streams(), list(10));
    server.next(answerJson({ metadata: { resourceVersion: '11', continue: 'p2' }, items: [thing('a', 1)] }));
    server.next(list(11, thing('b', 2)));
    const caughtUp = await catchUpWithoutEvent();
    await caughtUp.ends;
    expect(requests()).toEqual(['list', 'watch@9', 'list', 'versions', 'versions+p2']);
    expect(limits().slice(3)).toEqual(['5000', '5000']);
    expect(changes).toEqual(['add a=1', 'add b=2', 'synced']);
  });

  test.each([
    ['another version', [thing('a', 1), thing('b', 11)]],
    ['another uid', [thing('a', 1), thing('b', 2, 2, 'another')]],
    ['an additional object', [thing('a', 1), thing('b', 2), thing('c', 11)]],
    ['a missing object', [thing('b', 2)]],
    ['an item that is not an object', [null]],
  ])('lists everything if the versions show %s, and watches from there', async (_, items) => {
    server.next(list(9, thing('a', 1), thing('b', 2)), streams(), list(10), list(11, ...items));
    server.next(list(12, thing('b', 2), thing('c', 12)));
    const caughtUp = await catchUpWithoutEvent();
    await caughtUp.ends;
    expect(changes.slice(3)).toEqual(['listing', 'add c=12', 'delete a=1 (missed)', 'replaced']);
    await untilRequests(6);
    expect(requests()).toEqual(['list', 'watch@9', 'list', 'versions', 'list', 'watch@12']);
  });

  test('accepts a watch that reaches the version during the comparison', async () => {
    let send: () => void = () => expect.unreachable('not watched yet');
    let answer: () => void = () => expect.unreachable('not requested yet');
    server.next(list(9, thing('a', 1)), (response, request) => {
      streams()(response, request);
      send = () => response.write(`${JSON.stringify(modified('a', 12))}\n`);
    });
    server.next(list(10), (response, request) => {
      answer = () => list(11, thing('a', 11))(response, request);
    });
    const caughtUp = await catchUpWithoutEvent();
    await untilRequests(4);
    send();
    await caughtUp.ends;
    answer();
    await until(() => client.inFlight === 1);
    expect(requests()).toEqual(['list', 'watch@9', 'list', 'versions']);
    expect(changes).toEqual(['add a=1', 'synced', 'update a=1 a=12']);
  });

  test('lists everything if the comparison fails', async () => {
    server.next(list(9, thing('a', 1)), streams(), list(10), answerStatus(500, 'InternalError', 'broken'));
    server.next(list(11, thing('a', 1)));
    const caughtUp = await catchUpWithoutEvent();
    await caughtUp.ends;
    expect(requests().slice(3)).toEqual(['versions', 'list']);
    expect(problems).toMatchObject([{ kind: 'list', error: { message: expect.stringMatching(/broken/) as string } }]);
  });

  test('accepts a list that was in flight', async () => {
    let answer: () => void = () => expect.unreachable('not listed yet');
    server.next(list(9), streams(expired));
    server.next((response, request) => {
      answer = () => list(11, thing('c', 11))(response, request);
    });
    reflector.start();
    await untilRequests(3);
    server.next(list(10));
    const caughtUp = reflector.catchUp();
    await untilRequests(4);
    await untilNextTimerIs(100);
    clock.advance(100);
    answer();
    await caughtUp;
    await untilRequests(5);
    expect(requests()).toEqual(['list', 'watch@9', 'list', 'list', 'watch@11']);
  });

  test('lists everything once if versions are not numbers', async () => {
    const opaque = (version: string, ...items: object[]): Behaviour =>
      answerJson({ metadata: { resourceVersion: version }, items });
    server.next(opaque('aa'), streams(), opaque('bb'), opaque('cc', thing('a', 1)), opaque('cc', thing('a', 1)));
    const caughtUp = await catchUpWithoutEvent();
    await caughtUp.ends;
    await untilRequests(6);
    expect(requests()).toEqual(['list', 'watch@aa', 'list', 'versions', 'list', 'watch@cc']);
  });

  test("retries a failing read, and does not wait for the watch's backoff", async () => {
    server.next(list(9), answerStatus(500, 'InternalError', 'broken'));
    reflector.start();
    await until(() => problems.length === 1); // the watch waits out its backoff
    server.next(answerStatus(503, 'ServiceUnavailable', 'starting'), list(10));
    server.next(list(10, thing('a', 10)), list(10, thing('a', 10)));
    const caughtUp = reflector.catchUp();
    const inRealTime = { interval: 1 };
    await expect.poll(() => problems.length, inRealTime).toBe(2);
    clock.advance((problems[1] as { delayMs: number }).delayMs);
    await expect.poll(() => server.requests.length, inRealTime).toBe(4);
    await untilNextTimerIs(100);
    clock.advance(100);
    await caughtUp;
    expect(changes).toEqual(['synced', 'listing', 'add a=10', 'replaced']);
  });

  test('rejects when the reflector is stopped', async () => {
    server.next(list(9), streams(), saysNothing);
    reflector.start();
    await untilRequests(2);
    const caughtUp = reflector.catchUp();
    await untilRequests(3);
    await Promise.all([expect(caughtUp).rejects.toThrow('has stopped'), reflector.stop()]);
  });
});

describe('malformed objects', () => {
  test('are skipped and reported with their position, and the stream continues', async () => {
    server.next(list(5, thing('good', 1), thing('bad', 2, 'text'), null, { metadata: { name: 'x' } }));
    server.next(streams(modified('good', 6, null), { type: 'ADDED' }, { type: 'WHAT' }, added('next', 7)));
    reflector.start();
    await until(() => changes.includes('add next=7'));
    expect(changes).toEqual(['add good=1', 'synced', 'add next=7']);
    expect(
      problems.map((problem) => problem.kind === 'malformed' && `${problem.where}: ${problem.error.message}`),
    ).toEqual([
      'default/bad: value: expected a number, got "text"',
      'item 2 of page 1: metadata is missing',
      'item 3 of page 1: metadata.uid is missing',
      'default/good: value: expected a number, got null',
      'watch after resourceVersion 6: metadata is missing',
      'watch after resourceVersion 6: a watch event has the unknown type "WHAT"',
    ]);
  });

  test('keep their last valid state until they are deleted or valid again', async () => {
    server.next(list(5, thing('a', 1), thing('b', 2)));
    server.next(streams(modified('a', 6, null), modified('b', 7, null), deleted('a', 8, null), modified('b', 9)));
    reflector.start();
    await until(() => changes.length === 5);
    expect(changes.slice(3)).toEqual(['delete a=1', 'update b=2 b=9']);
  });

  test('with a new uid still delete their predecessor', async () => {
    server.next(list(5, thing('a', 1)), streams(added('a', 6, null, 'other'), added('b', 7)));
    reflector.start();
    await until(() => changes.length === 4);
    expect(changes.slice(2)).toEqual(['delete a=1 (missed)', 'add b=7']);
  });
});

describe('handlers', () => {
  test('that throw are reported, and the change stays applied', async () => {
    const handler = { onAdd: () => { throw new Error('bug'); }, onUpdate: () => undefined, onDelete: () => undefined }; // prettier-ignore
    reflector = create({ handler });
    server.next(list(5, thing('a', 1), thing('b', 2)));
    reflector.start();
    await reflector.synced();
    expect(problems).toMatchObject([
      { kind: 'handler', where: 'onAdd of default/a' },
      { kind: 'handler', where: 'onAdd of default/b' },
    ]);
    expect(reflector.store.size).toBe(2);
  });

  test('are not called after stop, which closes all connections', async () => {
    let write = (_line: string): void => undefined;
    server.next(list(5, thing('a', 1)), (response) => {
      response.writeHead(200).flushHeaders();
      write = (line) => response.write(line);
    });
    reflector.start();
    reflector.start();
    await untilRequests(2);
    const stopped = reflector.stop();
    write(`${JSON.stringify(modified('a', 6))}\n`);
    await stopped;
    expect(changes).toEqual(['add a=1', 'synced']);
    expect(client.inFlight).toBe(0);
    expect(clock.untilNextTimer()).toBeUndefined();
    expect(server.requests).toHaveLength(2);
    expect(problems).toEqual([]);
    await expect(reflector.synced()).resolves.toBeUndefined();
  });

  test('are not called if the reflector is stopped during its first list', async () => {
    server.next(saysNothing);
    reflector.start();
    await untilRequests(1);
    await reflector.stop();
    expect(changes).toEqual([]);
    expect(client.inFlight).toBe(0);
    expect(clock.untilNextTimer()).toBeUndefined();
    expect(problems).toEqual([]);
    await expect(reflector.synced()).rejects.toThrow('the reflector of /api/v1/things has stopped');
  });

  test.each([
    ['a list', ['add a=1', 'add b=2'], 'add b=2', ['list']],
    ['the end of a list', ['add a=1', 'add b=2', 'add c=3', 'synced'], 'synced', ['list']],
    ['a watch', ['add a=1', 'add b=2', 'add c=3', 'synced', 'add d=6'], 'add d=6', ['list', 'watch@5']],
  ])('may stop the reflector during %s, and are not called afterwards', async (_, reported, last, expectedRequests) => {
    const stops = (change: string): void => {
      changes.push(change);
      if (change === last) void reflector.stop();
    };
    const handler = {
      onAdd: (object: Small) => stops(`add ${text(object)}`),
      onUpdate: () => undefined,
      onDelete: (object: Small) => stops(`delete ${text(object)}`),
      onSynced: () => stops('synced'),
    };
    reflector = create({ handler });
    server.next(list(5, thing('a', 1), thing('b', 2), thing('c', 3)), streams(added('d', 6), added('e', 7)));
    reflector.start();
    await until(() => changes.includes(last));
    await reflector.stop();
    expect(changes).toEqual(reported);
    expect(requests()).toEqual(expectedRequests);
    expect(client.inFlight).toBe(0);
    expect(clock.untilNextTimer()).toBeUndefined();
  });
});

describe('with a server that breaks the protocol, the reflector', () => {
  test('lists again if the watch goes back, as after a restore of the server', async () => {
    server.next(list(50, thing('a', 50)), streams(modified('a', 60), modified('b', 7)), list(8, thing('b', 7)));
    reflector.start();
    await untilRequests(4);
    expect(requests().slice(0, 4)).toEqual(['list', 'watch@50', 'list', 'watch@8']);
    expect(changes).toEqual([
      'add a=50',
      'synced',
      'update a=50 a=60',
      'listing',
      'add b=7',
      'delete a=60 (missed)',
      'replaced',
    ]);
    expect(problems.map(({ error }) => error.message)).toEqual([
      'GET /api/v1/things: the watch went back from resourceVersion 60 to 7',
    ]);
  });

  test('ends a list with endless pages, whether the token repeats or is always new', async () => {
    let pages = 0;
    const token = (page: number): string => (page <= 3 ? 'same' : String(page));
    reflector = create({
      client: {
        list: () => Promise.resolve({ items: [thing('a', 1)], resourceVersion: '1', continueToken: token(++pages) }),
        watch: () => Promise.reject(new Error('not watched yet')),
      },
    });
    reflector.start();
    await expect.poll(() => problems.length).toBe(1);
    expect(pages).toBe(2);
    clock.advance(60_000);
    await expect.poll(() => problems.length).toBe(2);
    expect(pages).toBe(10_002);
    expect(problems.map(({ error }) => error.message)).toEqual([
      'the list of /api/v1/things has no end: it repeats the continue token of page 2',
      'the list of /api/v1/things has no end: it has more than 10000 pages',
    ]);
    expect(reflector.hasSynced).toBe(false);
  });

  test('lists again after a watch line that is too long, and reports its object', async () => {
    const large = { ...(thing('large', 6) as { metadata: object }), text: 'x'.repeat(34 * 1024 * 1024) };
    server.next(list(5, thing('a', 5)), streams({ type: 'MODIFIED', object: large }), list(6, thing('a', 5), large));
    reflector.start();
    await until(() => changes.includes('replaced'));
    expect(requests().slice(0, 3)).toEqual(['list', 'watch@5', 'list']);
    expect(changes).toEqual(['add a=5', 'synced', 'listing', 'add large=6', 'replaced']);
    expect(problems.map((problem) => [problem.kind, 'where' in problem ? problem.where : ''])).toEqual([
      ['watch', ''],
      ['oversized', 'default/large'],
    ]);
  });

  test('shortens pages that are too long to read', async () => {
    const limits: (number | undefined)[] = [];
    reflector = create({
      client: {
        list: (_path, { limit } = {}) => {
          limits.push(limit);
          if (limit! <= 50) return Promise.resolve({ items: [], resourceVersion: '1' });
          const cause = new AnswerTooLongError('the response is longer than 134217728 bytes');
          return Promise.reject(new ConnectionError('no response', { ambiguous: false, cause }));
        },
        watch: () => Promise.reject(new Error('not watched yet')),
      },
    });
    reflector.start();
    for (let turns = 0; turns < 100 && !reflector.hasSynced; turns++) {
      clock.advance(clock.untilNextTimer() ?? 0);
      await turn();
    }
    expect(limits).toEqual([500, 125, 31]);
  });
});
