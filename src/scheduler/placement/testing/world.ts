import { expect } from 'vitest';
import { projectListed } from '../../../api/listed-object.ts';
import type { ListedKind, ListedObject } from '../../../api/listed-object.ts';
import type { Pod } from '../../../api/pod.ts';
import type { Random } from '../../../base/random.ts';
import type { Profile } from '../../../framework/profile.ts';
import { defaultPlugins, pluginRegistry } from '../../../plugins/registry.ts';
import type { NodeOptions } from '../../../testkit/builders/node.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { claimNames, volumeNames, WorldDraws } from './world-draws.ts';
import type { WorldSize } from './world-draws.ts';
import { accounting, bulk, far, neighbors, pinning, skipping, team, unsigned } from './world-plugins.ts';
import type { BulkOptions, NeighborRule, WorldPlugin } from './world-plugins.ts';

const otherArguments: Readonly<Record<string, unknown>> = {
  NodeResourcesFit: {
    scoringStrategy: { type: 'MostAllocated', resources: [{ name: 'cpu', weight: 3 }] },
    ignoredResources: ['example.com/gpu'],
  },
  PodTopologySpread: {
    defaultingType: 'List',
    defaultConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
  },
  InterPodAffinity: { hardPodAffinityWeight: 100, ignorePreferredTermsOfExistingPods: true },
  NodeAffinity: {
    addedAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 7, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } },
      ],
    },
  },
  VolumeBinding: {
    shape: [
      { utilization: 0, score: 10 },
      { utilization: 100, score: 0 },
    ],
  },
};

interface WorldOptions {
  /** Default: `small`. */
  readonly size?: WorldSize;
  /** The test's own plugins, instead of random ones. */
  readonly plugins?: (random: Random) => readonly WorldPlugin[];
}

/** A gang to place. */
export interface WorldGang {
  readonly uids: readonly string[];
  readonly profileName: string;
}

/**
 * A random cluster made from a seed: nodes, pods, all kinds of objects that plugins read, and plugins in addition to Tutti's own.
 * These plugins decide by what they read, not by chance. The world changes as a test goes on. A test can build any number of
 * cluster caches that show its latest state.
 */
export class World extends WorldDraws {
  readonly nodes = new Map<string, NodeOptions>();
  readonly pods = new Map<string, PodOptions>();
  /** kind, namespace and name -> the object */
  readonly objects = new Map<string, ListedObject>();
  /** What pods of the same class have in common. */
  readonly podClasses: PodOptions[];
  /** Undefined: no plugin enforces a rule. */
  readonly rule: NeighborRule | undefined;
  /** Names of the plugins in addition to Tutti's own. */
  readonly plugins: ReadonlySet<string>;
  readonly #make: (nodes: () => CoreHarness['cluster']['nodes']) => readonly WorldPlugin[];
  readonly #areOwnFirst: boolean;
  readonly #plannerSeed: number;

  constructor(seed: number, { size = 'small', plugins }: WorldOptions = {}) {
    super(seed, size);
    const isSmall = size === 'small';
    const count = this.nodeNames.length;
    const [hasRule, areOwnFirst] = [this.flag(isSmall ? 0.4 : 0.2), this.flag(0.5)];
    this.rule = hasRule && plugins === undefined ? this.#rule() : undefined;
    this.#make = plugins === undefined ? this.#drawPlugins() : this.#fixed(plugins(this.random));
    this.plugins = new Set(this.#make(() => []).map(({ name }) => name));
    this.#areOwnFirst = areOwnFirst;
    this.#plannerSeed = this.upTo(5);
    this.podClasses = Array.from({ length: size === 'many pod classes' ? 120 : 1 + this.upTo(3) }, (_, i) => {
      const podClass = this.podClass();
      return size === 'many pod classes' ? { ...podClass, cpu: `${100 + i}m` } : podClass;
    });
    if (!isSmall) for (let i = 0; i < 50; i++) this.object(true);
    const first = isSmall || size === 'many nodes' ? count : 4 + this.upTo(8);
    for (const name of this.nodeNames.slice(0, first)) this.nodes.set(name, this.nodeOptions(name));
    for (let i = isSmall ? this.upTo(3) : 0; i > 0; i--)
      this.add({ ...this.pod(this.pick(this.podClasses)), ...this.place() });
  }

  #fixed(plugins: readonly WorldPlugin[]): () => readonly WorldPlugin[] {
    return () => plugins;
  }

  #rule(): NeighborRule {
    return {
      kind: this.pick(['apart', 'nearLeader', 'spread']),
      signs: this.flag(0.5),
      learns: this.pick(['inFilter', 'inPreFilter', 'notified']),
      skips: this.flag(0.5),
      scores: this.flag(0.5),
      selects: this.flag(0.5),
    };
  }

  #drawPlugins(): (nodes: () => CoreHarness['cluster']['nodes']) => readonly WorldPlugin[] {
    const { rule } = this;
    const isSmall = this.size === 'small';
    const isQuiet = this.size === 'many nodes' || this.size === 'many pod classes';
    const options: BulkOptions = {
      throwsAt: 2 + this.upTo(2),
      filterThrows: !isSmall && !isQuiet && this.flag(0.5),
      scoreThrows: !isSmall && !isQuiet && this.flag(0.4),
      normalizes: this.flag(0.5),
      scale: this.size === 'huge scores' ? this.pick([1, 1e305]) : isSmall ? 1 : this.pick([1, 1, 0.1, 2 ** 54, 1e-9]),
    };
    const has = [
      this.flag(isSmall ? 0.2 : 0.5),
      this.flag(0.3),
      this.flag(0.2),
      this.flag(0.25),
      this.flag(0.15),
      !isSmall && this.flag(0.15),
      !isSmall && this.flag(0.4),
    ];
    const isReversed = this.flag(0.3);
    return (nodes) => {
      const all = [bulk(nodes, options), team, pinning, unsigned, accounting, far, skipping].filter((_, i) => has[i]!);
      if (rule !== undefined) all.push(neighbors(nodes, rule));
      return isReversed ? all.toReversed() : all;
    };
  }

  /**
   * Returns a new core with the world's current state, which has seen no earlier one. Images have the sizes that `like` uses.
   */
  harness(like?: CoreHarness): CoreHarness {
    const own: readonly WorldPlugin[] = this.#make(() => harness.cluster.nodes);
    const enabledOwn = own.map(({ name, weight = 1 }) => ({ name, weight }));
    const factories = own.map(({ weight: _weight, ...plugin }) => [plugin.name, () => plugin] as const);
    const enabled = defaultPlugins.map(({ name, weight = 1 }) => ({ name, weight }));
    const inOrder = this.#areOwnFirst ? [...enabledOwn, ...enabled] : [...enabled, ...enabledOwn];
    const harness: CoreHarness = new CoreHarness({
      plugins: [],
      seed: this.#plannerSeed,
      setup: {
        plugins: new Map([...pluginRegistry, ...factories]),
        profiles: [
          { schedulerName: 'default-scheduler', plugins: inOrder },
          {
            schedulerName: 'other',
            plugins: inOrder.map((plugin) => ({ ...plugin, args: otherArguments[plugin.name] })),
          },
        ],
      },
    });
    // More resources than the cluster cache has columns for.
    for (let i = 0; i < 28; i++) harness.cluster.resources.idOf(`example.com/common-${i}`);
    for (let i = 0; i < 3; i++) harness.cluster.resources.idOf(`example.com/rare-${i}`);
    for (const object of this.objects.values()) harness.cluster.listed.set(object);
    for (const options of this.nodes.values()) harness.node(like === undefined ? options : withSizesOf(like, options));
    for (const options of this.pods.values()) harness.pod(options);
    return harness;
  }

  add(options: PodOptions): PodOptions {
    this.pods.set(options.uid!, options);
    return options;
  }

  /** Returns options of a bound pod, or of a nominated one with a priority. */
  place(): PodOptions {
    const name = this.pick([...this.nodes.keys()]);
    return this.flag(0.5) ? { nodeName: name } : { nominatedNodeName: name, priority: this.pick([0, 5, 9]) };
  }

  gang(max: number): readonly PodOptions[] {
    const some =
      this.size === 'many pod classes'
        ? this.podClasses.filter(() => this.flag(0.3))
        : Array.from({ length: 1 + this.upTo(2) }, () => this.pick(this.podClasses));
    if (some.length === 0) some.push(this.podClasses[0]!);
    return Array.from({ length: 1 + this.upTo(max) }, () => this.pod(this.pick(some)));
  }

  /** Adds, replaces or removes an object. `isNew`: removes none. */
  object(isNew = false): { readonly object: ListedObject; readonly isGone: boolean } {
    const kind = this.pick<ListedKind>([
      ...(['PersistentVolume', 'PersistentVolume', 'PersistentVolumeClaim', 'PersistentVolumeClaim'] as const),
      ...(['StorageClass', 'CSINode', 'CSIDriver', 'CSIStorageCapacity', 'VolumeAttachment'] as const),
      ...(['Namespace', 'Service', 'ReplicaSet'] as const),
    ]);
    const object = projectListed(kind, { kind, ...this.rawObject(kind) });
    const key = JSON.stringify([kind, object.namespace, object.name]);
    const isGone = !isNew && this.objects.has(key) && this.flag(0.25);
    if (isGone) this.objects.delete(key);
    else this.objects.set(key, object);
    return { object, isGone };
  }

  /** Makes one change that a watch could report, in the world and in the harness. */
  change(harness: CoreHarness): void {
    const { nodes, pods } = this;
    const known = pods.size === 0 ? undefined : pods.get(this.pick([...pods.keys()]))!;
    const setNode = (options: NodeOptions): void => {
      nodes.set(options.name!, options);
      harness.node(options);
    };
    const setPod = (options: PodOptions): void => void harness.pod(this.add(options));
    switch (this.upTo(12)) {
      case 0:
      case 1:
        setNode(this.nodeOptions(this.pick(this.nodeNames)));
        return;
      case 2: {
        // Changes one field of a node.
        if (nodes.size === 0) return;
        const before = nodes.get(this.pick([...nodes.keys()]))!;
        const field = this.pick(['labels', 'taints', 'images', 'declaredFeatures', 'cpu', 'unschedulable'] as const);
        setNode({ ...before, [field]: this.nodeOptions(before.name!)[field] });
        return;
      }
      case 3: {
        if (nodes.size < 3) return;
        const name = this.pick([...nodes.keys()]);
        // A new core cannot assume a pod on a node that does not exist.
        if ([...harness.cluster.node(name)!.pods.keys()].some((uid) => harness.cluster.isAssumed(uid))) return;
        const options = nodes.get(name)!;
        nodes.delete(name);
        harness.cluster.removeNode(name);
        // Sometimes recreates the node at once, unchanged.
        if (this.flag(0.5)) setNode(options);
        return;
      }
      case 4:
        if (known === undefined) return;
        pods.delete(known.uid!);
        harness.cluster.removePod(known.uid!);
        return;
      case 5:
        if (known !== undefined) setPod({ ...known, labels: { ...known.labels, ...this.labels() } });
        return;
      case 6:
        if (known === undefined) return;
        setPod(
          this.pick([
            { ...known, cpu: this.pick(['100m', '1', '2']) },
            { ...known, deleting: true },
            { ...known, phase: 'Succeeded' },
            { ...known, priority: this.upTo(1) * 5, nominatedNodeName: this.pick(this.nodeNames) },
            { ...known, nominatedNodeName: undefined },
          ]),
        );
        return;
      case 7:
        for (const each of [...pods.values()]) {
          if (each.nominatedNodeName !== undefined) setPod({ ...each, nominatedNodeName: undefined });
        }
        return;
      case 8:
      case 9: {
        const options = this.pod(this.pick(this.podClasses));
        setPod({ ...options, ...(this.flag(0.2) ? { nodeName: 'unseen' } : nodes.size > 0 && this.place()) });
        return;
      }
      default: {
        const { object, isGone } = this.object();
        if (isGone) harness.cluster.listed.remove(object);
        else harness.cluster.listed.set(object);
      }
    }
  }
}

/** The cache keeps the first size reported for an image while any node has the image. */
function withSizesOf({ cluster }: CoreHarness, options: NodeOptions): NodeOptions {
  const names = Object.keys(options.images ?? {});
  return { ...options, images: Object.fromEntries(names.map((name) => [name, cluster.images.image(name)!.size])) };
}

/** Returns the profile of that name, for pods that name another scheduler or none. */
export function profileOf(harness: CoreHarness, schedulerName: string, members: readonly Pod[]): Profile {
  return harness.core.profiles.of({ kind: 'pod', pod: { ...members[0]!, schedulerName } });
}

/** Assumes in `fresh` the pods, volumes and claims that are assumed in `old`. Otherwise both show the same state. */
export function copyAssumptions(old: CoreHarness, fresh: CoreHarness): void {
  const transaction = fresh.cluster.begin();
  for (const { uid } of old.cluster.pods()) {
    if (!old.cluster.isAssumed(uid)) continue;
    const node = old.cluster.nodeOf(old.cluster.pod(uid)!)!;
    transaction.assume(fresh.cluster.pod(uid)!, fresh.cluster.node(node.name)!);
  }
  transaction.commit();
  const { listed, assumedVolumes } = old.cluster;
  for (const name of volumeNames) {
    const volume = assumedVolumes.volume(name);
    if (volume !== undefined && volume !== listed.get('PersistentVolume', '', name)) {
      expect(fresh.cluster.assumedVolumes.assumeVolume(volume)).toBe(true);
    }
  }
  for (const namespace of ['default', 'one']) {
    for (const name of claimNames) {
      const claim = assumedVolumes.claim(namespace, name);
      if (claim !== undefined && claim !== listed.get('PersistentVolumeClaim', namespace, name)) {
        expect(fresh.cluster.assumedVolumes.assumeClaim(claim)).toBe(true);
      }
    }
  }
}
