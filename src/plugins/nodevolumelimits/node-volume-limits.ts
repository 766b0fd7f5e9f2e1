import type { ListedKind } from '../../api/listed-object.ts';
import { noVolumes } from '../../api/pod-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';
import { InterchangeableClaims } from '../interchangeable-claims.ts';
import { usesClaim, usesVolume } from '../pod-claims.ts';
import type { ClaimVolume } from '../pod-claims.ts';
import { addCsiVolumesOf, csiVolumesOf, volumeKey } from './csi-volumes.ts';
import type { CsiVolumes } from './csi-volumes.ts';

const name = 'NodeVolumeLimits';
const requestKey = `${name}/request`;
const tooMany = new Status(
  'Unschedulable',
  { text: 'node(s) exceed max volume count', code: 'VolumeUnavailable' },
  name,
);

const reads = [
  ...(['PersistentVolume', 'PersistentVolumeClaim', 'StorageClass'] as const),
  ...(['CSINode', 'CSIDriver', 'VolumeAttachment'] as const),
] satisfies ListedKind[];

/** The volumes that a pod adds to a node, valid for one revision of the listed objects. */
interface VolumeRequest {
  revision: number;
  /** Volumes for a node that has a CSINode. */
  withDrivers: CsiVolumes | Status;
  /** Volumes for a node without one. */
  withoutDrivers: CsiVolumes | Status;
}

/** Rejects nodes that cannot attach more volumes of a CSI driver, or that lack a required CSI driver. */
class NodeVolumeLimits implements Plugin {
  readonly name = name;
  readonly reads = reads;
  readonly #cluster: ClusterLister;
  readonly #interchangeable: InterchangeableClaims;
  /** driver -> Status for a node that does not have it */
  readonly #missing = new Map<string, Status>();

  constructor(cluster: ClusterLister) {
    this.#cluster = cluster;
    this.#interchangeable = new InterchangeableClaims(cluster);
  }

  sign(pod: Pod): string {
    return this.#interchangeable.signVolumes(pod);
  }

  /** Volumes on other nodes do not count, and the node's generation covers the pods on the node itself. */
  signCluster(pod: Pod): string {
    return pod.volumes === noVolumes ? '' : String(this.#revision());
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    const counts = pod.volumes.some((volume) => volume.type === 'claim' || volume.inTree !== undefined);
    if (!counts) return Status.skipThroughout;
    state.write(requestKey, this.#requestOf(pod));
    return undefined;
  }

  filter(state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    const { listed } = this.#cluster;
    const csiNode = listed.get('CSINode', '', node.name);
    const request = state.read<VolumeRequest>(requestKey)!;
    // Volumes may have been provisioned since PreFilter.
    if (request.revision !== this.#revision()) Object.assign(request, this.#requestOf(pod));
    const added = csiNode === undefined ? request.withoutDrivers : request.withDrivers;
    if (added instanceof Status) return added;
    if (added.size === 0) return undefined;
    for (const driver of added.values()) {
      const isRequired = listed.get('CSIDriver', '', driver)?.isRequired === true;
      if (isRequired && (csiNode === undefined || !Object.hasOwn(csiNode.drivers, driver))) {
        return this.#missingOf(driver);
      }
    }
    const limits = csiNode?.drivers;
    if (limits === undefined || ![...added.values()].some((driver) => limits[driver] !== undefined)) return undefined;
    const used: CsiVolumes = new Map();
    for (const other of node.pods.values()) {
      if (other.volumes !== noVolumes) addCsiVolumesOf(other, listed, true, used);
    }
    /** driver -> number of its volumes on the node, including the added ones */
    const counts = new Map<string, number>();
    const count = (driver: string): void => void counts.set(driver, (counts.get(driver) ?? 0) + 1);
    for (const driver of used.values()) count(driver);
    for (const [key, driver] of this.#attachedTo(node)) if (!used.has(key)) count(driver);
    // A volume that another pod on the node uses does not count again.
    const newVolumes = [...added].flatMap(([key, driver]) => (used.has(key) ? [] : [driver]));
    newVolumes.forEach(count);
    if (newVolumes.some((driver) => counts.get(driver)! > (limits[driver] ?? Infinity))) return tooMany;
    return undefined;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [
      // A Node may be observed after its CSINode, or have none.
      { resource: 'Node', actions: ['Add'] },
      // A node without a CSINode has no limits.
      { resource: 'CSINode', actions: ['Add', 'Delete'] },
      { resource: 'CSINode', actions: ['Update'], hint: afterCsiNode },
      { resource: 'CSIDriver', actions: ['Update', 'Delete'], hint: afterCsiDriver },
      { resource: 'AssignedPod', actions: ['Delete'], hint: afterPod },
      { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'], hint: afterClaim },
      { resource: 'PersistentVolume', actions: ['Add'], hint: (pod, event) => this.#usesVolume(pod, event) },
      { resource: 'VolumeAttachment', actions: ['Delete'], hint: afterAttachment },
    ];
  }

  /** The new volume may replace one of another driver. */
  #usesVolume(pod: Pod, event: ClusterEvent): boolean {
    return !('object' in event) || usesVolume(pod, event.object.name, this.#cluster.listed);
  }

  #revision(): number {
    const { listed } = this.#cluster;
    let sum = 0;
    for (const kind of reads) sum += listed.revision(kind);
    return sum;
  }

  #requestOf(pod: Pod): VolumeRequest {
    const { listed } = this.#cluster;
    const isOwn = (volume: ClaimVolume): boolean => this.#interchangeable.of(pod, volume) !== undefined;
    return {
      revision: this.#revision(),
      withDrivers: csiVolumesOf(pod, { listed, hasDrivers: true, plugin: name, isOwn }),
      withoutDrivers: csiVolumesOf(pod, { listed, hasDrivers: false, plugin: name, isOwn }),
    };
  }

  /** Returns the volumes attached to the node, whether or not a pod uses them. */
  #attachedTo({ name: nodeName }: NodeView): CsiVolumes {
    const { listed } = this.#cluster;
    const found: CsiVolumes = new Map();
    for (const { attacher, volumeName } of listed.ofGroup('VolumeAttachment', nodeName)) {
      const csi = listed.get('PersistentVolume', '', volumeName)?.csi;
      if (attacher === '' || csi === undefined) continue;
      found.set(volumeKey({ driver: attacher, handle: csi.handle }), attacher);
    }
    return found;
  }

  #missingOf(driver: string): Status {
    let status = this.#missing.get(driver);
    if (status === undefined) {
      status = new Status(
        'Unschedulable',
        { text: `${driver} CSI driver is not installed on the node`, code: 'VolumeUnavailable' },
        name,
      );
      this.#missing.set(driver, status);
    }
    return status;
  }
}

function afterCsiNode(_pod: Pod, event: ClusterEvent): boolean {
  if (!('object' in event) || event.object.kind !== 'CSINode' || event.old?.kind !== 'CSINode') return true;
  const [before, now] = [event.old.drivers, event.object.drivers];
  const names = Object.keys({ ...before, ...now });
  return names.some(
    (driver) =>
      (Object.hasOwn(now, driver) && !Object.hasOwn(before, driver)) ||
      (now[driver] ?? Infinity) > (before[driver] ?? Infinity),
  );
}

/** A driver is not required anymore. */
function afterCsiDriver(_pod: Pod, event: ClusterEvent): boolean {
  if (!('object' in event) || event.object.kind !== 'CSIDriver') return true;
  if (event.action === 'Delete') return event.object.isRequired;
  return event.old?.kind === 'CSIDriver' && event.old.isRequired && !event.object.isRequired;
}

function afterPod(_pod: Pod, event: ClusterEvent): boolean {
  if (event.resource !== 'AssignedPod') return true;
  return event.pod.volumes.some((volume) => volume.type === 'claim' || volume.inTree !== undefined);
}

function afterClaim(pod: Pod, event: ClusterEvent): boolean {
  return !('object' in event) || usesClaim(pod, event.object);
}

function afterAttachment(pod: Pod, event: ClusterEvent): boolean {
  if (!('object' in event) || event.object.kind !== 'VolumeAttachment') return true;
  const { attacher } = event.object;
  return pod.volumes.some((volume) => {
    if (volume.type === 'claim') return true;
    const migrated = volume.inTree?.migrated;
    return migrated !== undefined && ('problem' in migrated || migrated.driver === attacher);
  });
}

const knownArguments = noArguments(name);

export const createNodeVolumeLimits: PluginFactory = (args, { cluster }) => {
  knownArguments.read(args);
  return new NodeVolumeLimits(cluster);
};
