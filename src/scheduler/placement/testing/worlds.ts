import { expect } from 'vitest';
import { projectListed } from '../../../api/listed-object.ts';
import type { ListedKind, ListedObject } from '../../../api/listed-object.ts';
import type { Pod } from '../../../api/pod.ts';
import { seededRandom } from '../../../base/random.ts';
import type { Random } from '../../../base/random.ts';
import type { Profile } from '../../../framework/profile.ts';
import { defaultPlugins, pluginRegistry } from '../../../plugins/registry.ts';
import type { NodeOptions } from '../../../testkit/builders/node.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { accounting, bulk, far, neighbors, pinning, skipping, team, unsigned } from './world-plugins.ts';
import type { BulkOptions, NeighborRule, WorldPlugin } from './world-plugins.ts';

type Raw = Readonly<Record<string, unknown>>;

const zones = ['z1', 'z2', 'z3'];
const claimNames = ['a', 'b', 'c', 'd', 'e', 'f'];
const volumeNames = ['pv0', 'pv1', 'pv2', 'pv3', 'pv4', 'pv5'];
const apps = ['a', 'b', 'c'];
const imageNames = ['registry.example/main:1', 'tool:1', 'tool:latest'];
const megabyte = 1024 * 1024;

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

/**
 * `small` worlds are static. The others have a history and everything that plugins read; some are larger or odder in one respect.
 */
export type WorldSize = 'small' | 'any' | 'huge scores' | 'many nodes' | 'many pod classes';

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
export class World {
  readonly nodes = new Map<string, NodeOptions>();
  readonly pods = new Map<string, PodOptions>();
  /** kind, namespace and name -> the object */
  readonly objects = new Map<string, ListedObject>();
  readonly random: Random;
  readonly nodeNames: readonly string[];
  /** What pods of the same class have in common. */
  readonly podClasses: PodOptions[];
  /** Undefined: no plugin enforces a rule. */
  readonly rule: NeighborRule | undefined;
  /** Names of the plugins in addition to Tutti's own. */
  readonly plugins: ReadonlySet<string>;
  readonly #size: WorldSize;
  readonly #make: (nodes: () => CoreHarness['cluster']['nodes']) => readonly WorldPlugin[];
  readonly #areOwnFirst: boolean;
  readonly #plannerSeed: number;
  #serial = 0;

  constructor(seed: number, { size = 'small', plugins }: WorldOptions = {}) {
    this.random = seededRandom(seed);
    this.#size = size;
    const isSmall = size === 'small';
    const count = size === 'many nodes' ? 110 : isSmall ? 1 + this.upTo(4) : 14;
    this.nodeNames = Array.from({ length: count }, (_, i) => `n${i}`);
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

  upTo(max: number): number {
    return Math.floor(this.random() * (max + 1));
  }

  flag(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.upTo(from.length - 1)]!;
  }

  get size(): WorldSize {
    return this.#size;
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
    };
  }

  #drawPlugins(): (nodes: () => CoreHarness['cluster']['nodes']) => readonly WorldPlugin[] {
    const { rule } = this;
    const isSmall = this.#size === 'small';
    const isQuiet = this.#size === 'many nodes' || this.#size === 'many pod classes';
    const options: BulkOptions = {
      throwsAt: 2 + this.upTo(2),
      filterThrows: !isSmall && !isQuiet && this.flag(0.5),
      scoreThrows: !isSmall && !isQuiet && this.flag(0.4),
      normalizes: this.flag(0.5),
      scale: this.#size === 'huge scores' ? this.pick([1, 1e305]) : isSmall ? 1 : this.pick([1, 1, 0.1, 2 ** 54, 1e-9]),
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
      this.#size === 'many pod classes'
        ? this.podClasses.filter(() => this.flag(0.3))
        : Array.from({ length: 1 + this.upTo(2) }, () => this.pick(this.podClasses));
    if (some.length === 0) some.push(this.podClasses[0]!);
    return Array.from({ length: 1 + this.upTo(max) }, () => this.pod(this.pick(some)));
  }

  nodeOptions(name: string): NodeOptions {
    return {
      name,
      uid: name,
      resourceVersion: String(++this.#serial),
      cpu: 1 + this.upTo(5),
      memory: `${1 + this.upTo(7)}Gi`,
      pods: this.pick([3, 5, 110, 110]),
      taints: this.flag(0.3)
        ? [this.pick(['a:NoSchedule', 'b:PreferNoSchedule', 'c=x:PreferNoSchedule', 'd=y:NoExecute'])]
        : [],
      labels: {
        ...(this.flag(0.8) && { zone: this.pick(zones), 'topology.kubernetes.io/zone': this.pick(zones) }),
        ...(this.flag(0.4) && { disk: 'ssd' }),
      },
      unschedulable: this.flag(0.06),
      allocatable: {
        ...(this.flag(0.3) && { 'example.com/gpu': this.upTo(4) }),
        ...(this.flag(0.3) && { 'example.com/common-2': this.upTo(4) }),
        ...(this.flag(0.2) && { 'example.com/rare-1': this.upTo(4) }),
      },
      declaredFeatures: this.flag(0.6) ? ['UserNamespacesHostNetworkSupport'] : [],
      images: Object.fromEntries(
        imageNames.filter(() => this.flag(0.4)).map((image) => [image, this.upTo(2000) * megabyte]),
      ),
    };
  }

  labels(): Record<string, string> {
    if (this.#size === 'small') return this.flag(0.3) ? {} : { app: this.pick(['leader', 'x', 'y']) };
    return {
      app: this.pick(apps),
      ...(this.flag(0.3) && { tier: this.pick(['x', 'y']) }),
      ...(this.flag(0.3) && { index: `${this.upTo(9)}` }),
    };
  }

  #selector(): Raw {
    return this.pick<Raw>([
      { matchLabels: { app: this.pick(apps) } },
      { matchLabels: { app: this.pick(apps) } },
      { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] },
    ]);
  }

  #term(): Raw {
    return {
      topologyKey: this.pick(['kubernetes.io/hostname', 'zone', 'disk']),
      labelSelector: this.#selector(),
      ...(this.flag(0.2) && { namespaces: [this.pick(['default', 'one'])] }),
      ...(this.flag(0.2) && { namespaceSelector: this.pick<Raw>([{}, { matchLabels: { team: 'red' } }]) }),
      ...(this.flag(0.15) && { matchLabelKeys: ['tier'] }),
    };
  }

  #side(): Raw {
    return {
      ...(this.flag(0.6) && { requiredDuringSchedulingIgnoredDuringExecution: [this.#term()] }),
      ...(this.flag(0.6) && {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 + this.upTo(99), podAffinityTerm: this.#term() }],
      }),
    };
  }

  /** Returns what the pods of a new class have in common. Pods of a small world read no other nodes. */
  podClass(): PodOptions {
    const isSmall = this.#size === 'small';
    const affinity = {
      ...(!isSmall && this.flag(0.15) && { podAffinity: this.#side() }),
      ...(!isSmall && this.flag(0.25) && { podAntiAffinity: this.#side() }),
      ...(this.flag(0.2) && {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 5, preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['z1'] }] } },
          ],
        },
      }),
    };
    return {
      namespace: this.pick(['default', 'default', 'default', isSmall ? 'default' : 'one']),
      cpu: this.pick(['100m', '500m', '1', '2', '0']),
      ...(this.flag(0.4) && { memory: this.pick(['100Mi', '1Gi', '3Gi']) }),
      requests: {
        ...(this.flag(0.1) && { 'example.com/gpu': 1 }),
        ...(this.flag(0.1) && { 'example.com/common-2': 1 }),
        ...(this.flag(0.1) && { 'example.com/rare-1': 1 }),
      },
      hostPorts: this.flag(0.1)
        ? [this.pick([80, { hostPort: 80, hostIP: '10.0.0.1' }, { hostPort: 80, protocol: 'UDP' }])]
        : [],
      tolerations: this.flag(0.3)
        ? [
            this.pick([
              { key: 'a', operator: 'Exists' },
              { key: 'b', operator: 'Exists' },
            ]),
          ]
        : [],
      ...(this.flag(0.1) && { nodeSelector: { disk: 'ssd' } }),
      ...(this.flag(0.3) && { owner: this.pick(['r1', 'r2']) }),
      priority: this.pick([0, 0, 0, 6]),
      labels: {
        team: this.pick(['red', 'blue']),
        ...(this.flag(0.2) && { pin: [this.pick(this.nodeNames), this.pick(this.nodeNames)].join('.') }),
      },
      spec: {
        ...(Object.keys(affinity).length > 0 && { affinity }),
        ...(this.flag(0.05) && { hostNetwork: true, hostUsers: false }),
        ...(!isSmall &&
          this.flag(0.25) && {
            topologySpreadConstraints: [
              {
                maxSkew: 1 + this.upTo(1),
                topologyKey: this.pick(['zone', 'kubernetes.io/hostname']),
                whenUnsatisfiable: this.pick(['ScheduleAnyway', 'DoNotSchedule']),
                labelSelector: this.#selector(),
                ...(this.flag(0.2) && { matchLabelKeys: ['tier'] }),
                ...(this.flag(0.2) && { nodeTaintsPolicy: 'Honor' }),
              },
            ],
          }),
        ...(this.flag(0.3) && {
          initContainers: [{ name: 'tool', image: this.pick(['tool:1', 'tool', 'unknown:1']) }],
        }),
      },
    };
  }

  /** Returns a pod of the class, with fields of its own. */
  pod(podClass: PodOptions): PodOptions {
    const name = `p${this.#serial++}`;
    const volumes =
      this.#size !== 'small' && this.flag(0.3)
        ? [
            { name: 'v', persistentVolumeClaim: { claimName: this.pick(claimNames) } },
            ...(this.flag(0.2) ? [{ name: 'w', persistentVolumeClaim: { claimName: this.pick(claimNames) } }] : []),
            ...(this.flag(0.1) ? [{ name: 'disk', gcePersistentDisk: { pdName: this.pick(['g1', 'g2']) } }] : []),
          ]
        : [];
    return {
      ...podClass,
      name,
      uid: name,
      createdAt: 1e12 + this.#serial * 1000,
      labels: { ...podClass.labels, ...this.labels(), own: this.flag(0.5) ? 'x' : `${this.upTo(3)}` },
      spec: { ...podClass.spec, ...(volumes.length > 0 && { volumes }) },
    };
  }

  /** Adds, replaces or removes an object. `isNew`: removes none. */
  object(isNew = false): { readonly object: ListedObject; readonly isGone: boolean } {
    const kind = this.pick<ListedKind>([
      ...(['PersistentVolume', 'PersistentVolume', 'PersistentVolumeClaim', 'PersistentVolumeClaim'] as const),
      ...(['StorageClass', 'CSINode', 'CSIDriver', 'CSIStorageCapacity', 'VolumeAttachment'] as const),
      ...(['Namespace', 'Service', 'ReplicaSet'] as const),
    ]);
    const object = projectListed(kind, { kind, ...this.#raw(kind) });
    const key = JSON.stringify([kind, object.namespace, object.name]);
    const isGone = !isNew && this.objects.has(key) && this.flag(0.25);
    if (isGone) this.objects.delete(key);
    else this.objects.set(key, object);
    return { object, isGone };
  }

  #raw(kind: ListedKind): Raw {
    const resourceVersion = String(++this.#serial);
    const metadata = (name: string, more: Raw = {}): Raw => ({ name, uid: name, resourceVersion, ...more });
    switch (kind) {
      case 'PersistentVolume': {
        const place = this.upTo(volumeNames.length - 1);
        const host = this.pick(this.nodeNames);
        return {
          metadata: metadata(volumeNames[place]!, {
            labels: this.flag(0.6) ? { 'topology.kubernetes.io/zone': this.pick(zones) } : {},
          }),
          spec: {
            storageClassName: this.pick(['manual', 'wait']),
            accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'],
            capacity: { storage: `${place + 1}Gi` },
            csi: { driver: this.pick(['csi.one', 'csi.two']), volumeHandle: volumeNames[place]! },
            ...(this.flag(0.3) && {
              claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: this.pick(claimNames) },
            }),
            ...(this.flag(0.5) && {
              nodeAffinity: {
                required: {
                  nodeSelectorTerms: [
                    { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host, 'n0'] }] },
                  ],
                },
              },
            }),
          },
          status: { phase: 'Available' },
        };
      }
      case 'PersistentVolumeClaim': {
        const volumeName = this.flag(0.5) ? this.pick(volumeNames) : undefined;
        return {
          metadata: metadata(this.pick(claimNames), {
            namespace: this.pick(['default', 'default', 'default', 'default', 'one']),
            annotations: volumeName === undefined ? {} : { 'pv.kubernetes.io/bind-completed': 'yes' },
          }),
          spec: {
            storageClassName: this.pick(['manual', 'wait', 'wait']),
            accessModes: [this.flag(0.8) ? 'ReadWriteOnce' : 'ReadWriteOncePod'],
            resources: { requests: { storage: this.pick(['1Gi', '2Gi']) } },
            ...(volumeName !== undefined && { volumeName }),
          },
          status: { phase: 'Pending' },
        };
      }
      case 'StorageClass': {
        const name = this.pick(['manual', 'wait']);
        return {
          metadata: metadata(name),
          provisioner: name === 'manual' ? 'kubernetes.io/no-provisioner' : this.pick(['csi.one', 'csi.two']),
          volumeBindingMode: this.flag(0.9) ? 'WaitForFirstConsumer' : 'Immediate',
          ...(this.flag(0.2) && {
            allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['z1', 'z2'] }] }],
          }),
        };
      }
      case 'CSINode':
        return {
          metadata: metadata(this.pick(this.nodeNames)),
          spec: {
            drivers: ['csi.one', 'csi.two']
              .filter(() => this.flag(0.8))
              .map((name) => ({ name, nodeID: 'x', allocatable: { count: 1 + this.upTo(3) } })),
          },
        };
      case 'CSIDriver':
        return {
          metadata: metadata(this.pick(['csi.one', 'csi.two'])),
          spec: { storageCapacity: this.flag(0.5), preventPodSchedulingIfMissing: this.flag(0.3) },
        };
      case 'CSIStorageCapacity':
        return {
          metadata: metadata(`capacity-${this.upTo(5)}`, { namespace: 'default' }),
          storageClassName: 'wait',
          nodeTopology: { matchLabels: { 'kubernetes.io/hostname': this.pick(this.nodeNames) } },
          capacity: this.pick(['1Gi', '3Gi', '100Gi']),
        };
      case 'VolumeAttachment':
        return {
          metadata: metadata(`attachment-${this.upTo(3)}`),
          spec: {
            attacher: this.pick(['csi.one', 'csi.two']),
            nodeName: this.pick(this.nodeNames),
            source: { persistentVolumeName: this.pick(volumeNames) },
          },
        };
      case 'Namespace':
        return { metadata: metadata(this.pick(['default', 'one']), { labels: { team: this.pick(['red', 'blue']) } }) };
      case 'Service':
        return {
          metadata: metadata(this.pick(['x', 'y']), { namespace: this.pick(['default', 'one']) }),
          spec: { selector: { app: this.pick(apps) } },
        };
      default:
        return {
          metadata: metadata(this.pick(['r1', 'r2']), { namespace: this.pick(['default', 'one']) }),
          spec: { selector: this.#selector() },
        };
    }
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
