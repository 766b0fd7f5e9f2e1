import { setImmediate as turn } from 'node:timers/promises';
import { defaultPlugins, pluginRegistry } from '../../src/plugins/registry.ts';
import { defaultReservations } from '../../src/config/scheduler-configuration.ts';
import { Queueing } from '../../src/testkit/queueing.ts';
import type { DayProgress, DayScheduler } from './day-scheduler.ts';
import { cluster } from './job.ts';
import type { Job } from './job.ts';

const gpu = 'nvidia.com/gpu';

/** Where pods go: to the nodes with the most free resources, as by default, or to those with the fewest free GPUs. */
export type Scoring = 'spread' | 'pack';

const packing = { scoringStrategy: { type: 'MostAllocated', resources: [{ name: gpu, weight: 1 }] } };

/** Tutti's scheduler core with its default plugins, on a virtual clock. Every Binding succeeds at once. */
export class Tutti implements DayScheduler {
  readonly #scheduler: Queueing;
  /** Pods whose Bindings were sent: their watch events are next. */
  readonly #bound: { readonly name: string; readonly nodeName: string }[] = [];
  /** name of a member -> its job */
  readonly #jobOf = new Map<string, Job>();
  /** id of a job -> members that are not bound yet */
  readonly #unbound = new Map<number, number>();
  /** Milliseconds since the epoch at the start of the day. */
  readonly #epoch: number;
  /** Jobs that are planned but not bound yet. */
  #inFlight = 0;
  #started: Job[] = [];
  readonly #hasReservations: boolean;
  /** job -> the start that was predicted first, in milliseconds from the start of the day */
  readonly #predicted = new Map<Job, number>();

  constructor(scoring: Scoring, { hasReservations = false }: { readonly hasReservations?: boolean } = {}) {
    this.#hasReservations = hasReservations;
    const plugins = defaultPlugins.map((plugin) =>
      scoring === 'pack' && plugin.name === 'NodeResourcesFit' ? { ...plugin, args: packing } : plugin,
    );
    this.#scheduler = new Queueing({
      plugins: [],
      setup: {
        profiles: [
          {
            schedulerName: 'default-scheduler',
            plugins,
            ...(hasReservations && { reservations: defaultReservations }),
          },
        ],
        plugins: pluginRegistry,
      },
      binder: {
        bind: ({ name, nodeName }) => {
          this.#bound.push({ name, nodeName });
          return Promise.resolve();
        },
      },
      ports: {
        verdicts: {
          write: ({ name }, { predictedStart }) => {
            const job = this.#jobOf.get(name);
            if (job !== undefined && predictedStart?.at !== undefined && !this.#predicted.has(job))
              this.#predicted.set(job, predictedStart.at - this.#epoch);
            return Promise.resolve('written');
          },
        },
        events: { record: () => undefined },
      },
    });
    this.#epoch = this.#scheduler.harness.clock.now();
    const resources = { cpu: 128, memory: '1Ti', allocatable: { [gpu]: cluster.gpusPerNode } };
    for (let i = 0; i < cluster.nodes; i++) this.#scheduler.node({ name: `node-${i}`, ...resources });
  }

  submit(job: Job): void {
    const group = job.members > 1 ? { group: groupOf(job) } : {};
    if (job.members > 1) this.#scheduler.group({ name: groupOf(job), minMember: job.members });
    this.#unbound.set(job.id, job.members);
    for (const name of membersOf(job)) {
      this.#jobOf.set(name, job);
      this.#scheduler.pod({
        ...{ name, ...group, cpu: job.gpus, memory: '1Gi', requests: { [gpu]: job.gpus } },
        ...(this.#hasReservations && {
          job: `job-${job.id}`,
          runtime: `${Math.ceil(job.declaredMs / 1000)}s`,
          createdAt: this.#scheduler.harness.clock.now(),
        }),
      });
    }
  }

  ended(job: Job): void {
    for (const name of membersOf(job)) {
      this.#jobOf.delete(name);
      this.#scheduler.change(name, { phase: 'Succeeded' });
    }
    for (const name of membersOf(job)) this.#scheduler.removePod(name);
    if (job.members > 1) this.#scheduler.removeGroup(`default/${groupOf(job)}`);
  }

  /** Returns when the job was first predicted to start, in milliseconds from the start of the day. */
  predictedStartOf(job: Job): number | undefined {
    return this.#predicted.get(job);
  }

  async runUntil(time: number): Promise<DayProgress> {
    const { clock } = this.#scheduler.harness;
    for (;;) {
      await this.#untilIdle();
      const now = clock.monotonic();
      if (this.#started.length > 0 || now >= time) return { now, started: this.#started.splice(0) };
      clock.advance(Math.min(time - now, clock.untilNextTimer() ?? Infinity));
    }
  }

  /** Runs everything that waits for no timer. The binding cycle of a large gang takes several turns. */
  async #untilIdle(): Promise<void> {
    const { core } = this.#scheduler.harness;
    for (let quiet = 0; quiet < 2 || this.#inFlight > 0; quiet++) {
      for (let result = core.attempt(); result !== undefined; result = core.attempt()) {
        quiet = 0;
        if (result.kind === 'planned') this.#inFlight++;
      }
      for (const { name, nodeName } of this.#bound.splice(0)) {
        const startedAt = Math.ceil(this.#scheduler.harness.clock.now() / 1000);
        this.#scheduler.change(name, { nodeName, phase: 'Running', startedAt });
        this.#countBound(this.#jobOf.get(name)!);
      }
      await turn();
    }
  }

  #countBound(job: Job): void {
    const left = this.#unbound.get(job.id)! - 1;
    if (left > 0) {
      this.#unbound.set(job.id, left);
      return;
    }
    this.#unbound.delete(job.id);
    this.#inFlight--;
    this.#started.push(job);
  }
}

function groupOf({ id }: Job): string {
  return `job-${id}`;
}

function membersOf(job: Job): string[] {
  return Array.from({ length: job.members }, (_, i) => `${groupOf(job)}-${i}`);
}
