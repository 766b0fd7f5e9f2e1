import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Pod } from '../api/pod.ts';
import { seededRandom } from '../base/random.ts';
import { runs } from '../base/testing/runs.ts';
import type { PluginFactory } from '../framework/plugin.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { StorageScheduling } from '../plugins/testing/storage-scheduling.ts';
import type { QueuedEntity } from '../queue/queued-entity.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';

const hosts = ['a', 'b', 'c'];
const hostname = 'kubernetes.io/hostname';
const namespaces = ['default', 'other'];

/** Spreads pods that a Service or a controller selects evenly over hosts. */
const withHardDefaults = defaultPlugins.map(({ name, factory, ...plugin }) => {
  const constraint = { maxSkew: 1, topologyKey: hostname, whenUnsatisfiable: 'DoNotSchedule' };
  const args = { defaultingType: 'List', defaultConstraints: [constraint] };
  return { ...plugin, name, factory: name === 'PodTopologySpread' ? factoryWith(factory, args) : factory };
});

function factoryWith(factory: PluginFactory, args: unknown): PluginFactory {
  return (_, handle) => factory(args, handle);
}

type Labels = Readonly<Record<string, string>>;

/** A small cluster in which everything that a plugin may read changes. The test knows nothing about hints. */
class World {
  readonly core: StorageScheduling;
  readonly log: string[] = [];
  unschedulableSoFar = 0;
  readonly #random: () => number;
  readonly #nodes = new Map<string, number>();
  /** kind and name -> its immutable fields, as text */
  readonly #shown = new Map<string, { readonly fixed: string }>();
  readonly #pods = new Set<string>();
  #made = 0;

  readonly #kinds: readonly string[];
  readonly #isInSteps: boolean;

  constructor(seed: number, kinds: readonly string[]) {
    this.#kinds = kinds;
    this.core = new StorageScheduling({ plugins: this.has('services') ? withHardDefaults : defaultPlugins });
    this.#random = seededRandom(seed);
    this.#isInSteps = this.chance(0.5);
    for (const name of namespaces) this.#namespace(name);
    for (const name of hosts) this.#node(name);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  has(kind: string): boolean {
    return this.#kinds.includes(kind);
  }

  #namespace(name: string): string {
    const labels = { team: this.pick(['red', 'blue']) };
    this.#shown.set(`Namespace ${name}`, { fixed: '' });
    this.core.object('Namespace', { metadata: { name, labels } });
    return `namespace ${name} is ${labels.team}`;
  }

  #node(name: string): string {
    const labels = {
      [hostname]: name,
      ...(this.chance(0.8) && { zone: this.pick(['x', 'y']) }),
    };
    this.#nodes.set(name, 1);
    const cpu = this.pick([1, 2, 4]);
    const taints = this.chance(0.15) ? ['own:NoSchedule'] : [];
    const devices = this.has('devices') && this.chance(0.7) ? this.pick([1, 2]) : 0;
    this.core.node({
      name,
      cpu,
      labels,
      taints,
      allocatable: { 'example.com/gpu': devices },
      pods: this.pick([2, 110]),
      ...(this.chance(0.1) && { unschedulable: true }),
    });
    return `node ${name} ${JSON.stringify(labels)} cpu ${cpu} ${taints.join()}`;
  }

  #labels(): Labels {
    return { ...(this.chance(0.7) && { app: this.pick(['a', 'b']) }) };
  }

  #term(): object {
    return {
      topologyKey: this.pick([hostname, 'zone']),
      labelSelector: { matchLabels: { app: this.pick(['a', 'b']) } },
      ...(this.chance(0.3) && { namespaceSelector: { matchLabels: { team: 'red' } } }),
    };
  }

  #options(): PodOptions {
    const spec: Record<string, unknown> = {};
    if (this.has('affinity') && this.chance(0.5)) {
      spec.affinity = this.chance(0.5)
        ? { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [this.#term()] } }
        : { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [this.#term()] } };
    }
    if (this.has('spread') && this.chance(0.5)) {
      spec.topologySpreadConstraints = [
        {
          maxSkew: 1,
          topologyKey: this.pick([hostname, 'zone']),
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: this.pick(['a', 'b']) } },
          ...(this.chance(0.3) && { minDomains: 2 }),
          ...(this.chance(0.3) && { nodeTaintsPolicy: 'Honor' }),
        },
      ];
    }
    if (this.has('volumes') && this.chance(0.7)) {
      const name = this.pick(['c0', 'c1', 'c2', 'c3']);
      spec.volumes = [{ name, persistentVolumeClaim: { claimName: name } }];
    }
    if (this.has('volumes') && this.chance(0.2)) {
      spec.volumes = [{ name: 'disk', gcePersistentDisk: { pdName: this.pick(['d0', 'd1']) } }];
    }
    return {
      cpu: this.pick(['500m', 1, 2]),
      ...(this.has('devices') && this.chance(0.5) && { requests: { 'example.com/gpu': 1 } }),
      ...(this.has('services') && this.chance(0.5) && { owner: this.pick(['r0', 'r1']) }),
      labels: this.#labels(),
      namespace: this.has('affinity') ? this.pick(namespaces) : 'default',
      ...(this.chance(0.2) && { tolerations: [{ key: 'own', operator: 'Exists' }] }),
      ...(this.chance(0.15) && { hostPorts: [80] }),
      ...(this.chance(0.15) && { nodeSelector: { zone: 'x' } }),
      ...(this.chance(0.2) && { priority: 5 }),
      spec,
    };
  }

  #pod(name: string, options: PodOptions): void {
    this.#pods.add(name);
    this.core.pod({ ...options, name });
  }

  #all(): Pod[] {
    return [...this.#pods].flatMap((name) => this.core.harness.cluster.pod(name) ?? []);
  }

  #selecting(): string {
    const kind = this.pick(['Service', 'ReplicaSet'] as const);
    const name = this.pick(['r0', 'r1']);
    const key = `${kind} ${name}`;
    if (this.#shown.has(key) && this.chance(0.4)) {
      this.#shown.delete(key);
      this.core.removeObject(kind, name);
      return `${key} gone`;
    }
    this.#shown.set(key, { fixed: '' });
    const app = this.pick(['a', 'b']);
    const selector = kind === 'Service' ? { app } : { matchLabels: { app } };
    this.core.object(kind, { metadata: { name, namespace: 'default' }, spec: { selector } });
    return `${key} selects ${app}`;
  }

  /** Changes a random object of the kinds that are listed, and describes the change. */
  #object(): string {
    const { core } = this;
    const kind = this.pick([
      'PV',
      'PV',
      'PVC',
      'PVC',
      'PVC',
      'SC',
      'CSINode',
      'CSINode',
      'CSIDriver',
      'VA',
      'Capacity',
    ]);
    const isRemoved = this.chance(0.25);
    const show = (key: string, text: string, make: () => void, remove: () => void, fixed = ''): string => {
      const shown = this.#shown.get(key);
      if (isRemoved) {
        if (!this.#shown.delete(key)) return 'nothing';
        remove();
        return `${key} gone`;
      }
      // An object whose immutable fields differ is recreated under its name.
      if (shown !== undefined && shown.fixed !== fixed) remove();
      this.#shown.set(key, { fixed });
      make();
      return `${key} ${text}`;
    };
    switch (kind) {
      case 'PV': {
        const name = this.pick(['v0', 'v1', 'v2']);
        // A volume with an attachment must not be removed.
        if ([...this.#shown].some(([key, { fixed }]) => key.startsWith('VA ') && fixed.includes(`"${name}"`)))
          return 'nothing';
        const claim = this.chance(0.3) ? this.pick(['c0', 'c1']) : undefined;
        const node = this.chance(0.7) ? this.pick(hosts) : undefined;
        const storageClass = this.pick(['manual', 'manual', 'wait']);
        const csi = this.chance(0.5)
          ? { driver: 'csi.example', volumeHandle: this.pick(['h0', 'h1', 'h2']) }
          : undefined;
        const labels = this.chance(0.2) ? { 'topology.kubernetes.io/zone': 'x' } : undefined;
        const options = {
          storageClass,
          size: this.pick(['1Gi', '2Gi']),
          ...(claim !== undefined && { claim }),
          ...(node !== undefined && { node }),
          ...(csi !== undefined && { csi }),
          ...(labels !== undefined && { labels }),
        };
        return show(
          `PV ${name}`,
          JSON.stringify(options),
          () => core.volume(name, options),
          () => core.removeObject('PersistentVolume', name),
          JSON.stringify([storageClass, options.size, node, csi]),
        );
      }
      case 'PVC': {
        const name = this.pick(['c0', 'c1', 'c2', 'c3']);
        const volume = this.chance(0.4) ? this.pick(['v0', 'v1', 'v2']) : undefined;
        const selectedNode = this.chance(0.1) ? this.pick(hosts) : undefined;
        const fixed = this.#shown.get(`PVC ${name}`)?.fixed;
        if (fixed?.endsWith('""]') === true && !isRemoved && this.chance(0.5)) {
          const [storageClass, modes, size] = JSON.parse(fixed) as [string, string[], string];
          const chosen = volume ?? this.pick(['v0', 'v1']);
          core.claim(name, { storageClass, modes, size, volume: chosen });
          this.#shown.set(`PVC ${name}`, { fixed: JSON.stringify([storageClass, modes, size, chosen]) });
          return `PVC ${name} bound to ${chosen}`;
        }
        const options = {
          storageClass: this.pick(['manual', 'wait', 'now']),
          modes: [this.pick(['ReadWriteOnce', 'ReadWriteOncePod'])],
          size: this.pick(['1Gi', '2Gi']),
          ...(volume !== undefined && { volume }),
          ...(selectedNode !== undefined && { selectedNode }),
        };
        return show(
          `PVC ${name}`,
          JSON.stringify(options),
          () => core.claim(name, options),
          () => core.removeObject('PersistentVolumeClaim', name),
          JSON.stringify([options.storageClass, options.modes, options.size, volume ?? '']),
        );
      }
      case 'SC': {
        const name = this.pick(['wait', 'now']);
        const topologies = this.chance(0.4)
          ? { allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: [this.pick(['x', 'y'])] }] }] }
          : {};
        const mode = name === 'now' ? { volumeBindingMode: 'Immediate' } : {};
        return show(
          `SC ${name}`,
          JSON.stringify(topologies),
          () => core.class(name, { ...topologies, ...mode }),
          () => core.removeObject('StorageClass', name),
        );
      }
      case 'CSINode': {
        const name = this.pick(hosts);
        const count = this.pick([0, 1, 2, undefined]);
        const drivers = this.chance(0.8)
          ? [{ name: 'csi.example', ...(count !== undefined && { allocatable: { count } }) }]
          : [];
        return show(
          `CSINode ${name}`,
          JSON.stringify(drivers),
          () => core.object('CSINode', { metadata: { name }, spec: { drivers } }),
          () => core.removeObject('CSINode', name),
        );
      }
      case 'CSIDriver': {
        const spec = { storageCapacity: this.chance(0.5), preventPodSchedulingIfMissing: this.chance(0.5) };
        return show(
          'CSIDriver',
          JSON.stringify(spec),
          () => core.object('CSIDriver', { metadata: { name: 'csi.example' }, spec }),
          () => core.removeObject('CSIDriver', 'csi.example'),
        );
      }
      case 'VA': {
        const name = this.pick(['t0', 't1']);
        const spec = {
          attacher: 'csi.example',
          nodeName: this.pick(hosts),
          source: { persistentVolumeName: this.pick(['v0', 'v1', 'v2']) },
        };
        return show(
          `VA ${name}`,
          JSON.stringify(spec),
          () => core.object('VolumeAttachment', { metadata: { name }, spec }),
          () => core.removeObject('VolumeAttachment', name),
          JSON.stringify(spec),
        );
      }
      default: {
        const name = this.pick(['s0', 's1']);
        const nodeTopology = { matchLabels: { [hostname]: this.pick(hosts) } };
        const capacity = this.pick(['1Gi', '2Gi', '5Gi']);
        return show(
          `Capacity ${name}`,
          `${capacity} ${JSON.stringify(nodeTopology)}`,
          () =>
            core.object('CSIStorageCapacity', {
              metadata: { name, namespace: 'default' },
              storageClassName: 'wait',
              nodeTopology,
              capacity,
            }),
          () => core.removeObject('CSIStorageCapacity', name),
          JSON.stringify(nodeTopology),
        );
      }
    }
  }

  /** Makes one random change of the cluster, and describes it. */
  step(): string {
    const { core } = this;
    const all = this.#all();
    const bound = all.filter(({ nodeName }) => nodeName !== '');
    const assumed = all.filter(({ uid }) => core.harness.cluster.isAssumed(uid));
    const open = all.filter(({ uid }) => core.harness.cluster.openPod(uid) !== undefined);
    const some = (from: readonly Pod[], act: (pod: Pod) => string): string =>
      from.length === 0 ? 'nothing' : act(this.pick(from));
    if (this.has('volumes') && this.chance(0.4)) return this.#object();
    if (this.has('services') && this.chance(0.2)) return this.#selecting();
    switch (Math.floor(this.#random() * 20)) {
      case 0:
      case 1: {
        const name = `y${this.#made++}`;
        const options = this.#options();
        this.#pod(name, options);
        return `own pod ${name} ${JSON.stringify(options)}`;
      }
      case 2: {
        const group = `g${this.#made++}`;
        const options = { ...this.#options(), group };
        const count = this.pick([1, 2]);
        core.group({ name: group, minMember: count, namespace: options.namespace! });
        for (let i = 0; i < count; i++) this.#pod(`${group}-${i}`, options);
        return `group ${group} of ${count} ${JSON.stringify(options)}`;
      }
      case 3:
      case 4: {
        const name = `x${this.#made++}`;
        const options = { ...this.#options(), nodeName: this.pick(hosts) };
        this.#pod(name, options);
        return `${name} bound on ${options.nodeName} ${JSON.stringify(options)}`;
      }
      case 5: {
        const name = this.pick(hosts);
        if (this.#nodes.has(name) && this.chance(0.3)) {
          this.#nodes.delete(name);
          core.removeNode(name);
          return `node ${name} gone`;
        }
        return this.#node(name);
      }
      case 6: {
        const name = this.pick(namespaces);
        if (!this.#shown.delete(`Namespace ${name}`) || this.chance(0.7)) return this.#namespace(name);
        core.removeObject('Namespace', name);
        return `namespace ${name} gone`;
      }
      case 7:
      case 8:
        return some(bound, ({ name }) => {
          this.#pods.delete(name);
          core.removePod(name);
          return `bound ${name} deleted`;
        });
      case 9:
        return some(all, ({ name }) => {
          const labels = this.#labels();
          core.change(name, { labels });
          return `${name} labeled ${JSON.stringify(labels)}`;
        });
      case 10:
        return some(bound, ({ name }) => {
          core.change(name, { phase: this.pick(['Succeeded', 'Failed']), ...(this.chance(0.5) && { labels: {} }) });
          return `${name} ended`;
        });
      case 11:
        return some(bound, ({ name }) => {
          core.change(name, { deleting: true });
          return `${name} leaving`;
        });
      case 12:
        return some(open, ({ name }) => {
          this.#pods.delete(name);
          core.removePod(name);
          return `open ${name} deleted`;
        });
      case 13:
        return some(assumed, ({ name }) => {
          if (this.chance(0.5)) {
            this.#pods.delete(name);
            core.removePod(name);
            return `assumed ${name} deleted`;
          }
          const labels = this.#labels();
          core.change(name, { labels });
          return `assumed ${name} labeled ${JSON.stringify(labels)}`;
        });
      case 14:
        return some(all, ({ name, template, phase }) => {
          if (phase === 'Succeeded' || phase === 'Failed') return 'nothing';
          const { requests } = core.harness.build.projectedPod({ cpu: this.pick(['250m', '1500m']) }).template;
          core.change(name, { template: { ...template, requests } });
          return `${name} resized`;
        });
      case 15: {
        const name = `z${this.#made++}`;
        const options = {
          ...this.#options(),
          nominatedNodeName: this.pick(hosts),
          schedulerName: this.pick(['other', 'default-scheduler']),
          priority: 10,
        };
        this.#pod(name, options);
        return `${name} nominated ${JSON.stringify(options)}`;
      }
      case 16:
        return some(open, ({ name, nominatedNodeName }) => {
          core.change(name, { nominatedNodeName: nominatedNodeName === '' ? this.pick(hosts) : '' });
          return `${name} nominated or no longer`;
        });
      case 17:
        return some(open, ({ name, nominatedNodeName }) => {
          if (nominatedNodeName === '') return 'nothing';
          const labels = this.#labels();
          core.change(name, { labels });
          return `nominated ${name} labeled ${JSON.stringify(labels)}`;
        });
      default:
        return 'Bindings answered';
    }
  }

  /** Runs attempts until the active queue is empty. With a work budget, changes happen during pauses. */
  async #drain(): Promise<void> {
    const { core } = this;
    for (let changes = 0; ;) {
      const result = core.harness.core.attempt(this.#isInSteps ? 1 + Math.floor(this.#random() * 4) : Infinity);
      if (result?.kind === 'paused') {
        if (this.chance(0.15) && changes++ < 3) this.log.push(`at a pause: ${this.step()}`);
        continue;
      }
      await core.settle();
      if (result === undefined && core.queue.sizes.active === 0) return;
    }
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await this.#drain();
      await this.core.advance(11_000);
    }
    await this.#drain();
  }

  /** Plays the PV controller and the provisioner for the scheduler's writes. */
  async #reconcileVolumes(): Promise<void> {
    const { core } = this;
    for (const text of core.written.splice(0)) {
      if (this.chance(0.2)) continue;
      const [first, second] = text.split(/ for | on /) as [string, string];
      const [claim, volume] = text.includes(' for ') ? [second, first] : [first, this.pick(['v0', 'v1', 'v2'])];
      if (!this.#shown.has(`PVC ${claim}`)) continue;
      const [storageClass, modes, size] = JSON.parse(this.#shown.get(`PVC ${claim}`)!.fixed) as [
        string,
        string[],
        string,
      ];
      const its = JSON.stringify([storageClass, size, undefined, undefined]);
      if (this.#shown.has(`PV ${volume}`) && !text.includes(' for ')) continue;
      if (this.#shown.has(`PV ${volume}`) && this.#shown.get(`PV ${volume}`)!.fixed !== its)
        core.removeObject('PersistentVolume', volume);
      this.#shown.set(`PV ${volume}`, { fixed: its });
      this.#shown.set(`PVC ${claim}`, { fixed: JSON.stringify([storageClass, modes, size, volume]) });
      core.volume(volume, { storageClass, size, claim });
      core.claim(claim, { storageClass, modes, size, volume });
      this.log.push(`${volume} bound to ${claim}`);
      await core.advance(1_000);
    }
  }

  async answer(): Promise<void> {
    const { core } = this;
    await this.#reconcileVolumes();
    while (core.binds.length > 0) {
      const { name, nodeName } = core.binds[0]!.binding;
      const pod = core.harness.cluster.pod(name);
      if (pod === undefined || this.chance(0.2)) {
        await core.reject(name, 'no');
        continue;
      }
      const labels = this.chance(0.3) ? this.#labels() : pod.labels;
      await core.accept(name);
      this.log.push(`${name} bound on ${nodeName} with ${JSON.stringify(labels)}`);
      core.change(name, { nodeName, phase: 'Running', labels });
    }
    await core.settle();
  }

  get unschedulable(): QueuedEntity[] {
    const { queue } = this.core;
    return [...queue.entities()].filter(
      (entity) => entity.state.kind === 'unschedulable' && queue.classOf(entity)!.isIdle,
    );
  }

  lost(): string[] {
    const { harness } = this.core;
    if (harness.cluster.assumedCount > 0) return [];
    const lost: string[] = [];
    for (const { key, schedulingEntity, rejection } of this.unschedulable) {
      let fits = true;
      for (let round = 0; round < 4 && fits; round++) fits = harness.core.dryRun(schedulingEntity).fits;
      if (fits) lost.push(`${key} (${[...rejection.unschedulablePlugins].join()})`);
    }
    return lost;
  }
}

/** Returns the first entity that waits for an event although it fits, with the changes before it; undefined if there is none. */
async function firstLost(world: World): Promise<string | undefined> {
  for (let count = 0; count < 40; count++) {
    const step = world.step();
    world.log.push(step);
    if (step === 'Bindings answered') await world.answer();
    await world.settle();
    if (world.chance(0.5)) {
      await world.answer();
      await world.settle();
    }
    world.unschedulableSoFar += world.unschedulable.length;
    const [lost] = world.lost();
    if (lost !== undefined) return `${lost} after ${world.log.join('\n')}`;
  }
  return undefined;
}

const worlds = [
  ['affinity'],
  ['spread'],
  ['services'],
  ['volumes'],
  ['devices'],
  ['affinity', 'spread', 'services', 'volumes', 'devices'],
];

for (const kinds of worlds) {
  it(`no pod or gang that fits stays unschedulable, whatever changes: ${kinds.join(', ')}`, async () => {
    let unschedulable = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
        const world = new World(seed, kinds);
        expect(await firstLost(world)).toBeUndefined();
        unschedulable += world.unschedulableSoFar;
      }),
      { numRuns: 20, endOnFailure: true },
    );
    expect(unschedulable).toBeGreaterThan(runs(300));
  });
}
