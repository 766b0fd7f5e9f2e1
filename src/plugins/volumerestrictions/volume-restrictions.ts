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
const requestKey = `${name}/request`;
const diskInUse = new Status(
  'Unschedulable',
  { text: 'node(s) had no available disk', code: 'VolumeUnavailable' },
  name,
);
const claimInUse = new Status(
  'Unschedulable',
  {
    text: 'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    code: 'VolumeUnavailable',
  },
  name,
);

/** What a pod requests that other pods may use already. */
interface ExclusiveRequest {
  /** Names of its ReadWriteOncePod claims. */
  readonly claims: readonly string[];
  /** Whether another pod on any node uses one of them. */
  isInUse: boolean;
}

/** Rejects nodes where another pod uses one of the pod's disks, and pods whose ReadWriteOncePod claims are in use. */
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
      if (claim === undefined)
        return new Status(
          'UnschedulableAndUnresolvable',
          { text: claimNotFound(claimName), code: 'VolumeUnavailable' },
          name,
        );
      // A claim that no other pod uses cannot conflict.
      const isExclusive = claim.accessModes.includes('ReadWriteOncePod');
      if (isExclusive && this.#interchangeable.of(pod, volume) === undefined) claims.add(claimName);
    }
    const hasDisk = pod.volumes.some((volume) => volume.type === 'inline' && volume.disk !== undefined);
    if (claims.size === 0 && !hasDisk) return Status.skipThroughout;
    const request: ExclusiveRequest = { claims: [...claims], isInUse: false };
    this.#refresh(request, pod);
    state.write(requestKey, request);
    return undefined;
  }

  /** Reads the claims in use from the cluster cache, which already includes the added pod. */
  preFilterAddPod(state: CycleState, pod: Pod): Status | undefined {
    this.#refresh(state.read<ExclusiveRequest>(requestKey)!, pod);
    return undefined;
  }

  preFilterRemovePod(state: CycleState, pod: Pod): Status | undefined {
    this.#refresh(state.read<ExclusiveRequest>(requestKey)!, pod);
    return undefined;
  }

  filter(state: CycleState, pod: Pod, { pods }: NodeView): Status | undefined {
    for (const other of pods.values()) {
      if (other.volumes !== noVolumes && haveDiskConflict(pod.volumes, other.volumes)) return diskInUse;
    }
    return state.read<ExclusiveRequest>(requestKey)!.isInUse ? claimInUse : undefined;
  }

  dependsOnPod(_state: CycleState, _pod: Pod, { volumes }: Pod): boolean {
    return volumes !== noVolumes;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [
      { resource: 'AssignedPod', actions: ['Delete'], hint: afterPod },
      { resource: 'Node', actions: ['Add'] },
      { resource: 'PersistentVolumeClaim', actions: ['Add'], hint: afterClaim },
    ];
  }

  #refresh(request: ExclusiveRequest, { namespace }: Pod): void {
    const { claimsInUse } = this.#cluster;
    request.isInUse = request.claims.some((claim) => claimsInUse.usersOf(namespace, claim) > 0);
  }
}

/** Disks conflict across namespaces, claims only within one. */
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
