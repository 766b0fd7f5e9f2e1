import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTerminal, planAnnotations } from '../api/pod.ts';
import { cpuId } from '../api/resource-names.ts';
import type { PodBinding } from '../framework/plugin-handle.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { Scheduling } from '../testkit/scheduling.ts';

/** namespace/name -> initial minMember; two groups have the same name */
const groups: Readonly<Record<string, number>> = { 'default/red': 3, 'default/blue': 2, 'other/red': 4 };
const groupKeys = Object.keys(groups);

const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('attempt' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      index: fc.nat(20),
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
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), index: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('finish' as const), index: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('node' as const), index: fc.nat(3), cpu: fc.integer({ min: 2, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('recreate' as const),
      group: fc.constantFrom(...groupKeys),
      minMember: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('relabel' as const),
      index: fc.nat(20),
      group: fc.option(fc.constantFrom('red', 'blue')),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(500, 1000, 10_000) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** A core and a minimal API server, index only keeps bindings that the watch has not delivered. */
class World {
  readonly core = new Scheduling({ plugins: defaultPlugins });
  readonly names: string[] = [];
  /** Accepted bindings that the watch has not delivered. */
  readonly unseen: PodBinding[] = [];
  #pods = 0;
  #runs = 0;

  constructor() {
    for (const [key, minMember] of Object.entries(groups)) this.#make(key, minMember);
    for (let i = 0; i < 3; i++) this.core.node({ name: `n${i}`, cpu: 4 });
    this.core.queue.start();
  }

  async run(todo: Action): Promise<void> {
    const { core } = this;
    switch (todo.kind) {
      case 'attempt':
        await core.attempt();
        break;
      case 'answer':
        await this.#answer(todo.index, todo.accepted);
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
      case 'recreate':
        core.removeGroup(todo.group);
        this.#make(todo.group, todo.minMember);
        break;
      case 'relabel': {
        const pod = core.harness.cluster.pod(this.names[todo.index] ?? '');
        const podGroupKey = todo.group === null ? undefined : `${pod?.namespace}/${todo.group}`;
        if (pod !== undefined) core.change(pod.name, { podGroupKey });
        break;
      }
      case 'delete': {
        const name = this.names[todo.index];
        if (name === undefined) break;
        this.names.splice(todo.index, 1);
        core.removePod(name);
        break;
      }
      case 'finish': {
        const pod = core.harness.cluster.pod(this.names[todo.index] ?? '');
        if (pod !== undefined && pod.nodeName !== '') core.change(pod.name, { phase: 'Succeeded' });
        break;
      }
      case 'node':
        this.#grow(`n${todo.index}`, todo.cpu);
        break;
      case 'wait':
        core.harness.clock.advance(todo.ms);
        break;
    }
    await core.settle();
    this.#expectInvariants();
  }

  #make(key: string, minMember: number): void {
    const [namespace, name] = key.split('/', 2) as [string, string];
    this.core.group({ namespace, name, uid: `${key}-${this.#runs++}`, minMember });
  }

  /** Nodes never shrink here, so only a binding of this scheduler could overcommit one. */
  #grow(name: string, cpu: number): void {
    const known = this.core.harness.cluster.node(name);
    this.core.node({ name, cpu: (known?.allocatable.of(cpuId) ?? 0) / 1000 + cpu });
  }

  /** Lets everything settle: accepts all bindings and lets all reservations expire. */
  async finish(): Promise<void> {
    for (let idle = 0; idle < 8; idle++) {
      if (this.core.binds.length + this.unseen.length > 0) idle = 0;
      this.core.harness.clock.advance(10_000);
      while ((await this.core.attempt()) !== undefined) {
        idle = 0;
        this.#expectInvariants();
      }
      while (this.core.binds.length > 0) await this.#answer(0, true);
      while (this.unseen.length > 0) this.#showNext();
    }
  }

  async #answer(index: number, accepted: boolean): Promise<void> {
    const { core } = this;
    if (core.binds.length === 0) return;
    const { binding } = core.binds[index % core.binds.length]!;
    const { name } = binding;
    const isThere = this.names.includes(name);
    if (accepted && isThere) this.unseen.push(binding);
    if (accepted && isThere) await core.accept(name);
    else await core.reject(name, isThere ? 'the node rejected the pod' : 'not found');
  }

  #showNext(): void {
    const next = this.unseen.shift();
    if (next === undefined || !this.names.includes(next.name)) return;
    const plannedGroupUid = next.annotations[planAnnotations.groupUid];
    this.core.change(next.name, { nodeName: next.nodeName, phase: 'Running', plannedGroupUid });
  }

  #expectInvariants(): void {
    const { cluster } = this.core.harness;
    // Bindings do not overcommit any node, counting bound and assumed pods.
    for (const node of cluster.nodes) {
      expect(node.free(0), `cpu of ${node.name}`).toBeGreaterThanOrEqual(0);
      expect(node.free(3), `slots of ${node.name}`).toBeGreaterThanOrEqual(0);
    }
    // While no plan is running, only undelivered bindings are assumed.
    if (this.core.harness.core.binding.running === 0)
      expect(cluster.assumedCount).toBeLessThanOrEqual(this.unseen.length);
    expect(this.core.harness.waitingPods.size).toBe(0);
  }
}

describe('the scheduling core', () => {
  it('plans gangs as a whole or not at all, overcommits no node, and assumes only pods that are being bound', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 80, size: 'max' }), async (actions) => {
        const world = new World();
        const { core } = world;
        // The bindings of a gang start only when they complete its quorum.
        const push = core.binds.push.bind(core.binds);
        core.binds.push = (...binds) => {
          for (const { binding } of binds) {
            const key = core.harness.cluster.pod(binding.uid)?.podGroupKey;
            const gang = key === undefined ? undefined : core.harness.cluster.gang(key);
            if (gang !== undefined) expect(gang.missing, `members missing when ${binding.name} is bound`).toBe(0);
          }
          return push(...binds);
        };
        for (const todo of actions) await world.run(todo);
        core.queue.stop();
      }),
      { numRuns: 50 },
    );
  });

  it('leaves no entity waiting that would fit, and no gang partially bound that could be completed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 60, size: 'max' }), async (actions) => {
        const world = new World();
        const { core } = world;
        for (const todo of actions) await world.run(todo);
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
          // Neither the largest missing members fit, nor the smallest ones in order of size on any nodes.
          const requests = [...gang.pending.values()]
            .map((pod) => pod.template.requests.amounts[0]!)
            .sort((x, y) => y - x);
          const free = cluster.nodes.map((node) => node.free(0));
          expect(fits(requests.slice(0, gang.missing), free), key).toBe(false);
          expect(fitsAnywhere(requests.slice(-gang.missing).reverse(), free), key).toBe(false);
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

/** Returns whether all amounts, of 1000 or 2000, fit. Placing the large ones first is optimal for these. */
function fits(amounts: readonly number[], capacity: readonly number[]): boolean {
  const free = [...capacity];
  for (const amount of amounts.toSorted((a, b) => b - a)) {
    const at = free.findIndex((left) => left >= amount);
    if (at < 0) return false;
    free[at]! -= amount;
  }
  return true;
}

/** Returns whether all amounts fit in this order, whichever fitting node each of them gets. */
function fitsAnywhere([first, ...others]: readonly number[], capacity: readonly number[]): boolean {
  if (first === undefined) return true;
  const capacities = capacity.flatMap((left, at) => (left >= first ? [capacity.with(at, left - first)] : []));
  return capacities.length > 0 && capacities.every((after) => fitsAnywhere(others, after));
}
