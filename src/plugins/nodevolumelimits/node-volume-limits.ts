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
const askedKey = `${name}/asked`;
const tooMany = new Status('Unschedulable', 'node(s) exceed max volume count', name);

const reads = [
  ...(['PersistentVolume', 'PersistentVolumeClaim', 'StorageClass'] as const),
  ...(['CSINode', 'CSIDriver', 'VolumeAttachment'] as const),
] satisfies ListedKind[];

/** What a pod brings to a node, when these kinds were in this state. */
interface Asked {
  revision: number;
  /** To a node that says which drivers it has. */
  withDrivers: CsiVolumes | Status;
  /** To another. */
  withoutDrivers: CsiVolumes | Status;
}

/** Keeps pods off nodes that can have no more volumes of a CSI driver, or lack a driver that insists on being there. */
class NodeVolumeLimits implements Plugin {
  readonly name = name;
  readonly reads = reads;
  readonly #cluster: ClusterLister;
  readonly #interchangeable: InterchangeableClaims;
  /** driver -> that a node does not have it */
  readonly #missing = new Map<string, Status>();

  constructor(cluster: ClusterLister) {
    this.#cluster = cluster;
    this.#interchangeable = new InterchangeableClaims(cluster);
  }

  sign(pod: Pod): string {
    return this.#interchangeable.signVolumes(pod);
  }

  /** What is on other nodes does not count, and pods on the node itself are part of its generation. */
  signCluster(pod: Pod): string {
    return pod.volumes === noVolumes ? '' : String(this.#revision());
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    const counts = pod.volumes.some((volume) => volume.type === 'claim' || volume.inTree !== undefined);
    if (!counts) return Status.skipThroughout;
    state.write(askedKey, this.#askedBy(pod));
    return undefined;
  }

  filter(state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    const { listed } = this.#cluster;
    const csiNode = listed.get('CSINode', '', node.name);
    const asked = state.read<Asked>(askedKey)!;
    // Volumes of a pod that is looked at again may have been made meanwhile.
    if (asked.revision !== this.#revision()) Object.assign(asked, this.#askedBy(pod));
    const brought = csiNode === undefined ? asked.withoutDrivers : asked.withDrivers;
    if (brought instanceof Status) return brought;
    if (brought.size === 0) return undefined;
    for (const driver of brought.values()) {
      const isRequired = listed.get('CSIDriver', '', driver)?.isRequired === true;
      if (isRequired && (csiNode === undefined || !Object.hasOwn(csiNode.drivers, driver))) {
        return this.#missingOf(driver);
      }
    }
    const limits = csiNode?.drivers;
    if (limits === undefined || ![...brought.values()].some((driver) => limits[driver] !== undefined)) return undefined;
    const used: CsiVolumes = new Map();
    for (const other of node.pods.values()) {
      if (other.volumes !== noVolumes) addCsiVolumesOf(other, listed, true, used);
    }
    /** driver -> its volumes on the node, and those that come */
    const counts = new Map<string, number>();
    const count = (driver: string): void => void counts.set(driver, (counts.get(driver) ?? 0) + 1);
    for (const driver of used.values()) count(driver);
    for (const [key, driver] of this.#attachedTo(node)) if (!used.has(key)) count(driver);
    // One that another pod there uses takes no more room.
    const coming = [...brought].flatMap(([key, driver]) => (used.has(key) ? [] : [driver]));
    coming.forEach(count);
    if (coming.some((driver) => counts.get(driver)! > (limits[driver] ?? Infinity))) return tooMany;
    return undefined;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [
      // A node may be shown after its CSINode, or have none.
      { resource: 'Node', actions: ['Add'] },
      // Nothing limits a node that does not say what it has.
      { resource: 'CSINode', actions: ['Add', 'Delete'] },
      { resource: 'CSINode', actions: ['Update'], hint: afterCsiNode },
      { resource: 'CSIDriver', actions: ['Update', 'Delete'], hint: afterCsiDriver },
      { resource: 'AssignedPod', actions: ['Delete'], hint: afterPod },
      { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'], hint: afterClaim },
      { resource: 'PersistentVolume', actions: ['Add'], hint: (pod, event) => this.#isItsVolume(pod, event) },
      { resource: 'VolumeAttachment', actions: ['Delete'], hint: afterAttachment },
    ];
  }

  /** The one in whose place it is may have been another driver's. */
  #isItsVolume(pod: Pod, event: ClusterEvent): boolean {
    return !('object' in event) || usesVolume(pod, event.object.name, this.#cluster.listed);
  }

  #revision(): number {
    const { listed } = this.#cluster;
    let sum = 0;
    for (const kind of reads) sum += listed.revision(kind);
    return sum;
  }

  #askedBy(pod: Pod): Asked {
    const { listed } = this.#cluster;
    const isOwn = (volume: ClaimVolume): boolean => this.#interchangeable.of(pod, volume) !== undefined;
    return {
      revision: this.#revision(),
      withDrivers: csiVolumesOf(pod, { listed, hasDrivers: true, plugin: name, isOwn }),
      withoutDrivers: csiVolumesOf(pod, { listed, hasDrivers: false, plugin: name, isOwn }),
    };
  }

  /** Whether or not a pod there uses them. */
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
      status = new Status('Unschedulable', `${driver} CSI driver is not installed on the node`, name);
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

/** One that insisted on being there does so no longer. */
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
