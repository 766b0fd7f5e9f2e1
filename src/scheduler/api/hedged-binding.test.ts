import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { ForbiddenError, NotFoundError, TimeoutError, WithdrawnError } from '../../client/api-errors.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { ApiPodBinder } from './api-pod-binder.ts';
import { BoundElsewhereError, PodLeavingError } from './bind-read-back.ts';
import { SlowPodServer } from './testing/slow-pod-server.ts';
import type { CallBehavior } from './testing/slow-pod-server.ts';
import { requested, TimedBinding } from './testing/timed-binding.ts';

/** When a hanging call is noticed: the minimum threshold, at the next tick. */
const slowAfterMs = 250;

/** A binder that has just bound other pods in 10 ms each. */
async function binding(behavior: SlowPodServer['behavior']): Promise<TimedBinding> {
  const all = new TimedBinding();
  await all.bindOthers(8);
  all.pod.behavior = behavior;
  return all;
}

/** The first Binding behaves like this; all other calls are fast. */
function firstBinding(behavior: CallBehavior): SlowPodServer['behavior'] {
  return (method, count) => (method === 'POST' && count === 1 ? behavior : {});
}

const slow = firstBinding({ requestMs: 8_000 });

describe('a Binding that takes far longer than others', () => {
  it('is sent again on another connection if a read shows the pod as not bound; the first call is aborted', async () => {
    const { clock, pod, bind, passes, fence } = bound(await binding(slow));
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeUndefined();
    expect(at - begunAt).toBe(slowAfterMs);
    expect(pod.sent.map(({ method, connection, isAborted }) => ({ method, connection, isAborted }))).toEqual([
      { method: 'POST', connection: 'call', isAborted: true },
      { method: 'GET', connection: 'spare', isAborted: false },
      { method: 'POST', connection: 'spare', isAborted: false },
    ]);
    await passes(10_000);
    expect(pod).toMatchObject({ nodeName: 'a', bound: 1 });
    expect(fence.hasBindInDoubt(60_000)).toBe(false);
  });

  it('is not sent again if it took effect and only its response is slow', async () => {
    const { pod, bind } = bound(await binding(firstBinding({ responseMs: 8_000 })));
    expect((await bind()).error).toBeUndefined();
    expect(pod.methods).toEqual(['POST', 'GET']);
  });

  it('is read back from the stored state: the request has no resourceVersion that a cache may serve', async () => {
    const { pod, bind } = bound(await binding(slow));
    await bind();
    expect(pod.sent[1]!.path).toBe('/api/v1/namespaces/default/pods/red-0');
  });

  it('is sent a third time if the second call hangs as well', async () => {
    const hangs = { loses: 'request' } as const;
    const { clock, pod, bind } = bound(await binding((method, count) => (method === 'POST' && count < 3 ? hangs : {})));
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeUndefined();
    expect(at - begunAt).toBe(2 * slowAfterMs);
    expect(pod.methods).toEqual(['POST', 'GET', 'POST', 'GET', 'POST']);
  });

  it('succeeds with the first successful response, even that of the first call', async () => {
    const { clock, pod, bind } = bound(
      await binding((method, count) => (method === 'POST' ? { requestMs: count === 1 ? 300 : 9_000 } : {})),
    );
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeUndefined();
    expect(at - begunAt).toBe(300);
    expect(pod.sent.map(({ isAborted }) => isAborted)).toEqual([false, false, true]);
  });

  it('leaves no timer and no listener behind', async () => {
    const { clock, pod, bind, stop, fence } = bound(await binding(firstBinding({ loses: 'request' })));
    await bind();
    expect(pod.methods).toEqual(['POST', 'GET', 'POST']);
    fence.end('the test is over');
    expect(clock.untilNextTimer()).toBeUndefined();
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  it('ends with all its calls when the scheduler stops', async () => {
    const hangs = { loses: 'request' } as const;
    const all = await binding((method) => (method === 'POST' ? hangs : {}));
    const { clock, pod, bind, stop, passes, fence } = bound(all);
    const ended = bind();
    await passes(2 * slowAfterMs);
    expect(pod.methods).toEqual(['POST', 'GET', 'POST', 'GET', 'POST']);
    stop.abort(new Error('stopping'));
    expect((await ended).error).toEqual(new Error('stopping'));
    expect(pod.sent.every(({ method, isAborted }) => method === 'GET' || isAborted)).toBe(true);
    fence.end('the test is over');
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('keeps the Lease from being released when the scheduler stops', async () => {
    const { fence, bind, stop, passes } = bound(await binding(firstBinding({ loses: 'request' })));
    const ended = bind();
    await passes(100);
    stop.abort(new Error('stopping'));
    await ended;
    expect(fence.hasBindInDoubt(1_000)).toBe(true);
  });
});

describe('the read of a slow Binding', () => {
  it.each<[string, (pod: SlowPodServer) => void, unknown]>([
    [
      'the pod is bound to another node',
      (pod) => (pod.nodeName = 'b'),
      new BoundElsewhereError('pod default/red-0 is already bound to node b'),
    ],
    [
      'the pod was recreated',
      (pod) => (pod.uid = 'another'),
      new BoundElsewhereError('pod default/red-0 was deleted and recreated'),
    ],
    [
      'the pod is being deleted',
      (pod) => (pod.isLeaving = true),
      new PodLeavingError('pod default/red-0 is being deleted'),
    ],
    ['the pod is gone', (pod) => (pod.uid = undefined), expect.any(NotFoundError)],
  ])('fails the binding at once if %s', async (_name, prepare, expected) => {
    const { clock, pod, bind } = bound(await binding(slow));
    prepare(pod);
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toEqual(expected);
    expect(at - begunAt).toBe(slowAfterMs);
    expect(pod.methods).toEqual(['POST', 'GET']);
  });

  it('is followed by another Binding if it is forbidden, which is harmless', async () => {
    const { pod, bind } = bound(
      await binding((method, count) => (method === 'GET' ? { status: 403 } : count === 1 ? { loses: 'request' } : {})),
    );
    expect((await bind()).error).toBeUndefined();
    expect(pod.methods).toEqual(['POST', 'GET', 'POST']);
    expect(pod.nodeName).toBe('a');
  });
});

describe('a slow Binding whose repetition is rejected', () => {
  it('succeeds if it takes effect after all', async () => {
    const { clock, pod, bind } = bound(
      await binding((method, count) =>
        method === 'POST' ? (count === 1 ? { requestMs: 8_000 } : { status: 403 }) : {},
      ),
    );
    const begunAt = clock.monotonic();
    const { error, at } = await bind();
    expect(error).toBeUndefined();
    expect(at - begunAt).toBeLessThanOrEqual(8_000);
    expect(pod.nodeName).toBe('a');
  });

  it('fails only once its deadline has passed and a later read shows the pod as not bound', async () => {
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

  it('stays in progress until its outcome is known, even if the repetition must not be sent', async () => {
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

  it('ends when the process is no longer the leader', async () => {
    const { clock, bind, fence } = bound(await binding(firstBinding({ loses: 'request' })));
    const begunAt = clock.monotonic();
    clock.setTimer(100, () => fence.end('the Lease is lost'));
    const { error, at } = await bind();
    expect(error).toMatchObject({ name: 'NotLeadingError' });
    expect(at - begunAt).toBe(100);
  });
});

describe('a Binding whose connection breaks', () => {
  const rejected: SlowPodServer['behavior'] = (method, count) =>
    method === 'POST' && count > 1 ? { status: 403 } : {};

  it('succeeds if it takes effect later, even if its repetition is rejected', async () => {
    const { pod, bind } = bound(
      await binding((method, count) =>
        method === 'POST' && count === 1 ? { requestMs: 6_000, breaksMs: 5 } : rejected(method, count),
      ),
    );
    expect((await bind()).error).toBeUndefined();
    expect(pod.nodeName).toBe('a');
  });

  it('fails only once its deadline has passed and a later read shows the pod as not bound', async () => {
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

  it('is repeated until its outcome is known if a repetition is rejected and reads are forbidden', async () => {
    const { clock, pod, bind } = bound(
      await binding((method, count) => {
        if (method === 'GET') return count > 1 ? { status: 403 } : {};
        return count === 1 ? { requestMs: 6_000, breaksMs: 5 } : count === 2 ? { status: 403 } : {};
      }),
    );
    const begunAt = clock.monotonic();
    expect((await bind()).error).toBeUndefined();
    expect(pod).toMatchObject({ nodeName: 'a', bound: 1 });
    expect(clock.monotonic() - begunAt).toBeLessThan(20_000);
  });

  it('fails at once if the pod is gone, because nothing can take effect any more', async () => {
    const { clock, pod, bind } = bound(await binding(firstBinding({ loses: 'request', breaksMs: 5 })));
    const begunAt = clock.monotonic();
    clock.setTimer(1, () => (pod.uid = undefined));
    const { error, at } = await bind();
    expect(error).toBeInstanceOf(NotFoundError);
    expect(at - begunAt).toBe(5);
  });
});

/** Many pods, each behind its own connection, bound by one binder. */
class ManyPods {
  readonly clock: TimedBinding['clock'];
  readonly pods: readonly SlowPodServer[];
  readonly #binder: ApiPodBinder;
  readonly #stop = new AbortController();

  constructor({ clock }: TimedBinding, size: number) {
    this.clock = clock;
    this.pods = Array.from({ length: size }, () => new SlowPodServer(clock));
    const podOf = (path: string): SlowPodServer => this.pods[Number(/red-(\d+)/.exec(path)![1])]!;
    const transport = {
      send: (...[request, signal]: Parameters<SlowPodServer['send']>) => podOf(request.path).send(request, signal),
      close: () => Promise.resolve(),
    };
    const client = new KubeClient({ transport, clock });
    this.#binder = new ApiPodBinder({ client, clock, random: seededRandom(1), logger: silentLogger });
  }

  /** Binds all pods, as many at a time as there are connections. */
  async bind(): Promise<void> {
    const waiting = this.pods.keys();
    const worker = async (): Promise<void> => {
      for (const index of waiting) await this.#binder.bind({ ...requested, name: `red-${index}` }, this.#stop.signal);
    };
    await Promise.all(Array.from({ length: 32 }, worker));
  }

  count(method: string): number {
    return this.pods.reduce((sum, { methods }) => sum + methods.filter((other) => other === method).length, 0);
  }
}

describe('an API server that is slow for all calls', () => {
  it.each([400, 1_000, 3_000])('gets few additional calls: %d ms each', async (ms) => {
    const timed = new TimedBinding();
    const many = new ManyPods(timed, 160);
    for (const pod of many.pods.slice(0, 64)) pod.behavior = () => ({ requestMs: 10 });
    for (const pod of many.pods.slice(64)) pod.behavior = () => ({ requestMs: ms });
    let isDone = false;
    void many.bind().then(() => (isDone = true));
    while (!isDone) await timed.passes(100);
    expect(many.pods.every(({ bound: times }) => times === 1)).toBe(true);
    expect(many.count('GET')).toBeGreaterThan(0);
    expect(many.count('POST') + many.count('GET')).toBeLessThan(160 * 1.25);
  });

  it('gets eight additional calls if it never responds, not one per call', async () => {
    const timed = new TimedBinding();
    const many = new ManyPods(timed, 64);
    for (const pod of many.pods.slice(0, 32)) pod.behavior = () => ({ requestMs: 10 });
    for (const pod of many.pods.slice(32)) pod.behavior = () => ({ loses: 'request' });
    void many.bind().catch(() => undefined);
    await timed.passes(1_200);
    expect(many.count('POST')).toBe(64);
    expect(many.count('GET')).toBe(8);
  });
});

describe('whatever happens to the calls', () => {
  const behavior: fc.Arbitrary<CallBehavior> = fc.record(
    {
      requestMs: fc.constantFrom(0, 5, 300, 2_000, 9_900),
      responseMs: fc.constantFrom(0, 5, 300, 8_000, 20_000),
      loses: fc.constantFrom('request', 'response'),
      breaksMs: fc.constantFrom(1, 100, 1_000),
      status: fc.constantFrom(400, 403, 409, 422, 429, 500, 503),
    },
    { requiredKeys: [] },
  );
  const late = fc.record({ requestMs: fc.constantFrom(300, 2_000, 9_900), breaksMs: fc.constantFrom(1, 100) });
  const rejection = fc.record({ status: fc.constantFrom(403, 422) });
  const event = fc.record({
    ms: fc.constantFrom(1, 100, 260, 600, 3_000, 9_000),
    what: fc.constantFrom('withdrawn', 'deleted', 'recreated', 'leaving', 'boundElsewhere'),
  });

  it('a binding that fails never takes effect, and one that succeeds has', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(behavior, late, rejection), { maxLength: 8, size: 'max' }),
        fc.array(behavior, { maxLength: 4 }),
        fc.option(event, { nil: undefined }),
        async (posts, gets, change) => {
          const { clock, pod, bind, passes } = bound(
            await binding((method, count) => (method === 'POST' ? posts : gets)[count - 1] ?? {}),
          );
          let isWithdrawn = false;
          let isOurs = true;
          if (change !== undefined) {
            clock.setTimer(change.ms, () => {
              switch (change.what) {
                case 'withdrawn':
                  isWithdrawn = true;
                  return;
                case 'deleted':
                  pod.uid = undefined;
                  isOurs = false;
                  return;
                case 'recreated':
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
          // With forbidden reads, a repeated conflict counts as success: the watch shows the actual node.
          const isBlind = gets.some(({ status }) => status !== undefined);
          if (error === undefined && wasOurs && !isBlind) expect(boundThen).toBe(1);
          if (error !== undefined && wasOurs) expect(pod.bound === 0 || !isOurs).toBe(true);
          expect(pod.bound).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('a binding fails with the last error of the server, or with a timeout', async () => {
    const { bind } = bound(await binding((method) => (method === 'POST' ? { loses: 'request' } : {})));
    expect((await bind()).error).toBeInstanceOf(TimeoutError);
  });
});

function bound(all: TimedBinding): Pick<TimedBinding, 'clock' | 'pod' | 'fence' | 'stop' | 'bind' | 'passes'> {
  const { clock, pod, fence, stop } = all;
  return { clock, pod, fence, stop, bind: (terms) => all.bind(terms), passes: (ms) => all.passes(ms) };
}
