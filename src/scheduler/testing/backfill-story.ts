import { defaultReservations } from '../../config/scheduler-configuration.ts';
import type { ReservationsConfiguration } from '../../config/scheduler-configuration.ts';
import type { Pod } from '../../api/pod.ts';
import { defaultPlugins, pluginRegistry } from '../../plugins/registry.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { CycleResult } from '../cycle/cycle-result.ts';

export interface BackfillStoryOptions extends Partial<ReservationsConfiguration> {
  /** Names of further profiles, without reservations. */
  readonly without?: readonly string[];
  /** Time from a pod's Binding until its kubelet reports that it runs. */
  readonly startupMs?: number;
  /** Work of one step of an attempt. Default: attempts do not pause. */
  readonly work?: number;
  readonly plugins?: typeof defaultPlugins;
  /** Called between two steps of an attempt. */
  readonly paused?: (story: BackfillStory) => void;
  /** Whether the next Binding of this pod fails. Default: none does. */
  readonly bindFails?: (name: string) => boolean;
}

/** A scheduler that reserves capacity until a predicted start, and kubelets that start pods and end them when the test says so. */
export class BackfillStory {
  readonly core: Scheduling;
  /** Number of pods that were bound, or began on a node. */
  started = 0;
  /** Number of attempts, by result. */
  readonly results: Partial<Record<CycleResult['kind'] | 'paused', number>> = {};
  readonly #options: BackfillStoryOptions;
  /** name -> pod on a node */
  readonly #running = new Map<string, Pod>();
  /** uid -> when the kubelet will report the start, in milliseconds since the epoch */
  readonly #starting = new Map<string, number>();
  /** name -> when the pod will end, in milliseconds since the epoch */
  readonly #ends = new Map<string, number>();
  /** name -> how long it will run */
  readonly #lengths = new Map<string, number>();

  constructor(options: BackfillStoryOptions = {}) {
    this.#options = options;
    const {
      without = [],
      startupMs: _startup,
      work: _work,
      plugins = defaultPlugins,
      paused: _paused,
      bindFails: _bindFails,
      ...reservations
    } = options;
    this.core = new Scheduling({
      plugins: [],
      setup: {
        profiles: [
          { schedulerName: 'default-scheduler', plugins, reservations: { ...defaultReservations, ...reservations } },
          ...without.map((schedulerName) => ({ schedulerName, plugins })),
        ],
        plugins: pluginRegistry,
      },
    });
  }

  get now(): number {
    return this.core.harness.clock.now();
  }

  /** Adds a pod of one core that will run for `runs` seconds once it has started; default: until `end`. */
  pod(name: string, options: PodOptions = {}, runs?: number): Pod {
    if (runs !== undefined) this.#lengths.set(name, runs * 1000);
    const pod = this.core.pod({ name, cpu: 1, createdAt: this.now, ...options });
    if (pod.nodeName !== '') this.#started(pod);
    return pod;
  }

  /** Adds a pod that has run on the node for `since` seconds. */
  running(name: string, nodeName: string, options: PodOptions = {}, runs?: number): void {
    this.pod(name, { nodeName, ...options }, runs);
  }

  gang(name: string, count: number, options: PodOptions = {}, runs?: number): void {
    this.core.group({ name, minMember: count });
    for (let i = 0; i < count; i++) this.pod(`${name}-${i}`, { group: name, ...options }, runs);
  }

  /** Another scheduler binds the pod. */
  boundElsewhere(name: string, nodeName: string): void {
    this.#started(this.core.change(name, { nodeName, nominatedNodeName: '' }));
  }

  end(name: string): void {
    this.#ends.delete(name);
    this.#running.delete(name);
    this.core.change(name, { phase: 'Succeeded' });
    this.core.removePod(name);
  }

  remove(name: string): void {
    this.#running.delete(name);
    this.#ends.delete(name);
    this.core.removePod(name);
  }

  /** Makes attempts until none is due, and binds what was planned. */
  async run(): Promise<void> {
    const { core } = this.core.harness;
    for (let quiet = 0; quiet < 2; quiet++) {
      for (let result = this.#attempt(); result !== undefined; result = this.#attempt()) {
        this.results[result.kind] = (this.results[result.kind] ?? 0) + 1;
        quiet = 0;
        if (result.kind === 'planned') await this.#bindAll();
        if (result.kind === 'paused') this.#options.paused?.(this);
      }
      await this.#bindAll();
    }
    if (core.isSettling) throw new Error('the core does not settle');
  }

  /** Lets time pass in steps of at most `step` seconds; pods start and end in between. `each`: called in each step. */
  async pass(seconds: number, each?: () => void, step = 5): Promise<void> {
    const { clock } = this.core.harness;
    const until = this.now + seconds * 1000;
    await this.run();
    while (this.now < until) {
      clock.advance(Math.max(1, Math.min(until - this.now, step * 1000)));
      await this.core.settle();
      this.#kubelets();
      each?.();
      await this.run();
    }
  }

  bound(prefix: string): number {
    return [...this.#running.keys()].filter((name) => name.startsWith(prefix)).length;
  }

  get runningNames(): string[] {
    return [...this.#running.keys()];
  }

  nodeOf(name: string): string | undefined {
    return this.#running.get(name)?.nodeName;
  }

  /** owner -> node, of reservations of the kind backfill */
  get reserved(): Record<string, string> {
    const all = [...this.core.harness.cluster.reservations()].filter(({ kind }) => kind === 'backfill');
    return Object.fromEntries(all.map(({ owner, nodeName }) => [owner.name, nodeName]));
  }

  /** Names of the entities with a reservation, without the number of the member. */
  get holders(): string[] {
    return [...new Set(Object.keys(this.reserved).map((name) => name.replace(/-\d+$/, '')))];
  }

  verdictOn(name: string): string {
    return this.core.harness.core.verdictOf(name)?.message ?? '';
  }

  metric(name: string): Promise<readonly { readonly value: number; readonly labels: object }[]> {
    return this.core.harness.registry
      .getSingleMetric(name)!
      .get()
      .then(({ values }) => values);
  }

  #attempt(): CycleResult | { readonly kind: 'paused' } | undefined {
    return this.core.harness.core.attempt(this.#options.work ?? Infinity);
  }

  async #bindAll(): Promise<void> {
    await this.core.settle();
    while (this.core.binds.length > 0) {
      for (const { binding } of [...this.core.binds]) {
        if (this.#options.bindFails?.(binding.name) === true || !this.core.has(binding.name)) {
          await this.core.reject(binding.name, 'refused');
          continue;
        }
        await this.core.accept(binding.name);
        this.#started(this.core.change(binding.name, { nodeName: binding.nodeName, nominatedNodeName: '' }));
      }
      await this.core.settle();
    }
  }

  #started(pod: Pod): void {
    this.started++;
    this.#running.set(pod.name, pod);
    this.#starting.set(pod.uid, this.now + (this.#options.startupMs ?? 0));
    this.#kubelets();
  }

  #kubelets(): void {
    for (const [uid, at] of [...this.#starting]) {
      if (at > this.now) continue;
      this.#starting.delete(uid);
      const known = [...this.#running.values()].find((pod) => pod.uid === uid);
      if (known === undefined) continue;
      const startedAt = known.startedAt === 0 ? Math.floor(this.now / 1000) : known.startedAt;
      this.#running.set(known.name, this.core.change(known.name, { phase: 'Running', startedAt }));
      const length = this.#lengths.get(known.name);
      if (length !== undefined) this.#ends.set(known.name, startedAt * 1000 + length);
    }
    for (const [name, at] of [...this.#ends]) if (at <= this.now) this.end(name);
  }
}
