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
import { claimVolumesOf, usesClaim } from '../pod-claims.ts';
import { claimNotFound } from '../storage-reasons.ts';
import { haveDiskConflict } from './disk-conflict.ts';

const name = 'VolumeRestrictions';
const askedKey = `${name}/asked`;
const diskTaken = new Status('Unschedulable', 'node(s) had no available disk', name);
const claimTaken = new Status(
  'Unschedulable',
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  name,
);

/** What a pod asks for that others may have. */
interface Asked {
  /** Names of its claims that one pod alone may use. */
  readonly claims: readonly string[];
  /** Some other pod, wherever it is, uses one of them. */
  isTaken: boolean;
}

/** Keeps pods off nodes where a disk of theirs is in use, and from claims that one pod alone may use. */
class VolumeRestrictions implements Plugin {
  readonly name = name;
  readonly readsOtherNodes = true;
  readonly reads = ['PersistentVolumeClaim'] as const satisfies ListedKind[];
  readonly #cluster: ClusterLister;
  readonly #interchangeable: InterchangeableClaims;

  constructor(cluster: ClusterLister) {
    this.#cluster = cluster;
    this.#interchangeable = new InterchangeableClaims(cluster);
  }

  sign(pod: Pod): string {
    if (pod.volumes === noVolumes) return '';
    const disks = pod.volumes.flatMap((volume) => (volume.type === 'inline' && volume.disk ? [volume.disk] : []));
    return this.#interchangeable.signSharedClaims(pod) + (disks.length === 0 ? '' : JSON.stringify(disks));
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    if (pod.volumes === noVolumes) return Status.skipThroughout;
    const claims = new Set<string>();
    for (const volume of claimVolumesOf(pod)) {
      const { claimName, isEphemeral } = volume;
      if (isEphemeral) continue;
      const claim = this.#cluster.listed.get('PersistentVolumeClaim', pod.namespace, claimName);
      if (claim === undefined) return new Status('UnschedulableAndUnresolvable', claimNotFound(claimName), name);
      // Nobody else can be in the way of one that nobody else names.
      const isForOne = claim.accessModes.includes('ReadWriteOncePod');
      if (isForOne && this.#interchangeable.of(pod, volume) === undefined) claims.add(claimName);
    }
    const hasDisk = pod.volumes.some((volume) => volume.type === 'inline' && volume.disk !== undefined);
    if (claims.size === 0 && !hasDisk) return Status.skipThroughout;
    const asked: Asked = { claims: [...claims], isTaken: false };
    this.#bringUpToDate(asked, pod);
    state.write(askedKey, asked);
    return undefined;
  }

  /** Who uses a claim follows the picture, where the pod is already. */
  preFilterAddPod(state: CycleState, pod: Pod): Status | undefined {
    this.#bringUpToDate(state.read<Asked>(askedKey)!, pod);
    return undefined;
  }

  preFilterRemovePod(state: CycleState, pod: Pod): Status | undefined {
    this.#bringUpToDate(state.read<Asked>(askedKey)!, pod);
    return undefined;
  }

  filter(state: CycleState, pod: Pod, { pods }: NodeView): Status | undefined {
    for (const other of pods.values()) {
      if (other.volumes !== noVolumes && haveDiskConflict(pod.volumes, other.volumes)) return diskTaken;
    }
    return state.read<Asked>(askedKey)!.isTaken ? claimTaken : undefined;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [
      { resource: 'AssignedPod', actions: ['Delete'], hint: afterPod },
      { resource: 'Node', actions: ['Add'] },
      { resource: 'PersistentVolumeClaim', actions: ['Add'], hint: afterClaim },
    ];
  }

  #bringUpToDate(asked: Asked, { namespace }: Pod): void {
    const { claimsInUse } = this.#cluster;
    asked.isTaken = asked.claims.some((claim) => claimsInUse.usersOf(namespace, claim) > 0);
  }
}

/** Its disks may be those of a pod in any namespace; its claims are those of its own. */
function afterPod(pod: Pod, event: ClusterEvent): boolean {
  if (event.resource !== 'AssignedPod') return true;
  const { volumes, namespace } = event.pod;
  if (haveDiskConflict(pod.volumes, volumes)) return true;
  if (namespace !== pod.namespace) return false;
  const used = new Set(claimVolumesOf(event.pod).map(({ claimName }) => claimName));
  return claimVolumesOf(pod).some(({ claimName, isEphemeral }) => !isEphemeral && used.has(claimName));
}

function afterClaim(pod: Pod, event: ClusterEvent): boolean {
  return !('object' in event) || usesClaim(pod, event.object, { ephemeral: false });
}

const knownArguments = noArguments(name);

export const createVolumeRestrictions: PluginFactory = (args, { cluster }) => {
  knownArguments.read(args);
  return new VolumeRestrictions(cluster);
};
