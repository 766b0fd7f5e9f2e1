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

/** Interval for checking the pod and its node. Changes to volumes and claims trigger a check at once. */
const checkIntervalMs = 1_000;

/**
 * Writes the chosen volumes and waits until they are bound to their claims. Returns undefined once they are. Returns an Error if a write
 * fails, a provisioner fails, the pod or its node is gone, or the timeout expires. Volumes bound by then stay bound.
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

/** assumed volume or claim -> its resourceVersion after the write */
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
  let wake = deferred();
  let isLate = false;
  const check = (): void => wake.resolve();
  const endListening = cluster.listed.onChange(['PersistentVolume', 'PersistentVolumeClaim'], check);
  const late = clock.setTimer(timeoutMs, () => {
    isLate = true;
    check();
  });
  signal.addEventListener('abort', check, { once: true });
  try {
    for (;;) {
      const progress = progressOf(reserved, written, binding);
      if (progress === 'bound') return undefined;
      const failure = signal.aborted
        ? messageOf(signal.reason)
        : (progress.failure ??
          (isLate ? `not bound after ${formatDuration(timeoutMs)}: ${progress.waiting}` : undefined));
      if (failure !== undefined) return new Status('Error', `binding volumes: ${failure}`, plugin);
      const timer = clock.setTimer(checkIntervalMs, check);
      await wake.promise;
      wake = deferred();
      timer.cancel();
    }
  } finally {
    endListening();
    late.cancel();
    signal.removeEventListener('abort', check);
  }
}

type Progress = 'bound' | { readonly failure: string | undefined; readonly waiting: string };

/** Returns the progress according to the API server, without assumptions. */
function progressOf(
  { bindings, provisions }: ReservedVolumes,
  written: WrittenVersions,
  binding: BindingVolumes,
): Progress {
  const { pod, nodeName, cluster } = binding;
  const node = cluster.node(nodeName);
  if (node === undefined) return failed('the chosen node is gone');
  if (cluster.nodeOf(pod)?.name !== nodeName) return failed(`pod ${pod.key} was deleted or bound elsewhere`);
  for (const { claim, volume } of bindings) {
    const observed = cluster.listed.get('PersistentVolume', '', volume.name);
    if (observed === undefined) return failed(`persistentvolume "${volume.name}" is gone`);
    if (isOlderVersion(observed.resourceVersion, written.get(volume)!))
      return waiting(unobserved(`persistentvolume "${volume.name}"`));
    if (!isVolumeOf(observed, claim)) return failed(`ClaimRef got reset for pv "${volume.name}"`);
    const progress = progressOfClaim(claim, node, binding);
    if (progress !== 'bound') return progress;
  }
  for (const claim of provisions) {
    const observed = cluster.listed.get('PersistentVolumeClaim', claim.namespace, claim.name);
    const isOld = observed !== undefined && isOlderVersion(observed.resourceVersion, written.get(claim)!);
    if (isOld) return waiting(unobserved(`persistentvolumeclaim "${keyOf(claim)}"`));
    // A provisioner that fails removes the selected node.
    if (observed !== undefined && observed.selectedNode !== nodeName && observed.volumeName === '') {
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
  if (volume === undefined) return waiting(`persistentvolume "${claim.volumeName}" has not been observed yet`);
  const isReachable = affinity.isReachableBound(volume, node);
  if (typeof isReachable === 'string') return failed(isReachable);
  if (!isReachable) return failed(`the chosen node cannot reach persistentvolume "${volume.name}" of "${key}"`);
  return claim.isBound ? 'bound' : waiting(`persistentvolumeclaim "${key}" is not bound yet`);
}

function keyOf({ namespace, name }: PersistentVolumeClaim): string {
  return `${namespace}/${name}`;
}

function unobserved(object: string): string {
  return `the update of ${object} has not been observed yet`;
}

function failed(failure: string): Progress {
  return { failure, waiting: '' };
}

function waiting(text: string): Progress {
  return { failure: undefined, waiting: text };
}
