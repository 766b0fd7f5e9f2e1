import { describe, expect, it } from 'vitest';
import type { Pod } from '../api/pod.ts';
import { seededRandom } from '../base/random.ts';
import { defaultReservations } from '../config/scheduler-configuration.ts';
import { defaultPlugins, pluginRegistry } from '../plugins/registry.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { Scheduling } from '../testkit/scheduling.ts';
import { AskedExtenders } from './testing/asked-extender.ts';

/** Part of every name, key and value that the tenant cannot see. */
const canary = 'canary';
const tenant = 'tenant';

interface Shown {
  readonly namespace: string;
  readonly text: string;
}

/**
 * A scheduler for the namespace of the tenant and one that the tenant cannot see, on nodes that the tenant cannot see either. Everything that
 * reaches a condition or an Event is recorded.
 */
class World {
  readonly core: Scheduling;
  readonly outside: AskedExtenders | undefined;
  readonly #shown: Shown[] = [];
  readonly #pods = new Map<string, Pod>();
  /** Nodes on which the tenant has had pods. Their names are in these pods. */
  readonly #seen = new Set<string>();
  readonly #random: () => number;
  #count = 0;

  constructor(seed: number, hasExtender = false) {
    this.#random = seededRandom(seed);
    this.outside = hasExtender ? new AskedExtenders({}) : undefined;
    const profile = { schedulerName: 'default-scheduler', plugins: defaultPlugins };
    const record = (namespace: string, text: string): void => void this.#shown.push({ namespace, text });
    const change = async (pod: Pod, changed: Partial<Pod>): Promise<void> => {
      await Promise.resolve();
      const known = this.#pods.get(pod.uid);
      if (known !== undefined) this.#show({ ...known, ...changed });
    };
    this.core = new Scheduling({
      plugins: [],
      setup: {
        profiles: [{ ...profile, reservations: { ...defaultReservations, reserveAfterMs: 0, drainAfterMs: 0 } }],
        plugins: pluginRegistry,
      },
      ports: {
        verdicts: {
          write: async (pod, { reason, message, nominatedNodeName }) => {
            record(pod.namespace, message);
            const podScheduled = { status: 'False', reason, message };
            await change(pod, { podScheduled, ...(nominatedNodeName !== undefined && { nominatedNodeName }) });
            return 'written';
          },
        },
        events: { record: ({ regarding, note }) => record(regarding.namespace ?? '', note) },
        evictor: {
          mark: async (pod, message) => {
            record(pod.namespace, message);
            await change(pod, { disruptedBy: 'PreemptionByScheduler' });
            return true;
          },
          evict: (pod) => change(pod, { deleting: true }),
        },
        ...(this.outside !== undefined && { extenders: this.outside }),
      },
    });
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)]!;
  }

  node(name: string): void {
    this.core.node({
      name: `${canary}-${name}`,
      cpu: this.pick([2, 4]),
      labels: {
        [`${canary}-key`]: `${canary}-value`,
        zone: `${canary}-zone`,
        'kubernetes.io/hostname': `${canary}-${name}`,
      },
      taints: this.chance(0.2) ? [`${canary}-taint=${canary}-value:NoSchedule`] : [],
      unschedulable: this.chance(0.1),
    });
  }

  /** Adds an entity of one of the namespaces: a pod or a gang, of any size and priority, sometimes with a rule that no node satisfies. */
  entity(): void {
    const namespace = this.chance(0.5) ? tenant : `${canary}-namespace`;
    const name = `${namespace}-${this.#count++}`;
    const options: PodOptions = {
      namespace,
      cpu: this.pick([1, 2, 3, 9]),
      priority: this.pick([0, 10, 20]),
      ...(this.chance(0.3) && { runtime: this.pick(['2m', '1h']) }),
      ...(this.chance(0.1) && { nodeSelector: { absent: 'x' } }),
      ...(this.chance(0.2) && { hostPorts: [80] }),
      ...(this.chance(0.1) && { labels: { 'pod-group.scheduling.sigs.k8s.io': 'train' } }),
    };
    if (this.chance(0.5)) {
      this.#add({ name, ...options });
      return;
    }
    const size = this.pick([2, 3]);
    this.core.group({ name, uid: `uid-${this.#count++}`, namespace, minMember: size, repairGraceSeconds: 10 });
    for (let i = 0; i < size; i++) this.#add({ name: `${name}-${i}`, ...options, group: name, owner: 'job' });
  }

  #add(options: PodOptions & { readonly name: string }): void {
    this.#show(this.core.harness.build.projectedPod({ uid: `uid-${this.#count++}`, ...options }));
  }

  #show(pod: Pod): void {
    this.#pods.set(pod.uid, pod);
    if (pod.namespace === tenant && pod.nodeName !== '') this.#seen.add(pod.nodeName);
    this.core.show(pod);
  }

  /** Makes all attempts that are due. Some Bindings fail. */
  async run(): Promise<void> {
    for (let attempts = 0; attempts < 50 && (await this.core.attempt()) !== undefined; attempts++) {
      this.#answerExtender();
      for (const { binding } of [...this.core.binds]) {
        const { name, nodeName, uid } = binding;
        if (this.chance(0.2)) await this.core.reject(name, `node ${nodeName} rejected it`);
        else {
          await this.core.accept(name);
          const pod = this.#pods.get(uid);
          if (pod !== undefined)
            this.#show({ ...pod, nodeName, phase: 'Running', startedAt: this.core.harness.clock.now() / 1000 });
        }
      }
    }
  }

  #answerExtender(): void {
    while ((this.outside?.asked.length ?? 0) > 0) {
      const asked = this.outside!.next();
      if (asked.verb !== 'filter') asked.score({});
      else if (this.chance(0.3)) asked.fail(`it knows nothing of "${asked.nodes[0]}"`);
      else asked.leave([], { failed: new Map(asked.nodes.map((name) => [name, `node ${name} is full`])) });
    }
  }

  /** Something happens to a pod or a node, or time passes. */
  async happen(): Promise<void> {
    const pods = [...this.#pods.values()];
    const pod = pods.length === 0 ? undefined : this.pick(pods);
    const kind = this.#random();
    if (pod !== undefined && kind < 0.3) {
      this.#pods.delete(pod.uid);
      this.core.removePod(pod.uid);
    } else if (kind < 0.4) this.node(this.pick(['a', 'b', 'c']));
    else if (kind < 0.6) this.entity();
    else {
      this.core.harness.clock.advance(this.pick([1_000, 10_000, 100_000]));
      await this.core.settle();
    }
  }

  /** What the tenant reads, without the names of nodes that it knows. */
  get readByTenant(): readonly string[] {
    const own = this.#shown.filter(({ namespace }) => namespace === tenant);
    return [...new Set(own.map(({ text }) => [...this.#seen].reduce((left, name) => left.replaceAll(name, ''), text)))];
  }

  get shown(): readonly string[] {
    return this.#shown.map(({ text }) => text);
  }
}

async function story(seed: number, hasExtender = false): Promise<World> {
  const world = new World(seed, hasExtender);
  for (const name of ['a', 'b', 'c']) world.node(name);
  for (let i = 0; i < 6; i++) world.entity();
  for (let step = 0; step < 40; step++) {
    await world.run();
    await world.happen();
  }
  return world;
}

describe('what a tenant reads in conditions and Events', () => {
  const seeds = Array.from({ length: 60 }, (_, i) => i + 1);

  it('names no node without pods of the tenant, no taint, no label value and nothing of other namespaces', async () => {
    const texts = new Set<string>();
    for (const seed of seeds) {
      const world = await story(seed);
      expect(world.readByTenant.filter((text) => text.includes(canary))).toEqual([]);
      for (const text of world.shown) texts.add(text);
    }
    const all = [...texts].join('\n');
    // The stories contain what could name others.
    for (const part of [
      'of another namespace, priority',
      'a higher priority pod of another namespace (uid',
      'a higher priority podgroup of another namespace (uid',
      'Capacity is reserved for a group of another namespace',
      'preemption: evicting',
      'group of other namespaces',
      'binding rejected: a node rejected it',
      'is still terminating',
      'untolerated taint(s)',
      'displaced by',
    ])
      expect(all).toContain(part);
  });

  it('names no node that an extender names', async () => {
    const texts = new Set<string>();
    for (const seed of seeds.slice(0, 20)) {
      const world = await story(seed, true);
      expect(world.readByTenant.filter((text) => text.includes(canary))).toEqual([]);
      for (const text of world.shown) texts.add(text);
    }
    const all = [...texts].join('\n');
    expect(all).toContain('extender outside: a node is full');
    expect(all).toContain('extender outside failed in filter: it knows nothing of a node');
  });
});
