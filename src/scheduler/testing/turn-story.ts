import { setImmediate as turn } from 'node:timers/promises';
import type { Verdict } from '../../api/verdict.ts';
import { defaultReservations, defaultProfile } from '../../config/scheduler-configuration.ts';
import type { ReservationsConfiguration } from '../../config/scheduler-configuration.ts';
import { pluginRegistry } from '../../plugins/registry.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Queueing } from '../../testkit/queueing.ts';

export interface StoryPod extends PodOptions {
  /** How long the pod really runs, in seconds. Absent: until the test ends it. */
  readonly runs?: number;
}

/** Pods that run and end on a virtual clock, with reservations for predicted starts. Bindings succeed or fail at once. */
export class TurnStory {
  readonly queueing: Queueing;
  /** name of a pod -> second of the story at which it was bound */
  readonly started = new Map<string, number>();
  /** name of a pod -> its latest verdict */
  readonly verdicts = new Map<string, Verdict>();
  /** Names of pods whose Bindings fail. */
  readonly failing = new Set<string>();
  readonly #runs = new Map<string, number>();
  readonly #bound: { readonly name: string; readonly nodeName: string }[] = [];
  readonly #begunAt: number;

  /** `listing`: the core has not started; everything until `start` is the initial list. */
  constructor(reservations: Partial<ReservationsConfiguration> = {}, phase: 'listing' | 'running' = 'running') {
    const profile = {
      ...defaultProfile('default-scheduler'),
      reservations: { ...defaultReservations, ...reservations },
    };
    this.queueing = new Queueing(
      {
        plugins: [],
        setup: { profiles: [profile], plugins: pluginRegistry },
        binder: {
          bind: ({ name, nodeName }) => {
            if (this.failing.has(name)) return Promise.reject(new Error('the Binding failed'));
            this.#bound.push({ name, nodeName });
            return Promise.resolve();
          },
        },
        ports: {
          verdicts: {
            write: ({ name }, verdict) => {
              this.verdicts.set(name, verdict);
              return Promise.resolve('written');
            },
          },
          events: { record: () => undefined },
        },
      },
      phase,
    );
    this.#begunAt = this.#clock.now();
  }

  get #clock(): Queueing['harness']['clock'] {
    return this.queueing.harness.clock;
  }

  /** Seconds since the beginning. */
  get now(): number {
    return Math.round((this.#clock.now() - this.#begunAt) / 1000);
  }

  /** Adds a node with this many CPUs. */
  node(name: string, cpu: number, labels: Readonly<Record<string, string>> = {}): void {
    this.queueing.node({ name, cpu, memory: '64Gi', labels });
  }

  /** Adds a pod, by default with one CPU. If it names a node, it runs there from now on. */
  pod(name: string, { runs, ...options }: StoryPod = {}): void {
    if (runs !== undefined) this.#runs.set(name, runs);
    this.queueing.pod({ cpu: 1, name, createdAt: this.#clock.now(), ...options });
    if (options.nodeName !== undefined) this.#runOn(name, options.nodeName);
  }

  /** Adds a gang that needs all its members. */
  gang(name: string, size: number, options: StoryPod = {}): void {
    this.queueing.group({ name, minMember: size, createdAt: this.#clock.now() });
    for (let i = 0; i < size; i++) this.pod(`${name}-${i}`, { group: name, ...options });
  }

  /** Ends a pod. */
  ends(name: string): void {
    this.#runs.delete(name);
    this.queueing.change(name, { phase: 'Succeeded' });
    this.queueing.removePod(name);
  }

  /** Returns node -> names of the pods for which its capacity is reserved until a predicted start. */
  get reserved(): Record<string, string[]> {
    const byNode: Record<string, string[]> = {};
    for (const { kind, owner, nodeName } of this.queueing.harness.cluster.reservations())
      if (kind === 'backfill') (byNode[nodeName] ??= []).push(owner.name);
    for (const names of Object.values(byNode)) names.sort();
    return byNode;
  }

  /** Returns the second of the story at which the pod is predicted to start. */
  predictedStartOf(name: string): number | undefined {
    const at = this.queueing.harness.core.verdictOf(name)?.predictedStart?.at;
    return at === undefined ? undefined : Math.round((at - this.#begunAt) / 1000);
  }

  /** Runs everything that waits for no timer. */
  async run(): Promise<void> {
    const { core } = this.queueing.harness;
    for (let quiet = 0; quiet < 3; quiet++) {
      while (core.attempt() !== undefined) quiet = 0;
      for (const { name, nodeName } of this.#bound.splice(0)) {
        quiet = 0;
        this.queueing.change(name, { nodeName });
        this.#runOn(name, nodeName);
      }
      await turn();
    }
  }

  /** Runs for this many seconds. */
  async after(seconds: number): Promise<void> {
    await this.run();
    const until = this.#clock.monotonic() + seconds * 1000;
    while (this.#clock.monotonic() < until) {
      const left = until - this.#clock.monotonic();
      this.#clock.advance(Math.min(left, this.#clock.untilNextTimer() ?? left));
      await this.run();
    }
  }

  #runOn(name: string, nodeName: string): void {
    this.started.set(name, this.now);
    this.queueing.change(name, { nodeName, phase: 'Running', startedAt: Math.round(this.#clock.now() / 1000) });
    const seconds = this.#runs.get(name);
    if (seconds === undefined) return;
    this.#clock.setTimer(seconds * 1000, () => {
      if (this.#runs.has(name)) this.ends(name);
    });
  }
}

/** Two nodes of 4 CPUs, one of them full until second 600, and gang `big`, which needs both, was ready at second 0 and has its turn. */
export async function bigGangWaits(): Promise<TurnStory> {
  const story = new TurnStory();
  story.node('a', 4);
  story.node('b', 4);
  story.pod('old', { nodeName: 'a', cpu: 4, runtime: '600s', runs: 600 });
  story.gang('big', 2, { cpu: 4 });
  await story.after(61);
  return story;
}
