import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { isVolumeOf } from '../../api/persistent-volume.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { Pod } from '../../api/pod.ts';
import { isOlderVersion } from '../../api/resource-version.ts';
import type { Clock } from '../../base/clock.ts';
import { deferred } from '../../base/deferred.ts';
import { formatDuration } from '../../base/format-duration.ts';
import { messageOf } from '../../base/message-of.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister, VolumeWriter } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
import type { ReservedVolumes } from './reserved-volumes.ts';
import type { VolumeAffinity } from './volume-affinity.ts';

interface BindingVolumes {
  readonly pod: Pod;
  readonly nodeName: string;
  readonly plugin: string;
  readonly cluster: ClusterLister;
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly volumes: VolumeWriter;
  readonly affinity: VolumeAffinity;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How often is looked whether the pod and its node are still there; volumes and claims are looked at whenever they change. */
const lookEveryMs = 1_000;

/**
 * Writes what was chosen, and waits until the volumes are bound to their claims. Undefined: they are. An Error when they will not be: the
 * write was rejected, a provisioner has failed, the pod or its node is gone, or it takes too long. What is bound by then stays so.
 */
export async function bindVolumes(reserved: ReservedVolumes, binding: BindingVolumes): Promise<Status | undefined> {
  let written: WrittenVersions;
  try {
    written = await write(reserved, binding);
  } catch (error) {
    return new Status('Error', `binding volumes: ${messageOf(error)}`, binding.plugin, error);
  }
  return waitUntilBound(reserved, written, binding);
}

/** volume or claim, as it was chosen -> the version that it had when it was written */
type WrittenVersions = ReadonlyMap<PersistentVolume | PersistentVolumeClaim, string>;

async function write(
  reserved: ReservedVolumes,
  { volumes, nodeName, signal }: BindingVolumes,
): Promise<WrittenVersions> {
  const written = new Map<PersistentVolume | PersistentVolumeClaim, string>();
  const note = (each: PersistentVolume | PersistentVolumeClaim, version: string): void => {
    written.set(each, version);
    reserved.noteWritten(each);
  };
  for (const { claim, volume, wasFree } of reserved.bindings) {
    note(volume, await volumes.bind(volume, claim, { isOurChoice: wasFree, signal }));
  }
  for (const claim of reserved.provisions) note(claim, await volumes.provision(claim, nodeName, signal));
  return written;
}

async function waitUntilBound(
  reserved: ReservedVolumes,
  written: WrittenVersions,
  binding: BindingVolumes,
): Promise<Status | undefined> {
  const { cluster, clock, plugin, signal, timeoutMs } = binding;
  let turn = deferred();
  let isLate = false;
  const look = (): void => turn.resolve();
  const endListening = cluster.listed.onChange(['PersistentVolume', 'PersistentVolumeClaim'], look);
  const late = clock.setTimer(timeoutMs, () => {
    isLate = true;
    look();
  });
  signal.addEventListener('abort', look, { once: true });
  try {
    for (;;) {
      const progress = progressOf(reserved, written, binding);
      if (progress === 'bound') return undefined;
      const failure = signal.aborted
        ? messageOf(signal.reason)
        : (progress.failure ??
          (isLate ? `not bound after ${formatDuration(timeoutMs)}: ${progress.waiting}` : undefined));
      if (failure !== undefined) return new Status('Error', `binding volumes: ${failure}`, plugin);
      const timer = clock.setTimer(lookEveryMs, look);
      await turn.promise;
      turn = deferred();
      timer.cancel();
    }
  } finally {
    endListening();
    late.cancel();
    signal.removeEventListener('abort', look);
  }
}

type Progress = 'bound' | { readonly failure: string | undefined; readonly waiting: string };

/** As the API shows things, whatever is assumed of them. */
function progressOf(
  { bindings, provisions }: ReservedVolumes,
  written: WrittenVersions,
  binding: BindingVolumes,
): Progress {
  const { pod, nodeName, cluster } = binding;
  const node = cluster.node(nodeName);
  if (node === undefined) return failed(`node ${nodeName} is gone`);
  if (cluster.nodeOf(pod)?.name !== nodeName) return failed(`pod ${pod.key} was deleted or bound elsewhere`);
  for (const { claim, volume } of bindings) {
    const shown = cluster.listed.get('PersistentVolume', '', volume.name);
    if (shown === undefined) return failed(`persistentvolume "${volume.name}" is gone`);
    if (isOlderVersion(shown.resourceVersion, written.get(volume)!))
      return waiting(unseen(`persistentvolume "${volume.name}"`));
    if (!isVolumeOf(shown, claim)) return failed(`ClaimRef got reset for pv "${volume.name}"`);
    const progress = progressOfClaim(claim, node, binding);
    if (progress !== 'bound') return progress;
  }
  for (const claim of provisions) {
    const shown = cluster.listed.get('PersistentVolumeClaim', claim.namespace, claim.name);
    const isOld = shown !== undefined && isOlderVersion(shown.resourceVersion, written.get(claim)!);
    if (isOld) return waiting(unseen(`persistentvolumeclaim "${keyOf(claim)}"`));
    // A provisioner that cannot make the volume there takes the node away.
    if (shown !== undefined && shown.selectedNode !== nodeName && shown.volumeName === '') {
      return failed(`provisioning failed for PVC "${keyOf(claim)}"`);
    }
    const progress = progressOfClaim(claim, node, binding);
    if (progress !== 'bound') return progress;
  }
  return 'bound';
}

function progressOfClaim(chosen: PersistentVolumeClaim, node: NodeView, binding: BindingVolumes): Progress {
  const { cluster, affinity } = binding;
  const key = keyOf(chosen);
  const claim = cluster.listed.get('PersistentVolumeClaim', chosen.namespace, chosen.name);
  if (claim?.uid !== chosen.uid) return failed(`persistentvolumeclaim "${key}" is gone`);
  if (claim.volumeName === '') return waiting(`persistentvolumeclaim "${key}" has no volume yet`);
  const volume = cluster.listed.get('PersistentVolume', '', claim.volumeName);
  if (volume === undefined) return waiting(`persistentvolume "${claim.volumeName}" has not been seen yet`);
  const isReachable = affinity.isReachableBound(volume, node);
  if (typeof isReachable === 'string') return failed(isReachable);
  if (!isReachable) return failed(`node ${node.name} cannot reach persistentvolume "${volume.name}" of "${key}"`);
  return claim.isBound ? 'bound' : waiting(`persistentvolumeclaim "${key}" is not bound yet`);
}

function keyOf({ namespace, name }: PersistentVolumeClaim): string {
  return `${namespace}/${name}`;
}

function unseen(what: string): string {
  return `what was written to ${what} has not been seen yet`;
}

function failed(failure: string): Progress {
  return { failure, waiting: '' };
}

function waiting(text: string): Progress {
  return { failure: undefined, waiting: text };
}
