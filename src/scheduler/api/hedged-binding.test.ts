import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { ForbiddenError, NotFoundError, TimeoutError, WithdrawnError } from '../../client/api-errors.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { ApiPodBinder } from './api-pod-binder.ts';
import { BoundElsewhereError, PodLeavingError } from './bind-read-back.ts';
import { PodBehindALine } from './testing/pod-behind-a-line.ts';
import type { Journey } from './testing/pod-behind-a-line.ts';
import { asked, TimedBinding } from './testing/timed-binding.ts';

/** When a call that hangs is looked at: the least threshold, at the next tick. */
const slowAfterMs = 250;

/** Bound lately: others, each in 10 ms. */
async function binding(journey: PodBehindALine['journey']): Promise<TimedBinding> {
  const all = new TimedBinding();
  await all.bindOthers(8);
  all.pod.journey = journey;
  return all;
}

/** The first Binding is like this, and all else quick. */
function firstBinding(journey: Journey): PodBehindALine['journey'] {
  return (method, count) => (method === 'POST' && count === 1 ? journey : {});
}

const slow = firstBinding({ thereMs: 8_000 });

describe('a Binding that takes far longer than others do', () => {
  it('is sent again on another connection once the pod was found on no node, and the first one is given up', async () => {
    const { clock, pod, bind, passes, fence } = bound(await binding(slow));
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeUndefined();
    expect(at - begunAt).toBe(slowAfterMs);
    expect(pod.sent.map(({ method, connection, isCut }) => ({ method, connection, isCut }))).toEqual([
      { method: 'POST', connection: 'call', isCut: true },
      { method: 'GET', connection: 'spare', isCut: false },
      { method: 'POST', connection: 'spare', isCut: false },
    ]);
    await passes(10_000);
    expect(pod).toMatchObject({ nodeName: 'a', bound: 1 });
    expect(fence.hasBindInDoubt(60_000)).toBe(false);
  });

  it('is not sent again when it was carried out, and only its answer is slow', async () => {
    const { pod, bind } = bound(await binding(firstBinding({ backMs: 8_000 })));
    expect((await bind()).error).toBeUndefined();
    expect(pod.methods).toEqual(['POST', 'GET']);
  });

  it('is read back as it is stored: the question names no version that a cache may answer from', async () => {
    const { pod, bind } = bound(await binding(slow));
    await bind();
    expect(pod.sent[1]!.path).toBe('/api/v1/namespaces/default/pods/red-0');
  });

  it('is sent a third time when the second hangs as well', async () => {
    const hangs = { loses: 'request' } as const;
    const { clock, pod, bind } = bound(await binding((method, count) => (method === 'POST' && count < 3 ? hangs : {})));
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeUndefined();
    expect(at - begunAt).toBe(2 * slowAfterMs);
    expect(pod.methods).toEqual(['POST', 'GET', 'POST', 'GET', 'POST']);
  });

  it('succeeds with the first answer that says so, be it that of the first', async () => {
    const { clock, pod, bind } = bound(
      await binding((method, count) => (method === 'POST' ? { thereMs: count === 1 ? 300 : 9_000 } : {})),
    );
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeUndefined();
    expect(at - begunAt).toBe(300);
    expect(pod.sent.map(({ isCut }) => isCut)).toEqual([false, false, true]);
  });

  it('leaves no timer and no listener behind', async () => {
    const { clock, pod, bind, stop, fence } = bound(await binding(firstBinding({ loses: 'request' })));
    await bind();
    expect(pod.methods).toEqual(['POST', 'GET', 'POST']);
    fence.end('the test is over');
    expect(clock.untilNextTimer()).toBeUndefined();
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  it('ends at once when the scheduler stops, with every call that was sent for it', async () => {
    const hangs = { loses: 'request' } as const;
    const all = await binding((method) => (method === 'POST' ? hangs : {}));
    const { clock, pod, bind, stop, passes, fence } = bound(all);
    const ended = bind();
    await passes(2 * slowAfterMs);
    expect(pod.methods).toEqual(['POST', 'GET', 'POST', 'GET', 'POST']);
    stop.abort(new Error('stopping'));
    expect((await ended).error).toEqual(new Error('stopping'));
    expect(pod.sent.every(({ method, isCut }) => method === 'GET' || isCut)).toBe(true);
    fence.end('the test is over');
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('is in doubt for the Lease when the scheduler stops', async () => {
    const { fence, bind, stop, passes } = bound(await binding(firstBinding({ loses: 'request' })));
    const ended = bind();
    await passes(100);
    stop.abort(new Error('stopping'));
    await ended;
    expect(fence.hasBindInDoubt(1_000)).toBe(true);
  });
});

describe('what is found when a slow Binding is looked at', () => {
  it.each<[string, (pod: PodBehindALine) => void, unknown]>([
    [
      'it runs on another node',
      (pod) => (pod.nodeName = 'b'),
      new BoundElsewhereError('pod default/red-0 is already bound to node b'),
    ],
    [
      'another pod has its name',
      (pod) => (pod.uid = 'another'),
      new BoundElsewhereError('pod default/red-0 was deleted and made again meanwhile'),
    ],
    ['it is being deleted', (pod) => (pod.isLeaving = true), new PodLeavingError('pod default/red-0 is being deleted')],
    ['it is gone', (pod) => (pod.uid = undefined), expect.any(NotFoundError)],
  ])('%s: it fails at once, and is not sent again', async (_name, happens, expected) => {
    const { clock, pod, bind } = bound(await binding(slow));
    happens(pod);
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toEqual(expected);
    expect(at - begunAt).toBe(slowAfterMs);
    expect(pod.methods).toEqual(['POST', 'GET']);
  });

  it('nobody may look: it is sent again all the same, which does no harm', async () => {
    const { pod, bind } = bound(
      await binding((method, count) => (method === 'GET' ? { status: 403 } : count === 1 ? { loses: 'request' } : {})),
    );
    expect((await bind()).error).toBeUndefined();
    expect(pod.methods).toEqual(['POST', 'GET', 'POST']);
    expect(pod.nodeName).toBe('a');
  });
});

describe('a slow Binding whose repetition is rejected', () => {
  it('is a success when it is carried out after all', async () => {
    const { clock, pod, bind } = bound(
      await binding((method, count) => (method === 'POST' ? (count === 1 ? { thereMs: 8_000 } : { status: 403 }) : {})),
    );
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeUndefined();
    expect(at - begunAt).toBeLessThanOrEqual(8_000);
    expect(pod.nodeName).toBe('a');
  });

  it('fails when its own deadline has passed and the pod was found on no node after that, not before', async () => {
    const { clock, pod, bind } = bound(
      await binding((method, count) =>
        method === 'POST' ? (count === 1 ? { loses: 'request' } : { status: 403 }) : {},
      ),
    );
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeInstanceOf(ForbiddenError);
    expect(at - begunAt).toBeGreaterThanOrEqual(10_000);
    expect(pod.sent.some((call) => call.method === 'GET' && call.at >= begunAt + 10_000)).toBe(true);
  });

  it('is not given up when it is not to be sent again: its room stays taken until it is known what became of it', async () => {
    const { clock, pod, bind } = bound(await binding(slow));
    const begunAt = clock.monotonic();
    const { error } = await bind({
      mayBeSent: () => {
        if (clock.monotonic() > begunAt) throw new WithdrawnError('its group has gone');
      },
    });
    expect(error).toBeUndefined();
    expect(pod.methods.filter((method) => method === 'POST')).toHaveLength(1);
    expect(pod.nodeName).toBe('a');
  });

  it('ends with the process that leads no more', async () => {
    const { clock, bind, fence } = bound(await binding(firstBinding({ loses: 'request' })));
    const begunAt = clock.monotonic();
    clock.setTimer(100, () => fence.end('the Lease is lost'));
    const { error, at } = await bind();
    expect(error).toMatchObject({ name: 'NotLeadingError' });
    expect(at - begunAt).toBe(100);
  });
});

describe('a Binding whose connection breaks', () => {
  const rejected: PodBehindALine['journey'] = (method, count) =>
    method === 'POST' && count > 1 ? { status: 403 } : {};

  it('is a success when it is carried out later, though its repetition is rejected', async () => {
    const { pod, bind } = bound(
      await binding((method, count) =>
        method === 'POST' && count === 1 ? { thereMs: 6_000, breaksMs: 5 } : rejected(method, count),
      ),
    );
    expect((await bind()).error).toBeUndefined();
    expect(pod.nodeName).toBe('a');
  });

  it('fails when its deadline has passed and the pod was found on no node after that, not before', async () => {
    const { clock, pod, bind } = bound(
      await binding((method, count) =>
        method === 'POST' && count === 1 ? { loses: 'request', breaksMs: 5 } : rejected(method, count),
      ),
    );
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeInstanceOf(ForbiddenError);
    expect(at - begunAt).toBe(10_000);
    expect(pod.sent.at(-1)).toMatchObject({ method: 'GET', at });
  });

  it('is not given up when it is rejected, and then nobody may look: it is sent again until it is known to be done', async () => {
    const { clock, pod, bind } = bound(
      await binding((method, count) => {
        if (method === 'GET') return count > 1 ? { status: 403 } : {};
        return count === 1 ? { thereMs: 6_000, breaksMs: 5 } : count === 2 ? { status: 403 } : {};
      }),
    );
    const begunAt = clock.monotonic();
    expect((await bind()).error).toBeUndefined();
    expect(pod).toMatchObject({ nodeName: 'a', bound: 1 });
    expect(clock.monotonic() - begunAt).toBeLessThan(20_000);
  });

  it('fails at once when the pod has gone: nothing can be carried out any more', async () => {
    const { clock, pod, bind } = bound(await binding(firstBinding({ loses: 'request', breaksMs: 5 })));
    const begunAt = clock.monotonic();
    clock.setTimer(1, () => (pod.uid = undefined));
    const { error, at } = await bind();
    expect(error).toBeInstanceOf(NotFoundError);
    expect(at - begunAt).toBe(5);
  });
});

/** Many pods, each behind a line of its own, that one binder binds. */
class Crowd {
  readonly clock: TimedBinding['clock'];
  readonly pods: readonly PodBehindALine[];
  readonly #binder: ApiPodBinder;
  readonly #stop = new AbortController();

  constructor({ clock }: TimedBinding, size: number) {
    this.clock = clock;
    this.pods = Array.from({ length: size }, () => new PodBehindALine(clock));
    const podOf = (path: string): PodBehindALine => this.pods[Number(/red-(\d+)/.exec(path)![1])]!;
    const transport = {
      send: (...[request, signal]: Parameters<PodBehindALine['send']>) => podOf(request.path).send(request, signal),
      close: () => Promise.resolve(),
    };
    const client = new KubeClient({ transport, clock });
    this.#binder = new ApiPodBinder({ client, clock, random: seededRandom(1), logger: silentLogger });
  }

  /** Binds all, as many at a time as there are connections. */
  async bind(): Promise<void> {
    const waiting = this.pods.keys();
    const worker = async (): Promise<void> => {
      for (const index of waiting) await this.#binder.bind({ ...asked, name: `red-${index}` }, this.#stop.signal);
    };
    await Promise.all(Array.from({ length: 32 }, worker));
  }

  count(method: string): number {
    return this.pods.reduce((sum, { methods }) => sum + methods.filter((other) => other === method).length, 0);
  }
}

describe('an API server that is slow with everything', () => {
  it.each([400, 1_000, 3_000])('gets few more calls than without hedges: %d ms each', async (ms) => {
    const timed = new TimedBinding();
    const crowd = new Crowd(timed, 160);
    for (const pod of crowd.pods.slice(0, 64)) pod.journey = () => ({ thereMs: 10 });
    for (const pod of crowd.pods.slice(64)) pod.journey = () => ({ thereMs: ms });
    let isDone = false;
    void crowd.bind().then(() => (isDone = true));
    while (!isDone) await timed.passes(100);
    expect(crowd.pods.every(({ bound: times }) => times === 1)).toBe(true);
    expect(crowd.count('GET')).toBeGreaterThan(0);
    expect(crowd.count('POST') + crowd.count('GET')).toBeLessThan(160 * 1.25);
  });

  it('that answers nothing is asked eight times more, and not for each call', async () => {
    const timed = new TimedBinding();
    const crowd = new Crowd(timed, 64);
    for (const pod of crowd.pods.slice(0, 32)) pod.journey = () => ({ thereMs: 10 });
    for (const pod of crowd.pods.slice(32)) pod.journey = () => ({ loses: 'request' });
    void crowd.bind().catch(() => undefined);
    await timed.passes(1_200);
    expect(crowd.count('POST')).toBe(64);
    expect(crowd.count('GET')).toBe(8);
  });
});

describe('whatever happens on the way', () => {
  const journey: fc.Arbitrary<Journey> = fc.record(
    {
      thereMs: fc.constantFrom(0, 5, 300, 2_000, 9_900),
      backMs: fc.constantFrom(0, 5, 300, 8_000, 20_000),
      loses: fc.constantFrom('request', 'answer'),
      breaksMs: fc.constantFrom(1, 100, 1_000),
      status: fc.constantFrom(400, 403, 409, 422, 429, 500, 503),
    },
    { requiredKeys: [] },
  );
  const late = fc.record({ thereMs: fc.constantFrom(300, 2_000, 9_900), breaksMs: fc.constantFrom(1, 100) });
  const rejection = fc.record({ status: fc.constantFrom(403, 422) });
  const event = fc.record({
    ms: fc.constantFrom(1, 100, 260, 600, 3_000, 9_000),
    what: fc.constantFrom('withdrawn', 'deleted', 'madeAgain', 'leaving', 'boundElsewhere'),
  });

  it('a pod that was said not to be bound is never bound, and one that was said to be is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(journey, late, rejection), { maxLength: 8, size: 'max' }),
        fc.array(journey, { maxLength: 4 }),
        fc.option(event, { nil: undefined }),
        async (posts, gets, happens) => {
          const { clock, pod, bind, passes } = bound(
            await binding((method, count) => (method === 'POST' ? posts : gets)[count - 1] ?? {}),
          );
          let isWithdrawn = false;
          let isOurs = true;
          if (happens !== undefined) {
            clock.setTimer(happens.ms, () => {
              switch (happens.what) {
                case 'withdrawn':
                  isWithdrawn = true;
                  return;
                case 'deleted':
                  pod.uid = undefined;
                  isOurs = false;
                  return;
                case 'madeAgain':
                  pod.uid = 'another';
                  pod.nodeName = '';
                  isOurs = false;
                  return;
                case 'leaving':
                  pod.isLeaving = true;
                  return;
                case 'boundElsewhere':
                  if (pod.nodeName === '') pod.nodeName = 'b';
              }
            });
          }
          const { error } = await bind({
            mayBeSent: () => {
              if (isWithdrawn) throw new WithdrawnError('its group has gone');
            },
          });
          const boundThen = pod.bound;
          const wasOurs = isOurs;
          expect(clock.monotonic()).toBeLessThan(300_000);
          await passes(60_000);
          // Nobody may look, and a Binding is rejected: the watch shows which it is.
          const isBlind = gets.some(({ status }) => status !== undefined);
          if (error === undefined && wasOurs && !isBlind) expect(boundThen).toBe(1);
          if (error !== undefined && wasOurs) expect(pod.bound === 0 || !isOurs).toBe(true);
          expect(pod.bound).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('it fails with what the server said last, and a time-out where it said nothing', async () => {
    const { bind } = bound(await binding((method) => (method === 'POST' ? { loses: 'request' } : {})));
    expect((await bind()).error).toBeInstanceOf(TimeoutError);
  });
});

function bound(all: TimedBinding): Pick<TimedBinding, 'clock' | 'pod' | 'fence' | 'stop' | 'bind' | 'passes'> {
  const { clock, pod, fence, stop } = all;
  return { clock, pod, fence, stop, bind: (terms) => all.bind(terms), passes: (ms) => all.passes(ms) };
}
