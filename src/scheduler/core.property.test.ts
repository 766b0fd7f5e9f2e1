import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTerminal, planAnnotations } from '../api/pod.ts';
import { cpuId } from '../api/resource-names.ts';
import type { PodBinding } from '../framework/plugin-handle.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { Scheduling } from '../testkit/scheduling.ts';

/** namespace/name -> minMember at first; two are of one name */
const groups: Readonly<Record<string, number>> = { 'default/red': 3, 'default/blue': 2, 'other/red': 4 };
const groupKeys = Object.keys(groups);

const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('attempt' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      which: fc.nat(20),
      accepted: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('watch' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pod' as const),
      group: fc.option(fc.constantFrom(...groupKeys), { freq: 5 }),
      cpu: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('finish' as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('node' as const), which: fc.nat(3), cpu: fc.integer({ min: 2, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('makeAnew' as const),
      group: fc.constantFrom(...groupKeys),
      minMember: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('relabel' as const),
      which: fc.nat(20),
      group: fc.option(fc.constantFrom('red', 'blue')),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(500, 1000, 10_000) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** A core with an API server that is only a list of what it has bound and not shown yet. */
class World {
  readonly core = new Scheduling({ plugins: defaultPlugins });
  readonly names: string[] = [];
  /** Accepted Bindings that no watch has shown. */
  readonly unseen: PodBinding[] = [];
  #pods = 0;
  #runs = 0;

  constructor() {
    for (const [key, minMember] of Object.entries(groups)) this.#make(key, minMember);
    for (let i = 0; i < 3; i++) this.core.node({ name: `n${i}`, cpu: 4 });
    this.core.queue.start();
  }

  async run(todo: Happening): Promise<void> {
    const { core } = this;
    switch (todo.kind) {
      case 'attempt':
        await core.attempt();
        break;
      case 'answer':
        await this.#answer(todo.which, todo.accepted);
        break;
      case 'watch':
        this.#showNext();
        break;
      case 'pod': {
        const name = `p${this.#pods++}`;
        this.names.push(name);
        const [namespace, group] = (todo.group ?? 'default/').split('/', 2) as [string, string];
        core.pod({ namespace, name, cpu: todo.cpu, ...(group !== '' && { group }) });
        break;
      }
      case 'makeAnew':
        core.removeGroup(todo.group);
        this.#make(todo.group, todo.minMember);
        break;
      case 'relabel': {
        const pod = core.harness.cluster.pod(this.names[todo.which] ?? '');
        const podGroupKey = todo.group === null ? undefined : `${pod?.namespace}/${todo.group}`;
        if (pod !== undefined) core.change(pod.name, { podGroupKey });
        break;
      }
      case 'delete': {
        const name = this.names[todo.which];
        if (name === undefined) break;
        this.names.splice(todo.which, 1);
        core.removePod(name);
        break;
      }
      case 'finish': {
        const pod = core.harness.cluster.pod(this.names[todo.which] ?? '');
        if (pod !== undefined && pod.nodeName !== '') core.change(pod.name, { phase: 'Succeeded' });
        break;
      }
      case 'node':
        this.#grow(`n${todo.which}`, todo.cpu);
        break;
      case 'wait':
        core.harness.clock.advance(todo.ms);
        break;
    }
    await core.settle();
    this.#expectPromises();
  }

  #make(key: string, minMember: number): void {
    const [namespace, name] = key.split('/', 2) as [string, string];
    this.core.group({ namespace, name, uid: `${key}-${this.#runs++}`, minMember });
  }

  /** Nodes never shrink here, so that only a Binding of ours could over-commit one. */
  #grow(name: string, cpu: number): void {
    const known = this.core.harness.cluster.node(name);
    this.core.node({ name, cpu: (known?.allocatable.of(cpuId) ?? 0) / 1000 + cpu });
  }

  /** Lets everything come to its end, every Binding accepted, and the time go by for which room may be kept. */
  async finish(): Promise<void> {
    for (let idle = 0; idle < 8; idle++) {
      if (this.core.binds.length + this.unseen.length > 0) idle = 0;
      this.core.harness.clock.advance(10_000);
      while ((await this.core.attempt()) !== undefined) {
        idle = 0;
        this.#expectPromises();
      }
      while (this.core.binds.length > 0) await this.#answer(0, true);
      while (this.unseen.length > 0) this.#showNext();
    }
  }

  async #answer(which: number, accepted: boolean): Promise<void> {
    const { core } = this;
    if (core.binds.length === 0) return;
    const { binding } = core.binds[which % core.binds.length]!;
    const { name } = binding;
    const isThere = this.names.includes(name);
    if (accepted && isThere) this.unseen.push(binding);
    if (accepted && isThere) await core.accept(name);
    else await core.reject(name, isThere ? 'the node said no' : 'not found');
  }

  #showNext(): void {
    const next = this.unseen.shift();
    if (next === undefined || !this.names.includes(next.name)) return;
    const plannedGroupUid = next.annotations[planAnnotations.groupUid];
    this.core.change(next.name, { nodeName: next.nodeName, phase: 'Running', plannedGroupUid });
  }

  #expectPromises(): void {
    const { cluster } = this.core.harness;
    // No node is over-committed by what we bind, counted anew from all that is bound or being bound.
    for (const node of cluster.nodes) {
      expect(node.free(0), `cpu of ${node.name}`).toBeGreaterThanOrEqual(0);
      expect(node.free(3), `slots of ${node.name}`).toBeGreaterThanOrEqual(0);
    }
    // When no plan is under way, room is only held for what is bound and not shown yet.
    if (this.core.harness.core.binding.running === 0)
      expect(cluster.assumedCount).toBeLessThanOrEqual(this.unseen.length);
    expect(this.core.harness.waitingPods.size).toBe(0);
  }
}

describe('the scheduling core', () => {
  it('plans groups whole or not at all, over-commits nothing, and holds room for nobody who is not being bound', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 20, maxLength: 80, size: 'max' }), async (happenings) => {
        const world = new World();
        const { core } = world;
        /** group -> its Bindings begin only when they complete the quorum */
        const begun = core.binds.push.bind(core.binds);
        core.binds.push = (...binds) => {
          for (const { binding } of binds) {
            const key = core.harness.cluster.pod(binding.uid)?.podGroupKey;
            const gang = key === undefined ? undefined : core.harness.cluster.gang(key);
            if (gang !== undefined) expect(gang.missing, `members missing when ${binding.name} is bound`).toBe(0);
          }
          return begun(...binds);
        };
        for (const todo of happenings) await world.run(todo);
        core.queue.stop();
      }),
      { numRuns: 50 },
    );
  });

  it('leaves nothing waiting that would fit, and no group partly started that could be completed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 10, maxLength: 60, size: 'max' }), async (happenings) => {
        const world = new World();
        const { core } = world;
        for (const todo of happenings) await world.run(todo);
        await world.finish();
        const { cluster } = core.harness;
        expect(cluster.assumedCount).toBe(0);
        const largest = Math.max(...cluster.nodes.map((node) => node.free(0)));
        for (const [key, state] of Object.entries(core.states())) {
          if (state === 'gated') continue;
          expect(state, key).toBe('unschedulable');
          const { schedulingEntity } = core.queue.get(key)!;
          if (schedulingEntity.kind === 'pod') {
            expect(schedulingEntity.pod.template.requests.amounts[0], key).toBeGreaterThan(largest);
            continue;
          }
          const { gang } = schedulingEntity;
          // Neither the largest of its members, as many as it needs, nor the smallest, if they are taken by size and put anywhere.
          const wanted = [...gang.pending.values()]
            .map((pod) => pod.template.requests.amounts[0]!)
            .sort((x, y) => y - x);
          const free = cluster.nodes.map((node) => node.free(0));
          expect(fits(wanted.slice(0, gang.missing), free), key).toBe(false);
          expect(fitsAnywhere(wanted.slice(-gang.missing).reverse(), free), key).toBe(false);
        }
        for (const name of world.names) {
          const pod = cluster.pod(name);
          if (pod === undefined || isTerminal(pod) || pod.nodeName !== '') continue;
          const key = pod.podGroupKey ?? '';
          const mode = core.states()[`gang/${key}`] ?? core.states()[`pod/${name}`];
          expect(mode, `${name} is in the queue`).toBeDefined();
        }
        core.queue.stop();
      }),
      { numRuns: 40 },
    );
  });
});

/** Whether all amounts, of 1000 or 2000, fit: the large ones first, which is enough for these. */
function fits(amounts: readonly number[], capacity: readonly number[]): boolean {
  const free = [...capacity];
  for (const amount of amounts.toSorted((a, b) => b - a)) {
    const at = free.findIndex((left) => left >= amount);
    if (at < 0) return false;
    free[at]! -= amount;
  }
  return true;
}

/** Whether all amounts fit in this order, whichever of the nodes with room each of them gets. */
function fitsAnywhere([first, ...others]: readonly number[], capacity: readonly number[]): boolean {
  if (first === undefined) return true;
  const capacities = capacity.flatMap((left, at) => (left >= first ? [capacity.with(at, left - first)] : []));
  return capacities.length > 0 && capacities.every((after) => fitsAnywhere(others, after));
}
