import { describe, expect, it, vi } from 'vitest';
import { projectListed } from '../../api/listed-object.ts';
import type { ListedObject } from '../../api/listed-object.ts';
import type { Pod, RawPod } from '../../api/pod.ts';
import { hashText } from '../../base/hash-text.ts';
import { seededRandom } from '../../base/random.ts';
import type { Random } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import { keptBy } from '../../cluster/testing/node-assignments.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { RequestTerms } from '../ports.ts';

const no = new Status('Unschedulable', 'no');
const chance = (of: string, { name }: Pod, node: string): number => hashText(`${of} ${name} ${node}`) % 100;
const nodeNames = ['n0', 'n1', 'n2', 'n3', 'n4'];
const groupNames = ['red', 'blue', 'green'];

/** A watch event, or a response that the core waits for. What each triggers runs in its own order. */
const sorts = ['change', 'change', 'change', 'bind', 'preBind'] as const;
type EventSort = (typeof sorts)[number];

/** An outside event, the same in every world. */
type OutsideEvent = (world: World) => void | Promise<void>;

/** A core with random plugins of many kinds; equal seeds make equal worlds. */
class World {
  readonly core: Scheduling;
  /** pod -> the node where a plugin has it reserved */
  readonly reserved = new Map<string, string>();
  /** Unfinished PreBind calls. */
  readonly preBinds: { readonly pod: string; readonly end: () => void }[] = [];
  /** Names of the pods that a preemption has marked, in order. */
  readonly marked: string[] = [];
  /** Ends the requests for marks. */
  readonly #marks: (() => void)[] = [];
  /** Names of the objects in the API. */
  readonly #nodes = new Set<string>();
  readonly #pods: string[] = [];
  /** kind and name -> other objects that plugins read */
  readonly #listed = new Map<string, ListedObject>();
  #serial = 0;

  constructor(seed: number) {
    const random = seededRandom(seed);
    const plugins: { readonly name: string; readonly factory: PluginFactory; readonly weight?: number }[] = [];
    const add = (likelihood: number, plugin: Plugin | ((handle: PluginHandle) => Plugin), name: string): void => {
      if (random() < likelihood)
        plugins.push({ name, factory: (_, handle) => (typeof plugin === 'function' ? plugin(handle) : plugin) });
    };
    add(1, this.#accounting(), 'Accounting');
    add(0.4, unsigned, 'Unsigned');
    add(0.3, apart, 'Apart');
    add(0.2, throwing, 'Throwing');
    add(0.4, this.#slow(), 'Slow');
    add(0.3, preempting, 'Preempting');
    const ports = { evictor: { mark: (pod: Pod, _message: string, terms: RequestTerms) => this.#mark(pod, terms) } };
    this.core = new Scheduling({ plugins: [...defaultPlugins, ...plugins], seed, sendsAtOnce: true, ports });
    if (random() < 0.5) this.#list(namespaceOf(true));
    for (const name of nodeNames.slice(0, 2 + Math.floor(random() * 3))) this.node(name, 2 + Math.floor(random() * 4));
    for (const name of groupNames) {
      this.core.group({ name, minMember: 1 + Math.floor(random() * 6) });
      for (let i = Math.floor(random() * 9); i > 0; i--) this.pod(random, name);
    }
    for (let i = 0; i < 3; i++) this.pod(random);
    this.core.pod({ name: 'old', cpu: 1, nodeName: 'n0', priority: -5 });
  }

  async #mark({ name }: Pod, { mayBeSent }: RequestTerms): Promise<boolean> {
    mayBeSent();
    this.marked.push(name);
    await new Promise<void>((resolve) => this.#marks.push(resolve));
    return true;
  }

  /** The API server answers the requests for marks: what happened before may have ended their preemptions. */
  async answerMarks(): Promise<void> {
    for (const answer of this.#marks.splice(0)) answer();
    await this.core.settle();
  }

  /**
   * Returns a random event made from a seed: a watch event, or a response that is pending now. It answers a Binding only for
   * another group than the `tried` one: binding of a plan does not start once a sibling that it counts on is known to be lost.
   */
  outsideEvent(seed: number, kind: EventSort, tried?: string): OutsideEvent {
    const random = seededRandom(seed);
    const pickFrom = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
    const choice = random();
    const bind = this.core.binds.find(({ binding }) => this.#groupOf(binding.uid) !== (tried ?? ''))?.binding.name;
    const preBind = this.preBinds[0]?.pod;
    if (kind === 'preBind') return preBind === undefined ? () => undefined : (world) => world.#endPreBind(preBind);
    if (kind === 'bind') {
      if (bind === undefined) return () => undefined;
      return ({ core }) => (choice < 0.6 ? core.accept(bind) : core.reject(bind, 'no'));
    }
    const name = pickFrom(nodeNames)!;
    const group = pickFrom(groupNames)!;
    const pod = pickFrom(this.#pods);
    const amount = 1 + Math.floor(random() * 5);
    if (random() < 0.1) {
      const selected = pickFrom(groupNames)!;
      return (world) => world.#list(choice < 0.5 ? namespaceOf(choice < 0.25) : serviceOf(selected));
    }
    if (choice < 0.15 && this.#nodes.has(name)) return (world) => world.#removeNode(name);
    if (choice < 0.4) return (world) => world.node(name, amount);
    if (choice < 0.55) return ({ core }) => core.group({ name: group, minMember: amount });
    if (choice < 0.7 || pod === undefined) return (world) => world.pod(seededRandom(seed), group);
    if (choice < 0.85) return (world) => world.#remove(pod);
    const change = choice < 0.92 ? { phase: 'Failed' as const } : { nodeName: name };
    return ({ core }) => void core.change(pod, change);
  }

  #groupOf(uid: string): string | undefined {
    return this.core.harness.cluster.pod(uid)?.podGroupKey;
  }

  /** Adds or updates an object that plugins read; removes a Service that exists already. */
  #list(object: ListedObject): void {
    const { listed } = this.core.harness.core.handlers;
    const key = `${object.kind} ${object.name}`;
    const old = this.#listed.get(key);
    if (old !== undefined && object.kind === 'Service') {
      this.#listed.delete(key);
      listed.onDelete(old, false);
      return;
    }
    this.#listed.set(key, object);
    if (old === undefined) listed.onAdd(object);
    else listed.onUpdate(old, object);
  }

  #removeNode(name: string): void {
    this.#nodes.delete(name);
    this.core.removeNode(name);
  }

  #endPreBind(pod: string): void {
    const index = this.preBinds.findIndex((preBind) => preBind.pod === pod);
    this.preBinds.splice(index, 1)[0]!.end();
  }

  #remove(pod: string): void {
    this.#pods.splice(this.#pods.indexOf(pod), 1);
    this.core.removePod(pod);
  }

  node(name: string, cpu: number): void {
    this.#nodes.add(name);
    this.core.node({ name, cpu, pods: 8, labels: { 'kubernetes.io/hostname': name, zone: `z${cpu % 2}` } });
  }

  pod(random: Random, group?: string): void {
    const name = `p${this.#serial++}`;
    this.#pods.push(name);
    const options: PodOptions = {
      name,
      cpu: ['300m', '500m', '1', '2', '3'][Math.floor(random() * 5)]!,
      priority: Math.floor(random() * 2),
      labels: { team: random() < 0.3 ? 'apart' : '', app: group ?? 'lone' },
      ...(random() < 0.65 && { spec: placementRules(group ?? groupNames[Math.floor(random() * 3)]!) }),
    };
    this.core.pod(group === undefined ? options : { ...options, group });
  }

  /** Returns everything that readers of the cluster cache see, in order. */
  view() {
    const { cluster, waitingPods } = this.core.harness;
    return {
      capacities: this.core.harness.capacities() as unknown[],
      free: [0, 1, 2].map((id) => [cluster.capacity.free(id as never), cluster.capacity.largest(id as never)]),
      assumed: cluster.assumedCount,
      pods: [...cluster.pods()].map((pod) => [pod.name, cluster.nodeOf(pod)?.name, cluster.openPod(pod.uid)?.name]),
      gangs: [...cluster.gangs()].map((gang) => ({
        key: gang.key,
        counted: gang.counted,
        missing: gang.missing,
        pending: [...gang.pending.keys()],
        schedulers: [...gang.pendingBySchedulerName],
        members: [...gang.members.keys()].map((uid) => [uid, gang.stateOf(uid)]),
      })),
      reservations: [...cluster.reservations()].map(({ owner, nodeName, kind }) => `${kind} ${owner.name} ${nodeName}`),
      waiting: waitingPods.all().map(({ pod }) => pod.name),
      placementRules: keptBy(cluster),
      generations: [...cluster.generations.subarray(0, cluster.nodes.length)],
    };
  }

  /** Returns reads of single objects: name -> read. Each shows one part of the cluster cache. */
  reads(): ReadonlyMap<string, () => unknown> {
    const { cluster } = this.core.harness;
    // A rollback within the attempt changes the generation.
    const reads = new Map<string, () => unknown>([['generation', () => void cluster.generation]]);
    const contentOf = (node: NodeView | undefined): unknown =>
      node && [node.name, node.generation, [...node.pods.keys()], node.requested.entries()];
    for (const name of nodeNames) reads.set(`node ${name}`, () => contentOf(cluster.node(name)));
    for (const key of groupNames.map((name) => `default/${name}`)) {
      reads.set(key, () => {
        const gang = cluster.gang(key);
        return gang && [gang.counted, gang.missing, [...gang.pending.keys()]];
      });
    }
    for (const uid of this.#pods) {
      const pod = cluster.pod(uid);
      if (pod === undefined) continue;
      reads.set(`assumed ${uid}`, () => cluster.isAssumed(uid));
      reads.set(`open ${uid}`, () => cluster.openPod(uid)?.name);
      reads.set(`on ${uid}`, () => contentOf(cluster.nodeOf(pod)));
    }
    return reads;
  }

  /** Whether the nodes of all reservations exist. */
  get hasReservedNodes(): boolean {
    const { cluster } = this.core.harness;
    return [...cluster.reservations()].every(({ nodeName }) => cluster.node(nodeName) !== undefined);
  }

  /** Returns the complete outcome so far. */
  outcome(): unknown {
    const { queue, binds, harness } = this.core;
    return {
      view: this.view(),
      generation: harness.cluster.generation,
      queue: [...queue.entities()].map(({ key, state, attempts, errors, rejection, readySince, failedAt }) => {
        return {
          key,
          state,
          attempts,
          errors,
          unschedulablePlugins: [...rejection.unschedulablePlugins],
          readySince,
          failedAt,
        };
      }),
      binds: binds.map(({ binding }) => `${binding.name} ${binding.nodeName} ${JSON.stringify(binding.annotations)}`),
      verdicts: harness.written,
      events: harness.events.filter((event) => event !== 'Preempted old'),
      // The deletes follow the marks, so a change that arrived during the attempt may withdraw them.
      marked: this.marked,
      warnings: harness.warnings,
      reserved: [...this.reserved],
      preBinds: this.preBinds.map(({ pod }) => pod),
    };
  }

  /** Rejects some nodes at Reserve, and expects Unreserve for each reservation before the next. */
  #accounting(): Plugin {
    return {
      name: 'Accounting',
      reserve: (_state, pod, { name }) => {
        if (chance('reserve', pod, name) < 15) return no;
        if (this.reserved.has(pod.uid)) throw new Error(`${pod.name} is reserved twice`);
        this.reserved.set(pod.uid, name);
        return undefined;
      },
      unreserve: (_state, pod) => void this.reserved.delete(pod.uid),
    };
  }

  /** PreBind takes until the test ends it. Filter then checks the plan again. */
  #slow(): Plugin {
    return {
      name: 'Slow',
      sign: () => '',
      // Filter reads the plugin's own account, so an unfinished plan in it could cause a rejection.
      filter: (_state, pod, { name }) =>
        [...this.reserved].filter(([uid, node]) => node === name && uid !== pod.uid).length > 5 ? no : undefined,
      preBind: (_state, pod) =>
        new Promise((resolve) => this.preBinds.push({ pod: pod.name, end: () => resolve(undefined) })),
    };
  }
}

/** Pods of red need one zone, pods of blue need separate nodes, and pods of green are spread over zones. */
function placementRules(group: string): Partial<RawPod['spec']> {
  const labelSelector = { matchLabels: { app: group } };
  const namespaceSelector = { matchLabels: { open: 'yes' } };
  switch (group) {
    case 'red': {
      const term = { topologyKey: 'zone', labelSelector, namespaceSelector, namespaces: ['default'] };
      return { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    }
    case 'blue': {
      const term = { topologyKey: 'kubernetes.io/hostname', labelSelector, namespaceSelector };
      const demand = { weight: 10, podAffinityTerm: { topologyKey: 'zone', labelSelector } };
      return {
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
          podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [demand] },
        },
      };
    }
    default: {
      const zone = { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector } as const;
      const node = { ...zone, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' } as const;
      return { topologySpreadConstraints: [zone, node] };
    }
  }
}

const namespaceOf = (isOpen: boolean): ListedObject =>
  projectListed('Namespace', { metadata: { name: 'default', labels: { open: isOpen ? 'yes' : 'no' } } });

const serviceOf = (app: string): ListedObject =>
  projectListed('Service', { metadata: { name: app, namespace: 'default' }, spec: { selector: { app } } });

/** Gives no pod a signature. */
const unsigned: Plugin = {
  name: 'Unsigned',
  filter: (_state, pod, { name }) => (chance('filter', pod, name) < 20 ? no : undefined),
  score: (_state, pod, { name, pods }) => (chance('score', pod, name) + pods.size) % 7,
};

const throwing: Plugin = {
  name: 'Throwing',
  filter: (_state, pod, { name }) => {
    if (chance('throw', pod, name) < 2) throw new Error('broken');
    return undefined;
  },
};

/** Keeps two pods of a team off the same node; reads all nodes. */
const apart = ({ cluster }: PluginHandle): Plugin => ({
  name: 'Apart',
  readsOtherNodes: true,
  sign: ({ labels }) => labels.team ?? '',
  preFilter: (state, pod) => {
    const taken = cluster.nodes.filter(({ pods }) =>
      [...pods.values()].some(({ labels }) => labels.team === 'apart' && pod.labels.team === 'apart'),
    );
    state.write('Apart/taken', new Set(taken.map(({ name }) => name)));
    return undefined;
  },
  filter: (state, { labels }, { name }) =>
    labels.team === 'apart' && state.read<Set<string>>('Apart/taken')!.has(name) ? no : undefined,
});

/** Preempts all pods of negative priority if that helps. */
const preempting = (handle: PluginHandle): Plugin => ({
  name: 'Preempting',
  postFilter: (schedulingEntity) => {
    const victims = [...handle.cluster.pods()].filter(({ priority, nodeName }) => priority < 0 && nodeName !== '');
    const { fits, plan } = handle.dryRun(schedulingEntity, { without: victims });
    return fits && victims.length > 0 ? { message: 'Preempting pods.', nominations: plan, victims } : undefined;
  },
});

const groupOf = (schedulingEntity: SchedulingEntity): string | undefined =>
  schedulingEntity.kind === 'gang' ? schedulingEntity.gang.key : schedulingEntity.pod.podGroupKey;

/**
 * Makes one attempt in both worlds. In one it runs in steps, while other events happen. In the other it runs at once, and the
 * events follow. Returns whether there was an entity to try.
 */
async function attempt(seed: number, [inSteps, atOnce]: readonly [World, World], coverage: Coverage): Promise<boolean> {
  const random = seededRandom(seed);
  const before = inSteps.view();
  const reads = [...inSteps.reads()].map(([name, read]) => ({ name, read, result: read() }));
  // Compare only if no reservation is on a missing node, because the attempt ends such reservations for good.
  const canCompare = inSteps.hasReservedNodes;
  const outsideEvents: OutsideEvent[] = [];
  const sort = sorts[Math.floor(random() * sorts.length)]!;
  let steps = 0;
  let isDecided = false;
  let kind: string | undefined;
  for (;;) {
    kind = inSteps.core.harness.core.attempt([0, 1, 20, 100][Math.floor(random() * 4)]!)?.kind;
    await inSteps.core.settle();
    if (kind !== 'paused') break;
    steps++;
    const inFlight = [...inSteps.core.queue.entities()].filter(({ state }) => state.kind === 'inFlight');
    // The attempt is decided, and the changes that it deferred are running.
    isDecided = inFlight.length === 0;
    if (isDecided) continue;
    expect(inFlight).toHaveLength(1);
    if (canCompare && random() < 0.5) {
      for (let count = Math.floor(random() * 4); count > 0; count--) {
        const { name, read, result } = reads[Math.floor(random() * reads.length)]!;
        expect(read(), name).toEqual(result);
        coverage.reads++;
      }
    }
    const compares = canCompare && random() < 0.5;
    if (compares) expect(inSteps.view()).toEqual(before);
    if (random() < 0.9) continue;
    const outsideEvent = inSteps.outsideEvent(Math.floor(random() * 1e9), sort, groupOf(inFlight[0]!.schedulingEntity));
    outsideEvents.push(outsideEvent);
    await outsideEvent(inSteps);
    await inSteps.core.settle();
    if (compares) expect(inSteps.view()).toEqual(before);
  }
  expect(atOnce.core.harness.core.attempt()?.kind).toBe(kind);
  // If there was a turn for them, the attempt's effects come first. Otherwise the deferred changes do.
  if (isDecided) await atOnce.core.settle();
  for (const outsideEvent of outsideEvents) {
    await outsideEvent(atOnce);
    if (sort !== 'change') await atOnce.core.settle();
  }
  await atOnce.core.settle();
  for (const world of [inSteps, atOnce]) await world.answerMarks();
  coverage.pauses += steps;
  coverage.events += outsideEvents.length;
  if (steps > 0 && kind !== undefined) coverage.ends.add(kind);
  return kind !== undefined;
}

/** Counts what came up, to check that every case did. */
interface Coverage {
  pauses: number;
  events: number;
  readonly ends: Set<string>;
  /** plugin name -> number of Filter calls */
  readonly filtered: Map<string, number>;
  /** Gangs that were tried in one topology domain after another. */
  searched: number;
  /** Reads of single objects during a pause. */
  reads: number;
}

describe('an attempt in steps', () => {
  it('ends like an attempt at once, and events during it take effect after it, in order and without loss', async () => {
    const coverage: Coverage = { pauses: 0, events: 0, ends: new Set(), filtered: new Map(), searched: 0, reads: 0 };
    for (let seed = 1; seed <= runs(120); seed++) {
      const worlds = [new World(seed), new World(seed)] as const;
      const [inSteps, atOnce] = worlds;
      const profile = inSteps.core.harness.core.profiles.first;
      const domainsFor = vi.spyOn(profile, 'domainsFor');
      const random = seededRandom(seed);
      for (let round = 0; round < 12; round++) {
        const hasTried = await attempt(seed * 100 + round, worlds, coverage);
        expect(inSteps.outcome(), `seed ${seed}, round ${round}`).toEqual(atOnce.outcome());
        if (hasTried) continue;
        for (const kind of ['change', 'preBind', 'bind', 'change'] as const) {
          const outsideEvent = inSteps.outsideEvent(Math.floor(random() * 1e9), kind);
          for (const world of worlds) await outsideEvent(world);
          for (const world of worlds) await world.core.settle();
        }
        for (const world of worlds) world.core.harness.clock.advance(500);
        for (const world of worlds) await world.core.settle();
      }
      for (const { plugin, point, calls } of profile.calls()) {
        if (point === 'Filter') coverage.filtered.set(plugin, (coverage.filtered.get(plugin) ?? 0) + calls);
      }
      coverage.searched += domainsFor.mock.results.filter(({ value }) => (value as unknown[]).length > 0).length;
    }
    expect(coverage.pauses).toBeGreaterThan(runs(5_000));
    expect(coverage.reads).toBeGreaterThan(runs(2_000));
    expect(coverage.filtered.get('InterPodAffinity')).toBeGreaterThan(runs(1_000));
    expect(coverage.filtered.get('PodTopologySpread')).toBeGreaterThan(runs(1_000));
    expect(coverage.searched).toBeGreaterThanOrEqual(runs(5));
    expect(coverage.events).toBeGreaterThan(runs(200));
    expect([...coverage.ends]).toEqual(expect.arrayContaining(['planned', 'rejected']));
  });

  it('leaves no pod assumed or reserved if the scheduler stops at any pause', async () => {
    let stopped = 0;
    for (let seed = 1; seed <= runs(300); seed++) {
      const world = new World(seed);
      const { core, harness } = { core: world.core.harness.core, harness: world.core.harness };
      const random = seededRandom(seed);
      for (let round = Math.floor(random() * 4); round > 0; round--) await world.core.attempt();
      const [before, reserved] = [world.view(), [...world.reserved]];
      let at = 1 + Math.floor(random() * 30);
      let kind = core.attempt(0)?.kind;
      while (kind === 'paused' && --at > 0) kind = core.attempt(Math.floor(random() * 20))?.kind;
      if (kind !== 'paused') continue;
      if (random() < 0.5) expect(world.view()).toEqual(before);
      stopped++;
      const change = random() < 0.5;
      if (change) world.node('n9', 1);
      const end = core.stop();
      expect([...world.reserved], `seed ${seed}`).toEqual(reserved);
      const now = world.view();
      expect(now.capacities.slice(0, before.capacities.length)).toEqual(before.capacities);
      expect(now.capacities).toHaveLength(before.capacities.length + (change ? 1 : 0));
      if (!change) expect(now, `seed ${seed}`).toEqual(before);
      expect([harness.cluster.isPlanning, core.attempt(0)]).toEqual([false, undefined]);
      for (const { end: endPreBind } of world.preBinds) endPreBind();
      world.core.binds.forEach(({ accept }) => accept());
      harness.clock.advance(60_000);
      await end;
    }
    expect(stopped).toBeGreaterThan(runs(60));
  });

  it('is decided first if a caller asks for a dry run in the meantime', async () => {
    let tries = 0;
    for (let seed = 1; seed <= runs(300); seed++) {
      const worlds = [new World(seed), new World(seed)] as const;
      const [inSteps, atOnce] = worlds.map(({ core }) => core.harness.core) as [
        (typeof worlds)[0]['core']['harness']['core'],
        (typeof worlds)[0]['core']['harness']['core'],
      ];
      const random = seededRandom(seed);
      let at = 1 + Math.floor(random() * 20);
      let kind = inSteps.attempt(0)?.kind;
      while (kind === 'paused' && --at > 0) kind = inSteps.attempt(1)?.kind;
      if (kind !== 'paused') continue;
      tries++;
      atOnce.attempt();
      const dryRunOf = ({ core }: World): unknown => {
        const gang = core.harness.cluster.gang('default/blue');
        if (gang === undefined) return undefined;
        const { fits, plan } = core.harness.core.dryRun({ kind: 'gang', gang });
        return [fits, plan.map(({ pod, nodeName }) => `${pod.name} ${nodeName}`)];
      };
      expect(dryRunOf(worlds[0]), `seed ${seed}`).toEqual(dryRunOf(worlds[1]));
      for (const world of worlds) await world.core.settle();
      expect(worlds[0].outcome(), `seed ${seed}`).toEqual(worlds[1].outcome());
    }
    expect(tries).toBeGreaterThan(runs(80));
  });
});
