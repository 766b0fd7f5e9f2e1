import process from 'node:process';
import { defaultReservations } from '../../src/config/scheduler-configuration.ts';
import { simulationAnnotations } from '../../src/plane/nodes/simulation-annotations.ts';
import { expectBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { hangsMs } from '../planes/patience.ts';
import { declared } from './backfill-stage.ts';
import { cpus } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** With the stream below, more than fits on 16 CPUs. */
const streamLength = 24;
/** What its pods declare, in seconds: more than they take on a busy machine. A pod that overruns is expected to run for half a minute more. */
const runtime = 10;
const reservations = { ...defaultReservations, reserveAfterMs: 1_000 };

/** A gang that needs the whole cluster, while pods with one CPU and of the same priority keep coming. */
export const backfillStreams = {
  BF1: scenario('BF1 - a gang of 64 behind a stream of small pods starts by its predicted start', async (stage) => {
    await stage.addSimulatedNodes(...['a', 'b', 'c', 'd'].map((name) => cpus(name, 16)));
    await stage.startController();
    const stream = new PodStream(stage, 88);
    await stage.startScheduler({ reservations });
    await stream.start();
    const group = await stage.createGroup('gang', { minMember: 64 });
    const gang = await Promise.all(
      Array.from({ length: 64 }, (_, index) => stage.createPod(`gang-${index}`, { group: 'gang', cpu: 1 })),
    );
    let predicted = NaN;
    await stage.record.until('the gang has a predicted start', hangsMs, () => {
      predicted = Date.parse(stage.record.podGroups.current.get(group)?.status?.predictedStartTime ?? '');
      return predicted > 0 ? undefined : `${stream.bound} pods of the stream are bound`;
    });
    await expectBound(stage.record, gang);
    // The time of a busy machine between the end of a pod and the last of 64 bindings.
    const lateMs = Date.now() - predicted;
    if (lateMs > 20_000) throw new Error(`the gang started ${lateMs} ms after its predicted start`);
    await stream.stop();
  }),

  'starved-gang': scenario(
    'a gang of four that younger small pods pass over starts once reservations are enabled',
    async (stage) => {
      await stage.addSimulatedNodes(...['a', 'b', 'c', 'd'].map((name) => cpus(name, 4)));
      const stream = new PodStream(stage, streamLength);
      const without = await stage.startScheduler();
      await stream.start();
      await stage.createGroup('gang', { minMember: 4 });
      const gang = await stage.createPods('gang', 4, { group: 'gang', cpu: 4 });
      await expectVerdict(stage.record, gang, { reason: 'Unschedulable' });
      const before = stream.bound;
      await stage.record.until('60 younger pods are bound', hangsMs, () =>
        stream.bound >= before + 60 ? undefined : `${stream.bound - before} are`,
      );
      expectNeverBound(stage.record, gang);
      await without.stop();
      await stage.startScheduler({ reservations });
      const [enabledAt, passed] = [performance.now(), stream.bound];
      await expectBound(stage.record, gang);
      const seconds = ((performance.now() - enabledAt) / 1_000).toFixed(1);
      process.stderr.write(
        `\n${stage.plane.name}: 60 younger pods passed the gang of four without reservations; ` +
          `with them, it started after ${seconds} s and ${stream.bound - passed} pods\n`,
      );
      await stream.stop();
    },
  ),
} as const;

/** Pods of one CPU that run for about a second, on simulated nodes. Whenever one ends, it creates another. */
class PodStream {
  readonly #stage: Stage;
  readonly #length: number;
  readonly #pods: string[] = [];
  #ended = 0;
  #bound = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  /** `length`: number of pods that wait or run at any time. */
  constructor(stage: Stage, length: number) {
    this.#stage = stage;
    this.#length = length;
  }

  /** Number of pods so far that were bound. */
  get bound(): number {
    const { record } = this.#stage;
    while (this.#bound < this.#pods.length && nodeOf(record, this.#pods[this.#bound]!) !== undefined) this.#bound++;
    return this.#bound;
  }

  /** Resolves when the first pods are bound. */
  async start(): Promise<void> {
    this.#running = this.#run();
    await this.#stage.record.until('the first pods are bound', hangsMs, () =>
      this.bound > 0 ? undefined : 'none is yet',
    );
  }

  /** Stops creating pods. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { record } = this.#stage;
    while (!this.#stopped) {
      while (this.#pods.length < this.#ended + this.#length) await this.#create();
      await record
        .until('a pod ends', 1_000, () => {
          this.#ended = this.#pods.filter((key) => record.pods.current.get(key)?.status?.phase === 'Succeeded').length;
          return this.#pods.length < this.#ended + this.#length ? undefined : 'none has ended';
        })
        // Once the gang runs, none ends any more.
        .catch(() => undefined);
    }
  }

  async #create(): Promise<void> {
    const index = this.#pods.length;
    // Pods that end at the same time would free the whole cluster at once.
    const runs = `${500 + (index % 8) * 100}ms`;
    const annotations = { [simulationAnnotations.runDuration]: runs };
    this.#pods.push(await this.#stage.createPod(`small-${index}`, declared({ cpu: 1, runtime, annotations })));
  }
}
