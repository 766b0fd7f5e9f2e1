import type { ListedKind } from '../../api/listed-object.ts';
import { noVolumes } from '../../api/pod-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip, Status } from '../../framework/status.ts';
import { InterchangeableClaims } from '../interchangeable-claims.ts';
import { claimVolumesOf } from '../pod-claims.ts';
import type { ShapePoint } from '../utilization-shape.ts';
import { bindVolumes } from './bind-volumes.ts';
import { Provisioning } from './provisioning.ts';
import { ReservedVolumes } from './reserved-volumes.ts';
import { VolumeAffinity } from './volume-affinity.ts';
import { readVolumeBindingArguments } from './volume-binding-args.ts';
import { volumeBindingEvents } from './volume-binding-events.ts';
import { VolumeChoice } from './volume-choice.ts';
import type { VolumeRules } from './volume-choice.ts';
import { volumeScore } from './volume-score.ts';

const name = 'VolumeBinding';
const choiceKey = `${name}/choice`;
const reservedKey = `${name}/reserved`;
/** Added to the bind timeout, so that the plugin itself can report what it was waiting for. */
const graceMs = 30_000;

/**
 * Finds volumes for the claims of pods together with their nodes. Nodes must be able to access bound volumes; other claims get an
 * existing or a new volume after the pod has a node. Reserve assumes the choice, so that no other pod gets the same volume. PreBind
 * writes it and waits for it.
 */
class VolumeBinding implements Plugin {
  readonly name = name;
  readonly readsOtherNodes = true;
  readonly reads = [
    ...(['PersistentVolume', 'PersistentVolumeClaim', 'StorageClass'] as const),
    ...(['CSINode', 'CSIDriver', 'CSIStorageCapacity'] as const),
  ] satisfies ListedKind[];
  readonly asyncDeadlineMs: number;
  readonly #handle: Pick<PluginHandle, 'cluster' | 'clock' | 'volumes'>;
  readonly #bindTimeoutMs: number;
  readonly #shape: readonly ShapePoint[];
  readonly #rules: VolumeRules;
  readonly #rejections = new Map<string, Status>();

  constructor(args: unknown, handle: PluginHandle) {
    const { bindTimeoutMs, shape } = readVolumeBindingArguments(args);
    const { listed } = handle.cluster;
    this.#handle = handle;
    this.#bindTimeoutMs = bindTimeoutMs;
    this.asyncDeadlineMs = bindTimeoutMs + graceMs;
    this.#shape = shape;
    this.#rules = {
      plugin: name,
      cluster: handle.cluster,
      affinity: new VolumeAffinity(listed),
      provisioning: new Provisioning(listed),
      interchangeable: new InterchangeableClaims(handle.cluster),
    };
  }

  sign(pod: Pod): string {
    return this.#rules.interchangeable.signVolumes(pod);
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    if (pod.volumes === noVolumes || claimVolumesOf(pod).length === 0) return Status.skipThroughout;
    const { cluster } = this.#handle;
    const choice = new VolumeChoice(this.#rules, pod, this.#rejections, { isShared: true });
    const { claims } = choice;
    if (claims instanceof Status) return claims;
    const isOnAnyNode =
      claims.delayed.length === 0 &&
      claims.bound.every(({ volumeName }) => {
        const volume = cluster.assumedVolumes.volume(volumeName);
        return volume !== undefined && volume.nodeAffinity === undefined && volume.inTree === undefined;
      });
    if (isOnAnyNode) return Status.skipThroughout;
    state.write(choiceKey, choice);
    return undefined;
  }

  /** The assumed volumes already include the choices for other gang members. */
  preFilterAddPod(): undefined {
    return undefined;
  }

  preFilterRemovePod(): undefined {
    return undefined;
  }

  filter(state: CycleState, _pod: Pod, node: NodeView): Status | undefined {
    const found = state.read<VolumeChoice>(choiceKey)!.on(node);
    return found instanceof Status ? found : undefined;
  }

  filterAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number): number {
    return state.read<VolumeChoice>(choiceKey)!.keepFitting(indexes, size);
  }

  dependsOnAssignedPods(state: CycleState): boolean {
    return state.read<VolumeChoice>(choiceKey)?.dependsOnAssignedPods === true;
  }

  /** Filter reads assumed volumes, not pods. */
  dependsOnPod(): boolean {
    return false;
  }

  preScore(state: CycleState): Status | undefined {
    const choice = state.read<VolumeChoice>(choiceKey);
    return choice === undefined || choice.isBound || choice.isUnscorable ? skip : undefined;
  }

  /** Also runs for a pod without volumes if the profile disables the plugin's PreScore. */
  score(state: CycleState, _pod: Pod, node: NodeView): number {
    const found = state.read<VolumeChoice>(choiceKey)?.on(node);
    return found === undefined || found instanceof Status ? 0 : volumeScore(found, this.#shape);
  }

  /** Like `score` for many nodes. */
  scoreAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void {
    const choice = state.read<VolumeChoice>(choiceKey);
    if (choice !== undefined) choice.scoreAll(indexes, size, scores, (found) => volumeScore(found, this.#shape));
    else for (let i = 0; i < size; i++) scores[indexes[i]!] = 0;
  }

  reserve(state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    const choice = state.read<VolumeChoice>(choiceKey);
    if (choice === undefined || choice.isBound) return undefined;
    const own = choice.isShared ? new VolumeChoice(this.#rules, pod, this.#rejections, { isShared: false }) : choice;
    const found = own.on(node);
    if (found instanceof Status) return found;
    const reserved = new ReservedVolumes(found, node.name, this.#handle.cluster.assumedVolumes);
    state.write(reservedKey, reserved);
    if (reserved.assume()) return undefined;
    return new Status('Error', 'a volume has changed since it was chosen', name);
  }

  unreserve(state: CycleState): void {
    state.read<ReservedVolumes>(reservedKey)?.giveUp();
  }

  preBindPreFlight(state: CycleState): Status | undefined {
    return state.read<ReservedVolumes>(reservedKey) === undefined ? skip : undefined;
  }

  async preBind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    const reserved = state.read<ReservedVolumes>(reservedKey);
    if (reserved === undefined) return undefined;
    const { cluster, clock, volumes } = this.#handle;
    const { affinity } = this.#rules;
    const timeoutMs = this.#bindTimeoutMs;
    return bindVolumes(reserved, { pod, nodeName, plugin: name, cluster, clock, volumes, affinity, timeoutMs, signal });
  }

  eventsToRegister(): readonly EventRegistration[] {
    return volumeBindingEvents(this.#handle.cluster);
  }
}

export const createVolumeBinding: PluginFactory = (args, handle) => new VolumeBinding(args, handle);
