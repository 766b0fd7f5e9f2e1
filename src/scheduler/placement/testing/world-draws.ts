import type { ListedKind } from '../../../api/listed-object.ts';
import { seededRandom } from '../../../base/random.ts';
import type { Random } from '../../../base/random.ts';
import type { NodeOptions } from '../../../testkit/builders/node.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';

type Raw = Readonly<Record<string, unknown>>;

const zones = ['z1', 'z2', 'z3'];
export const claimNames = ['a', 'b', 'c', 'd', 'e', 'f'];
export const volumeNames = ['pv0', 'pv1', 'pv2', 'pv3', 'pv4', 'pv5'];
const apps = ['a', 'b', 'c'];
const imageNames = ['registry.example/main:1', 'tool:1', 'tool:latest'];
const megabyte = 1024 * 1024;

/**
 * `small` worlds are static. The others have a history and everything that plugins read; some are larger or odder in one respect.
 */
export type WorldSize = 'small' | 'any' | 'huge scores' | 'many nodes' | 'many pod classes';

/** Draws the nodes, pods and objects of a world from a seed. */
export class WorldDraws {
  readonly random: Random;
  readonly size: WorldSize;
  readonly nodeNames: readonly string[];
  #serial = 0;

  constructor(seed: number, size: WorldSize) {
    this.random = seededRandom(seed);
    this.size = size;
    const count = size === 'many nodes' ? 110 : size === 'small' ? 1 + this.upTo(4) : 14;
    this.nodeNames = Array.from({ length: count }, (_, i) => `n${i}`);
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
    if (this.size === 'small') return this.flag(0.3) ? {} : { app: this.pick(['leader', 'x', 'y']) };
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
    const isSmall = this.size === 'small';
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
      this.size !== 'small' && this.flag(0.3)
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

  /** Draws an object of this kind, as the API server would send it. */
  rawObject(kind: ListedKind): Raw {
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
}
