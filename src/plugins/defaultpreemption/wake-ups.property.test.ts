import { expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import { cpuId } from '../../api/resource-names.ts';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { defaultPlugins } from '../registry.ts';

/** A random history: pods and gangs of three priorities arrive and leave, nodes change, and victims terminate when they like. */
class History {
  readonly core: Scheduling;
  readonly groups = new Map<string, PodGroupOptions & { readonly name: string }>();
  readonly #random: () => number;
  readonly #nodes = new Map<string, number>();
  readonly #bound = new Set<string>();
  #serial = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.core = new Scheduling({
      plugins: defaultPlugins,
      seed,
      ports: {
        evictor: {
          evict: ({ uid }) => {
            this.core.change(uid, { deleting: true });
            return Promise.resolve();
          },
        },
      },
    });
    for (const name of ['a', 'b', 'c']) this.#node(name, 2);
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  #node(name: string, cpu: number): void {
    this.#nodes.set(name, cpu);
    this.core.node({ name, cpu });
  }

  #group(minMember: number): string {
    const name = `g${this.#serial++}`;
    const group = { name, minMember };
    this.groups.set(name, group);
    this.core.group(group);
    return name;
  }

  #remove(name: string): void {
    this.#bound.delete(name);
    this.core.removePod(name);
  }

  /** Binds a pod as another scheduler does. Seldom more than fits. */
  #bind(name: string, cpu: number, options: { readonly priority: number; readonly group?: string }): void {
    const nodeName = this.pick([...this.#nodes.keys()]);
    const isFull = cpu * 1000 > (this.core.harness.cluster.node(nodeName)?.free(cpuId) ?? 0);
    if (isFull && this.#random() < 0.9) return;
    this.#bound.add(name);
    this.core.pod({ name, cpu, nodeName, phase: 'Running', ...options });
  }

  /** Runs all attempts that are due, and lets the backoffs end. */
  async attemptAll(): Promise<void> {
    await this.#attemptAll();
    this.core.harness.clock.advance(this.pick([1_000, 11_000, 11_000]));
    await this.#attemptAll();
  }

  async #attemptAll(): Promise<void> {
    while ((await this.core.attempt()) !== undefined) {
      for (const { binding } of [...this.core.binds]) {
        const { name, nodeName } = binding;
        this.#bound.add(name);
        await this.core.accept(name);
        this.core.change(name, { nodeName, phase: 'Running' });
      }
    }
  }

  /** Makes one change, and describes it. */
  step(): string {
    switch (Math.floor(this.#random() * 12)) {
      case 0: {
        const count = this.pick([1, 1, 2, 3]);
        const priority = this.pick([0, 5, 10, 10]);
        const cpu = this.pick([1, 2]);
        if (this.#random() < 0.4) this.core.pod({ name: `p${this.#serial++}`, cpu, priority });
        else this.core.members(count, { group: this.#group(count), cpu, priority });
        return 'new entity';
      }
      case 1:
      case 2:
      case 3:
      case 4: {
        this.#bind(`x${this.#serial++}`, 1, { priority: this.pick([0, 0, 5, 10, 10]) });
        return 'new bound pod';
      }
      case 5: {
        const minMember = this.pick([1, 2]);
        const group = this.#group(minMember);
        const priority = this.pick([0, 0, 5]);
        for (let i = 0; i < 3; i++) this.#bind(`${group}-${i}`, 1, { priority, group });
        return 'new bound group';
      }
      case 6:
      case 7:
      case 8: {
        if (this.#bound.size === 0) return 'nothing';
        const name = this.pick([...this.#bound]);
        this.#remove(name);
        return `${name} removed`;
      }
      case 9: {
        const name = this.pick([...this.#nodes.keys()]);
        this.#node(name, this.pick([1, 2, 4]));
        return `${name} changed`;
      }
      default: {
        const victims = [...this.#bound].filter((name) => this.core.harness.cluster.pod(name)?.deleting === true);
        if (victims.length === 0) return 'nothing';
        const name = this.pick(victims);
        this.#remove(name);
        return `victim ${name} gone`;
      }
    }
  }

  /** Returns whether a scheduler that has just started would place the entity, or preempt for it. */
  couldStart({ schedulingEntity }: QueuedEntity): boolean {
    const fresh = new Queueing({ plugins: defaultPlugins });
    for (const [name, cpu] of this.#nodes) fresh.node({ name, cpu });
    for (const group of this.groups.values()) fresh.group(group);
    for (const pod of this.core.harness.cluster.pods()) if (pod.nodeName !== '') fresh.show(pod);
    const pods = schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : schedulingEntity.gang.pending.values();
    for (const pod of pods) fresh.show(pod);
    const { core, cluster } = fresh.harness;
    const result = core.attempt();
    const starts = result?.kind === 'planned' || cluster.hasReservations;
    void core.stop();
    return starts;
  }
}

it('no pod or gang that fits or could preempt sleeps until the flush', async () => {
  const lost: string[] = [];
  let sleeping = 0;
  for (let seed = 1; seed <= runs(60) && lost.length === 0; seed++) {
    const history = new History(seed);
    const { core } = history;
    const { harness, queue } = core;
    for (let step = 0; step < 60; step++) {
      await history.attemptAll();
      const what = history.step();
      // Victims of another entity are promised to it.
      if (harness.cluster.hasReservations) continue;
      for (const entity of queue.entities()) {
        const { key, schedulingEntity, state } = entity;
        const joined = queue.classOf(entity);
        if (state.kind !== 'unschedulable' || joined?.representative !== undefined || joined?.isWoken === true)
          continue;
        const first =
          schedulingEntity.kind === 'pod' ? schedulingEntity.pod.uid : [...schedulingEntity.gang.pending.keys()][0]!;
        const message = harness.core.verdictOf(first)?.message ?? '';
        // A scheduler that has just started knows neither what failed nor which evictions have begun.
        const { preemptions } = harness.core;
        const isLeaving = (pod: Pod): boolean =>
          preemptions.isStuck(pod) || preemptions.promisedTo(pod.uid) !== undefined;
        if (message.includes('next try not before') || [...harness.cluster.pods()].some(isLeaving)) continue;
        sleeping++;
        if (history.couldStart(entity)) lost.push(`${seed}/${step}: ${key} after ${what}: ${message}`);
      }
      if (lost.length > 0) break;
    }
    void harness.core.stop();
  }
  expect(lost).toEqual([]);
  expect(sleeping).toBeGreaterThan(runs(600));
});
