import { expect, it } from 'vitest';
import type { Pod } from '../api/pod.ts';
import { seededRandom } from '../base/random.ts';
import { runs } from '../base/testing/runs.ts';
import type { Verdict } from '../api/verdict.ts';
import { describeCause } from '../framework/diagnosis.ts';
import { outsiders } from '../framework/event-hints.ts';
import { Status } from '../framework/status.ts';
import type { Plugin } from '../framework/plugin.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import type { EquivalenceClass } from '../queue/equivalence/equivalence-class.ts';
import type { QueuedEntity } from '../queue/queued-entity.ts';
import type { NodeOptions } from '../testkit/builders/node.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { Scheduling } from '../testkit/scheduling.ts';
import type { CycleResult } from './cycle/cycle-result.ts';
import type { PodVerdict } from './ports.ts';
import { AskedExtenders } from './testing/asked-extender.ts';

/** Rejects by a label that it does not sign, as Permit plugins may. */
const rejectingPermit: Plugin = {
  name: 'RejectingPermit',
  permit: (_state, pod) => (pod.labels.door === 'shut' ? new Status('Unschedulable', 'the door is shut') : undefined),
};

/** A PostFilter that never helps. */
const neverHelping: Plugin = { name: 'NeverHelping', postFilter: () => undefined };

/** A PostFilter that never helps, whose result entities of a class share. */
const signedPostFilter: Plugin = {
  name: 'SignedPostFilter',
  sign: ({ priority }) => `${priority}`,
  postFilter: (_entity, { nodeCount }) => ({
    message: `None of ${nodeCount} nodes has a victim.`,
    eventsMayHelp: true,
  }),
  rulesOut: () => true,
  eventsToRegister: () => [{ resource: 'AssignedPod', actions: ['Add'] }],
};

/** Signs the label that it reads, and has no hints. */
const colors: Plugin = {
  name: 'Colors',
  sign: (pod) => pod.labels.color ?? '',
  filter: (_state, pod, node) => {
    const { color = 'any' } = pod.labels;
    return color === 'any' || node.node.labels.color === color ? undefined : wrongColor;
  },
  eventsToRegister: () => [{ resource: 'Node', actions: ['Add', 'Update'] }],
};
const wrongColor = new Status('UnschedulableAndUnresolvable', 'node(s) had another color');

/** Makes labeled pods wait until the test allows all of them. */
const waitingPermit: Plugin = {
  name: 'WaitingPermit',
  permit: (_state, pod) => (pod.labels.door === 'shut' ? { waitMs: 3_600_000 } : undefined),
};

interface WorldOptions {
  readonly name: string;
  readonly extra?: readonly Plugin[];
  /** An extender rejects node d. */
  readonly isExtended?: boolean;
}

const worlds: readonly WorldOptions[] = [
  { name: 'the default plugins' },
  { name: 'a plugin that rejects at Permit', extra: [rejectingPermit] },
  { name: 'a plugin that waits at Permit', extra: [waitingPermit] },
  { name: 'a PostFilter', extra: [neverHelping] },
  { name: 'a PostFilter that signs', extra: [signedPostFilter] },
  { name: 'a Filter that signs', extra: [colors] },
  { name: 'an extender', isExtended: true },
];

/** A core, and an API server whose watch delivers the core's own writes. */
class World {
  readonly core: Scheduling;
  readonly random: () => number;
  readonly log: string[] = [];
  /** uid -> its verdict in the API */
  readonly written = new Map<string, Verdict>();
  writes = 0;
  attempts = 0;
  /** Bindings are answered only in steps that say so. */
  isSlow = false;
  readonly nodes = new Map<string, NodeOptions>();
  /** name -> its members' options and count */
  readonly groups = new Map<string, { minMember: number; made: number; uid: string; kinds: readonly PodOptions[] }>();
  readonly pods = new Set<string>();
  #made = 0;
  #versions = 0;

  /** equivalence class -> node generations at the latest rejection of one of its entities */
  readonly #rejectedAt = new WeakMap<EquivalenceClass, string>();
  readonly #outside: AskedExtenders | undefined;

  constructor(seed: number, { extra = [], isExtended = false }: WorldOptions) {
    this.random = seededRandom(seed);
    this.#outside = isExtended ? new AskedExtenders({ name: 'outside' }) : undefined;
    this.core = new Scheduling({
      plugins: defaultPlugins,
      extra,
      profiles: { 'default-scheduler': () => true, second: () => true },
      seed,
      ports: {
        verdicts: {
          write: (pod, verdict) => {
            this.writes++;
            this.written.set(pod.uid, verdict);
            void Promise.resolve().then(() => this.#echo(pod, verdict));
            return Promise.resolve('written');
          },
        },
        // Victims terminate at once.
        evictor: {
          mark: ({ uid }) => Promise.resolve(this.core.harness.cluster.pod(uid) !== undefined),
          evict: ({ uid }) =>
            Promise.resolve().then(() => {
              this.core.removePod(uid);
            }),
        },
        ...(this.#outside !== undefined && { extenders: this.#outside }),
      },
    });
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }

  #echo({ uid }: Pod, { reason, message, nominatedNodeName }: PodVerdict): void {
    if (this.core.harness.cluster.openPod(uid) === undefined) return;
    const podScheduled = { status: 'False', reason, message };
    const nomination = nominatedNodeName === undefined ? {} : { nominatedNodeName };
    this.core.change(uid, { podScheduled, ...nomination, resourceVersion: `w${this.#versions++}` });
  }

  /** Delivers the PodGroup status that the controller writes. */
  echoGroups(): void {
    for (const [name, { minMember, uid }] of this.groups) {
      this.core.group({ name, uid, minMember, resourceVersion: `s${this.#versions++}`, ...this.#resources(name) });
    }
  }

  #resources(name: string): object {
    return name.endsWith('r') ? { minResources: { cpu: String(this.groups.get(name)!.minMember) } } : {};
  }

  node(options: NodeOptions & { readonly name: string }): void {
    this.nodes.set(options.name, options);
    this.core.node(options);
  }

  group(name: string, minMember: number, kinds: readonly PodOptions[], count: number): void {
    this.groups.set(name, { minMember, made: 0, uid: `${name}/${this.#made++}`, kinds });
    this.showGroup(name);
    for (let i = 0; i < count; i++) this.member(name);
  }

  showGroup(name: string): void {
    const { minMember, uid } = this.groups.get(name)!;
    this.core.group({ name, uid, minMember, ...this.#resources(name) });
  }

  member(name: string, more: PodOptions = {}): void {
    const group = this.groups.get(name)!;
    const kind = group.kinds[group.made % group.kinds.length]!;
    this.pod(`${name}-${group.made++}`, { ...kind, ...more, group: name });
  }

  pod(name: string, options: PodOptions): void {
    this.pods.add(name);
    this.core.pod({ ...options, name });
  }

  addPod(options: PodOptions): void {
    this.pod(`p${this.#made++}`, options);
  }

  /** Removes all pods that are being deleted. */
  terminateAll(): void {
    for (const name of this.pods) if (this.core.harness.cluster.pod(name)?.deleting === true) this.core.removePod(name);
  }

  /** Runs attempts until the active queue is empty. */
  async drain(): Promise<void> {
    for (let count = 0; ; count++) {
      if (count > 2_000) throw new Error(`does not end: ${this.log.slice(-3).join('; ')}`);
      const result = this.core.harness.core.attempt();
      if (result === undefined) {
        await this.#settle();
        if (this.core.queue.sizes.active === 0 && !this.#isAsking) return;
        continue;
      }
      if (result.kind !== 'asking') this.attempts++;
      this.expectOwnVerdict(result);
      this.expectQueue();
      await this.#settle();
    }
  }

  get #isAsking(): boolean {
    return [...this.core.queue.entities()].some(({ state }) => state.kind === 'setAside') && !this.isSlow;
  }

  async #settle(): Promise<void> {
    await this.core.settle();
    if (this.isSlow) return;
    const { asked } = this.#outside ?? { asked: [] };
    for (const { leave, nodes } of asked.splice(0)) leave(nodes.filter((name) => name !== 'd'));
    for (const pod of this.core.harness.waitingPods.all()) pod.allow('WaitingPermit');
    await this.core.settle();
    await this.answer(() => true);
  }

  async answer(accepts: () => boolean): Promise<void> {
    const { core } = this;
    while (core.binds.length > 0) {
      const { name, nodeName } = core.binds[0]!.binding;
      const open = core.harness.cluster.pod(name);
      if (open !== undefined && accepts()) {
        await core.accept(name);
        const gang = open.podGroupKey === undefined ? undefined : core.harness.cluster.gang(open.podGroupKey);
        core.change(name, { nodeName, phase: 'Running', plannedGroupUid: gang?.spec?.uid });
      } else {
        await core.reject(name, 'the node rejected the pod');
      }
    }
    await core.settle();
  }

  /** Lets every backoff end. */
  async later(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await this.drain();
      this.core.harness.clock.advance(11_000);
    }
    await this.drain();
  }

  /** Checks the verdict against a dry run of the entity alone. */
  expectOwnVerdict(result: CycleResult): void {
    if (result.kind !== 'rejected' && result.kind !== 'joined') return;
    const [pod] = result.pods;
    const entity = this.core.queue.get(`pod/${pod!.uid}`) ?? this.core.queue.get(`gang/${pod!.podGroupKey}`);
    if (entity === undefined) return;
    const { harness } = this.core;
    const { schedulingEntity, key } = entity;
    const capacities = harness.cluster.nodes.map((node) => `${node.name}: ${node.generation}`).join();
    const joined = this.core.queue.classOf(entity);
    if (joined !== undefined && result.kind === 'rejected') this.#rejectedAt.set(joined, capacities);
    // A verdict from the class may name a reason that another one hides by now.
    const isAsNow = result.kind === 'rejected' || (joined !== undefined && this.#rejectedAt.get(joined) === capacities);
    const pods = result.pods.map(({ uid }) => uid);
    for (const uid of pods) {
      const verdict = harness.core.verdictOf(uid);
      expect(verdict, `verdict of ${uid}`).toBeDefined();
      if (schedulingEntity.kind === 'gang')
        expect(verdict!.message).toContain(`PodGroup ${schedulingEntity.gang.key} `);
      const named = /(\S+) (?:finds no node|would not):/.exec(verdict!.message)?.[1];
      if (named !== undefined) expect(pods, `the pod that ${verdict!.message} names`).toContain(named);
      if (verdict!.cause === undefined) continue;
      const { fits, blocked } = harness.core.dryRun(schedulingEntity);
      if (result.kind === 'joined' && fits) {
        const { representative: first } = joined!;
        expect(
          first?.state.kind,
          `the representative of the class of ${key}, which joined without an attempt and fits`,
        ).toBe('active');
        expect(this.core.queue.goesFirst(first!, entity)).toBe(true);
      }
      if (
        !fits &&
        blocked !== undefined &&
        isAsNow &&
        !entity.rejection.unschedulablePlugins.has(outsiders) &&
        this.isPlain(schedulingEntity)
      ) {
        expect(verdict!.cause, `cause for ${key}`).toContain(describeCause(blocked));
      }
    }
  }

  /** Returns whether the plan is independent of the order of equal nodes. */
  isPlain(schedulingEntity: QueuedEntity['schedulingEntity']): boolean {
    if (schedulingEntity.kind === 'pod') return true;
    return new Set([...schedulingEntity.gang.pending.values()].map(({ template }) => template)).size === 1;
  }

  /** Checks that every entity is in one place, and that a waiting class has a representative that will be tried. */
  expectQueue(): void {
    const { queue } = this.core;
    const counts: Record<string, number> = { active: 0, backoff: 0, unschedulable: 0, gated: 0 };
    for (const entity of queue.entities()) {
      const { kind } = entity.state;
      counts[kind] = (counts[kind] ?? 0) + 1;
      expect(queue.get(entity.key)).toBe(entity);
      const joined = queue.classOf(entity);
      if (kind === 'unschedulable') {
        expect(joined, `${entity.key} waits in no equivalence class`).toBeDefined();
        expect(joined!.size).toBeGreaterThan(0);
        expect(joined!.representative).not.toBe(entity);
      } else if (joined !== undefined) {
        expect(joined.representative, `${entity.key} is ${kind} and its class has another representative`).toBe(entity);
      }
      if (joined?.representative !== undefined) {
        const { representative: first } = joined;
        expect(queue.get(first.key), `the representative of ${entity.key}'s class`).toBe(first);
        expect(queue.classOf(first)).toBe(joined);
        expect(['active', 'backoff', 'inFlight', 'setAside']).toContain(first.state.kind);
      }
    }
    const { active, backoff, unschedulable, gated } = counts;
    expect(queue.sizes).toEqual({ active, backoff, unschedulable, gated });
  }

  /** Checks that in ten minutes without changes only the flush retries: each class every five minutes, or once more if it is stale. */
  async expectQuiet(writes: number): Promise<void> {
    const { queue, harness } = this.core;
    const classes = new Set([...queue.entities()].map((entity) => queue.classOf(entity)));
    const before = { writes: this.writes, attempts: this.attempts };
    for (let second = 0; second < 600; second += 10) {
      harness.clock.advance(10_000);
      await this.drain();
      this.echoGroups();
    }
    expect(this.attempts - before.attempts, 'attempts while nothing happens').toBeLessThanOrEqual(3 * classes.size);
    expect(this.writes - before.writes, 'writes while nothing happens').toBeLessThanOrEqual(writes);
  }

  /** Returns the entities that wait for an event although they fit. */
  lost(): string[] {
    const { queue, harness } = this.core;
    const lost: string[] = [];
    // A reservation of a pod that is assumed elsewhere ends when that pod is bound.
    for (const { owner } of harness.cluster.reservations()) if (harness.cluster.isAssumed(owner.uid)) return [];
    for (const { key, schedulingEntity, state, rejection } of queue.entities()) {
      if (state.kind !== 'unschedulable' || rejection.unschedulablePlugins.has(outsiders)) continue;
      const joined = queue.classOf(queue.get(key)!)!;
      if (!joined.isIdle || harness.core.verdictOf(firstOf(schedulingEntity))?.waitsFor === 'permit') continue;
      const rounds = this.isPlain(schedulingEntity) ? 1 : 5;
      let fits = true;
      for (let round = 0; round < rounds && fits; round++) fits = harness.core.dryRun(schedulingEntity).fits;
      if (fits) lost.push(`${key} (${harness.core.verdictOf(firstOf(schedulingEntity))?.message})`);
    }
    return lost;
  }

  /** Checks that all entities of a class have the same cause. */
  expectOneCause(): void {
    const { queue, harness } = this.core;
    /** class -> the causes of its entities */
    const causes = new Map<object, Set<string | undefined>>();
    for (const entity of queue.entities()) {
      const joined = entity.state.kind === 'unschedulable' ? queue.classOf(entity) : undefined;
      if (joined?.key === undefined) continue;
      const known = causes.get(joined) ?? new Set();
      causes.set(joined, known.add(harness.core.verdictOf(firstOf(entity.schedulingEntity))?.cause));
    }
    for (const reported of causes.values()) expect([...reported]).toHaveLength(1);
  }

  /** Checks that every waiting pod has a verdict, and that the API has the same one. */
  expectReported(): void {
    const { queue, harness } = this.core;
    for (const { key, schedulingEntity, state } of queue.entities()) {
      if (state.kind !== 'unschedulable') continue;
      const pods =
        schedulingEntity.kind === 'pod' ? [schedulingEntity.pod.uid] : [...schedulingEntity.gang.pending.keys()];
      for (const uid of pods) {
        const verdict = harness.core.verdictOf(uid);
        const written = this.written.get(uid);
        expect(verdict, `${key}: ${uid} after ${this.log.at(-1)}`).toBeDefined();
        expect(written?.cause ?? written?.message, `${key}: ${uid} after ${this.log.at(-1)}`).toBe(
          verdict!.cause ?? verdict!.message,
        );
        expect(verdict!.reason, `${key}: ${uid} after ${this.log.at(-1)}`).not.toBe('WaitingForGang');
      }
    }
  }
}

function firstOf(schedulingEntity: QueuedEntity['schedulingEntity']): string {
  return schedulingEntity.kind === 'pod'
    ? schedulingEntity.pod.uid
    : ([...schedulingEntity.gang.pending.keys()][0] ?? '');
}

const nodeNames = ['a', 'b', 'c', 'd'];

function randomNode(world: World, name: string): NodeOptions & { readonly name: string } {
  const { pick, random } = { pick: world.pick.bind(world), random: world.random };
  return {
    name,
    cpu: pick([1, 2, 2, 4]),
    ...(random() < 0.2 && { taints: ['own:NoSchedule'] }),
    ...(random() < 0.2 && { unschedulable: true }),
    labels: { ...(random() < 0.5 && { zone: pick(['x', 'y']) }), ...(random() < 0.5 && { color: 'red' }) },
  };
}

function randomPod(world: World): PodOptions {
  const { random } = world;
  return {
    cpu: world.pick([1, 1, 2]),
    schedulerName: random() < 0.8 ? 'default-scheduler' : 'second',
    ...(random() < 0.2 && { priority: 5 }),
    ...(random() < 0.2 && { tolerations: [{ key: 'own', operator: 'Exists' }] }),
    ...(random() < 0.2 && { hostPorts: [80] }),
    ...(random() < 0.2 && { nodeSelector: { zone: 'x' } }),
    ...(random() < 0.2 && { labels: { color: 'red' } }),
    ...(random() < 0.1 && { labels: { door: 'shut' } }),
  };
}

/** Makes one random change of the cluster, and describes it. */
async function step(world: World): Promise<string> {
  const { core, random, groups } = world;
  const { cluster } = core.harness;
  const pick = world.pick.bind(world);
  const members = [...world.pods].map((name) => cluster.pod(name)).filter((pod) => pod !== undefined);
  const open = members.filter(({ uid }) => cluster.openPod(uid) !== undefined);
  const bound = members.filter(({ nodeName }) => nodeName !== '');
  const group = groups.size === 0 ? undefined : pick([...groups.keys()]);
  const some = <T>(from: readonly T[], act: (one: T) => string): string =>
    from.length === 0 ? 'nothing' : act(pick(from));
  switch (Math.floor(random() * 24)) {
    case 0:
    case 1:
    case 2: {
      const name = `g${groups.size}${random() < 0.2 ? 'r' : ''}`;
      if (groups.has(name)) return 'nothing';
      const sample = randomPod(world);
      const kinds = random() < 0.8 ? [sample] : [sample, { ...randomPod(world), schedulerName: sample.schedulerName! }];
      const minMember = pick([1, 2, 3]);
      world.group(name, minMember, kinds, minMember + pick([0, 0, 0, 1]));
      return `group ${name}`;
    }
    case 3:
    case 4: {
      const options = randomPod(world);
      const count = pick([1, 1, 3]);
      for (let i = 0; i < count; i++) world.addPod(options);
      return `${count} pods without a group`;
    }
    case 5:
    case 6: {
      const name = pick(nodeNames);
      const known = cluster.node(name) !== undefined;
      if (known && random() < 0.3) {
        core.removeNode(name);
        return `node ${name} gone`;
      }
      world.node(randomNode(world, name));
      return `node ${name} ${known ? 'changed' : 'new'}`;
    }
    case 7:
    case 8:
      return some(bound, ({ name }) => {
        world.pods.delete(name);
        core.removePod(name);
        return `bound ${name} deleted`;
      });
    case 9:
      return some(open, ({ name }) => {
        world.pods.delete(name);
        core.removePod(name);
        return `open ${name} deleted`;
      });
    case 10:
      return some(bound, ({ name }) => {
        core.change(name, { phase: pick(['Succeeded', 'Failed']) });
        return `${name} ended`;
      });
    case 11:
      return some(members, ({ name, template, ...rest }) => {
        if (rest.phase === 'Succeeded' || rest.phase === 'Failed') return 'nothing';
        const { requests } = core.harness.build.projectedPod({ cpu: '500m' }).template;
        core.change(name, { template: { ...template, requests } });
        return `${name} requests less`;
      });
    case 12:
      return some(open, ({ name }) => {
        core.change(name, { nodeName: pick(nodeNames), phase: 'Running' });
        return `${name} bound by another process`;
      });
    case 13:
      return some(open, ({ name, schedulingGates }) => {
        core.change(name, { schedulingGates: schedulingGates.length === 0 ? ['shut'] : [] });
        return `${name} gated`;
      });
    case 14:
      return some(
        members.filter(({ schedulingGates }) => schedulingGates.length > 0),
        ({ name }) => {
          core.change(name, { schedulingGates: [] });
          return `${name} free of gates`;
        },
      );
    case 15:
      return some(open, ({ name, nominatedNodeName }) => {
        core.change(name, { nominatedNodeName: nominatedNodeName === '' ? pick(nodeNames) : '' });
        return `${name} nominated or no longer`;
      });
    case 16:
      return some(
        open.filter(({ podGroupKey }) => podGroupKey !== undefined),
        ({ name }) => {
          core.change(name, { podGroupKey: group === undefined ? undefined : `default/${group}` });
          return `${name} moves to ${group}`;
        },
      );
    case 17:
      if (group === undefined) return 'nothing';
      groups.get(group)!.minMember = pick([1, 2, 3]);
      if (cluster.gang(`default/${group}`)?.spec !== undefined) world.showGroup(group);
      return `${group} needs ${groups.get(group)!.minMember}`;
    case 18: {
      if (group === undefined) return 'nothing';
      if (cluster.gang(`default/${group}`)?.spec === undefined) {
        groups.get(group)!.uid += '+';
        world.showGroup(group);
        return `${group} recreated`;
      }
      core.removeGroup(`default/${group}`);
      return `${group} gone`;
    }
    case 19:
      if (group === undefined) return 'nothing';
      world.member(group, random() < 0.3 ? randomPod(world) : {});
      return `member of ${group} added`;
    case 20:
      return some(open, ({ name, labels }) => {
        const { door, ...rest } = labels;
        core.change(name, { labels: door === 'shut' ? rest : { ...rest, door: 'shut' } });
        return `${name} labeled`;
      });
    case 21:
      return some(bound, ({ name }) => {
        core.change(name, { deleting: true });
        return `${name} leaving`;
      });
    case 22:
      world.isSlow = !world.isSlow;
      return `Bindings are ${world.isSlow ? 'slow' : 'fast'}`;
    default:
      await world.answer(() => random() < 0.5);
      return 'Bindings answered';
  }
}

for (const options of worlds) {
  it(`no entity that fits stays unschedulable, all get verdicts, and no work is wasted, with ${options.name}`, async () => {
    let unschedulable = 0;
    for (let seed = 1; seed <= runs(12); seed++) {
      const world = new World(seed, options);
      const { core } = world;
      core.queue.start();
      try {
        for (const node of nodeNames.slice(0, 3)) world.node(randomNode(world, node));
        for (let count = 0; count < 60; count++) {
          world.log.push(await step(world));
          world.expectQueue();
          if (world.random() < 0.5) continue;
          await world.drain();
          if (world.random() < 0.5) await world.later();
          unschedulable += core.queue.sizes.unschedulable;
          expect(world.lost(), `seed ${seed}`).toEqual([]);
          world.echoGroups();
        }
        world.isSlow = false;
        world.terminateAll();
        await world.later();
        world.echoGroups();
        await world.later();
        expect(world.lost()).toEqual([]);
        core.harness.clock.advance(1_000);
        await core.settle();
        world.expectReported();
        core.harness.clock.advance(60_000);
        await core.settle();
        world.expectOneCause();
        await world.later();
        await world.expectQuiet(world.pods.size);
        await world.expectQuiet(0);
      } catch (error) {
        throw new Error(`seed ${seed} after ${world.log.slice(-6).join('; ')}`, { cause: error });
      } finally {
        core.queue.stop();
      }
    }
    expect(unschedulable).toBeGreaterThan(runs(300));
  });
}
