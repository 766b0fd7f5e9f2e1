import { describe, expect, it } from 'vitest';
import { deferred } from '../../base/deferred.ts';
import type { Deferred } from '../../base/deferred.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { createMetricRegistry } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';
import { WorkQueueMetrics } from './work-queue-metrics.ts';
import { WorkQueue } from './work-queue.ts';
import type { Retry } from './work-queue.ts';

interface Fixture {
  readonly clock: VirtualClock;
  readonly queue: WorkQueue;
  readonly registry: MetricRegistry;
  /** Keys in the order in which workers took them. */
  readonly taken: string[];
  /** Jobs in progress, in the order of their start. */
  readonly work: Deferred<void>[];
  readonly retries: Retry[];
  readonly signals: AbortSignal[];
}

function fixture(workers = 1, maxBackoffMs = 1000): Fixture {
  const clock = new VirtualClock();
  const registry = createMetricRegistry({ processMetrics: false });
  const taken: string[] = [];
  const work: Deferred<void>[] = [];
  const retries: Retry[] = [];
  const signals: AbortSignal[] = [];
  const queue = new WorkQueue({
    name: 'test',
    clock,
    random: () => 1,
    workers,
    backoff: { initialMs: 100, maxMs: maxBackoffMs },
    process: (key, signal) => {
      taken.push(key);
      signals.push(signal);
      const job = deferred();
      work.push(job);
      return job.promise;
    },
    onRetry: (retry) => retries.push(retry),
    metrics: new WorkQueueMetrics(registry),
  });
  return { clock, queue, registry, taken, work, retries, signals };
}

/** Runs the reactions to everything that is settled. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

async function finish(job: Deferred<void> | undefined, error?: Error): Promise<void> {
  if (error === undefined) job!.resolve();
  else job!.reject(error);
  await settled();
}

/** Lets the first added key fail, back off and start again, five times. */
async function failFiveTimes({ clock, work, retries }: Fixture): Promise<void> {
  for (let failure = 0; failure < 5; failure++) {
    await finish(work[failure], new Error('no'));
    clock.advance(retries.at(-1)!.delayMs);
  }
}

describe('WorkQueue', () => {
  it('processes keys in order of arrival, and each only once even if added repeatedly', async () => {
    const { clock, queue, taken, work } = fixture();
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    expect(taken).toEqual([]);
    queue.start();
    for (let index = 0; index < 2; index++) await finish(work[index]);
    clock.advance(60_000);
    expect(taken).toEqual(['a', 'b']);
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('processes as many keys at once as it has workers, and never the same key twice at once', async () => {
    const { queue, taken, work } = fixture(2);
    queue.start();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    queue.add('a');
    expect(taken).toEqual(['a', 'b']);
    await finish(work[1]);
    expect(taken).toEqual(['a', 'b', 'c']);
    await finish(work[0]);
    expect(taken).toEqual(['a', 'b', 'c', 'a']);
  });

  it('processes a key again, after the delay, if it was added during processing', async () => {
    const { clock, queue, taken, work } = fixture();
    queue.start();
    queue.add('a');
    queue.add('a', 500);
    queue.add('a', 300);
    await finish(work[0]);
    clock.advance(299);
    expect(taken).toEqual(['a']);
    clock.advance(1);
    expect(taken).toEqual(['a', 'a']);
  });

  it('uses the earlier of two delays', () => {
    const { clock, queue, taken } = fixture();
    queue.start();
    queue.add('a', 500);
    queue.add('a', 100);
    queue.add('a', 900);
    clock.advance(99);
    expect(taken).toEqual([]);
    clock.advance(1);
    expect(taken).toEqual(['a']);
    clock.advance(2000);
    expect(taken).toEqual(['a']);
  });

  it('requeues a failed key with a delay that doubles up to its cap, and resets the delay after a success', async () => {
    const { clock, queue, retries, work } = fixture();
    queue.start();
    queue.add('a');
    for (let failure = 0; failure < 6; failure++) {
      await finish(work[failure], new Error(`failure ${failure}`));
      clock.advance(retries.at(-1)!.delayMs);
    }
    expect(retries.map((retry) => retry.delayMs)).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(retries.map((retry) => retry.failures)).toEqual([1, 2, 3, 4, 5, 6]);
    await finish(work[6]);
    queue.add('a');
    await finish(work[7], new Error('again'));
    expect(retries.at(-1)).toMatchObject({ failures: 1, delayMs: 100 });
  });

  it('shortens a backoff to one second, but no further, if the key is added', async () => {
    const failing = fixture(1, 30_000);
    const { clock, queue, taken, work, retries } = failing;
    queue.start();
    queue.add('a');
    await failFiveTimes(failing);
    await finish(work[5], new Error('no'));
    expect(retries.at(-1)!.delayMs).toBe(3_200);
    queue.add('a');
    clock.advance(500);
    queue.add('a', 100);
    clock.advance(499);
    expect(taken).toHaveLength(6);
    clock.advance(1);
    expect(taken).toHaveLength(7);
    clock.advance(60_000);
    expect(taken).toHaveLength(7);
  });

  it('does not change a backoff of less than a second', async () => {
    const { clock, queue, taken, work } = fixture();
    queue.start();
    queue.add('a');
    queue.add('a');
    await finish(work[0], new Error('no'));
    queue.add('a');
    clock.advance(99);
    expect(taken).toEqual(['a']);
    clock.advance(1);
    expect(taken).toEqual(['a', 'a']);
  });

  it('remembers an addition to a key that then fails', async () => {
    const failing = fixture(1, 30_000);
    const { clock, queue, taken, work } = failing;
    queue.start();
    queue.add('a');
    await failFiveTimes(failing);
    queue.add('a');
    await finish(work[5], new Error('no'));
    clock.advance(999);
    expect(taken).toHaveLength(6);
    clock.advance(1);
    expect(taken).toHaveLength(7);
  });

  it('is not blocked by a failing key', async () => {
    const { queue, taken, work } = fixture();
    queue.start();
    queue.add('a');
    queue.add('b');
    await finish(work[0], new Error('no'));
    expect(taken).toEqual(['a', 'b']);
  });

  it('aborts work in progress on stop, waits for its end, and starts nothing more', async () => {
    const { clock, queue, retries, signals, taken, work } = fixture();
    queue.start();
    for (const key of ['a', 'b']) queue.add(key);
    queue.add('c', 100);
    let stopped = false;
    const stopping = queue.stop().then(() => (stopped = true));
    expect(signals[0]!.aborted).toBe(true);
    await settled();
    expect(stopped).toBe(false);
    await finish(work[0], new Error('aborted'));
    await stopping;
    queue.add('d');
    clock.advance(1000);
    expect(taken).toEqual(['a']);
    expect(retries).toEqual([]);
  });

  it('exports its metrics under the names of Kubernetes controllers', async () => {
    const { clock, queue, registry, work } = fixture();
    queue.add('a');
    queue.add('b');
    expect(await registry.metrics()).toContain('workqueue_depth{name="test"} 2');
    clock.advance(2000);
    queue.start();
    await finish(work[0], new Error('no'));
    await finish(work[1]);
    const text = await registry.metrics();
    expect(text).toContain('workqueue_depth{name="test"} 0');
    expect(text).toContain('workqueue_adds_total{name="test"} 2');
    expect(text).toContain('workqueue_retries_total{name="test"} 1');
    expect(text).toContain('workqueue_queue_duration_seconds_sum{name="test"} 4');
    expect(text).toContain('workqueue_work_duration_seconds_count{name="test"} 2');
  });
});
