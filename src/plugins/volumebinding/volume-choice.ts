import type { CsiStorageCapacity } from '../../api/csi-storage-capacity.ts';
import { SelectorError } from '../../api/label-selector.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
import { claimVolumesOf } from '../pod-claims.ts';
import type { InterchangeableClaims } from '../interchangeable-claims.ts';
import { PluginFailure } from '../../framework/plugin-failure.ts';
import { MatchingVolumes } from './matching-volumes.ts';
import { claimsOf } from './pod-claims.ts';
import type { PodClaims } from './pod-claims.ts';
import type { Provisioning } from './provisioning.ts';
import type { VolumeAffinity } from './volume-affinity.ts';

/** What a pod's claims come to on one node. */
export interface VolumesOnNode {
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[];
  /** Claims whose volumes are to be made for the node, with the room there is for each where that is known. */
  readonly provisions: readonly {
    readonly claim: PersistentVolumeClaim;
    readonly capacity: CsiStorageCapacity | undefined;
  }[];
}

export interface VolumeRules {
  readonly plugin: string;
  readonly cluster: Pick<ClusterLister, 'listed' | 'assumedVolumes' | 'nodes' | 'nodesRevision'>;
  readonly affinity: VolumeAffinity;
  readonly interchangeable: InterchangeableClaims;
  readonly provisioning: Provisioning;
}

/** Kinds that are read beside what is assumed. */
const reads = ['PersistentVolume', 'StorageClass', 'CSINode', 'CSIDriver', 'CSIStorageCapacity'] as const;

const noVolumes: VolumesOnNode = { bindings: [], provisions: [] };

const unreachable = "node(s) didn't match PersistentVolume's node affinity";
const unmatched = "node(s) didn't find available persistent volumes to bind";
const noCapacity = 'node(s) did not have enough free storage';
const gone = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const reasons = { unreachable, unmatched, noCapacity, gone } as const;
type Reason = keyof typeof reasons;

/** What is chosen for the claims of one pod on each node, as volumes and claims stand and are assumed to be. */
export class VolumeChoice {
  readonly #rules: VolumeRules;
  readonly #pod: Pod;
  /** name -> what stands for a claim of the pod's own: what is found is right for all pods that are alike to it */
  readonly #own: ReadonlyMap<string, PersistentVolumeClaim>;
  /** A Status: the pod cannot be placed as they are. */
  #claims: PodClaims | Status;
  /** Claims that nobody has given to a node, smallest first. */
  #open: readonly PersistentVolumeClaim[];
  /** In the order of `#open`; undefined: to be found. */
  #matching: readonly MatchingVolumes[] | undefined;
  /** Of the assumed volumes, to which all of this belongs. */
  #revision: number;
  #freed: number;
  /** By node index: what was found in passes over the nodes, at `#state` of all that is read. */
  #found: (VolumesOnNode | Status | undefined)[] = [];
  /** By node index: what `#found` is worth; NaN: not asked. */
  #worth: number[] = [];
  #state = '';
  /** Those rejected so have one and the same rejection. text -> Status */
  readonly #rejections: Map<string, Status>;

  /** `isShared`: for whoever is alike to the pod; what is found names no claim of its own. */
  constructor(
    rules: VolumeRules,
    pod: Pod,
    rejections: Map<string, Status>,
    { isShared }: { readonly isShared: boolean },
  ) {
    this.#rules = rules;
    this.#pod = pod;
    this.#own = isShared ? ownOf(pod, rules.interchangeable) : new Map();
    this.#rejections = rejections;
    const { cluster, plugin } = rules;
    this.#revision = cluster.assumedVolumes.revision;
    this.#freed = cluster.assumedVolumes.freed;
    this.#claims = claimsOf(pod, cluster, plugin, this.#own);
    this.#open = openOf(this.#claims);
  }

  /** A Status: the pod cannot be placed before they are otherwise. */
  get claims(): PodClaims | Status {
    this.#bringUpToDate();
    return this.#claims;
  }

  /** Nothing is to be decided once the pod has its node. */
  get isBound(): boolean {
    const { claims } = this;
    return !(claims instanceof Status) && claims.delayed.length === 0;
  }

  /** It stands for claims of others as well; who is given volumes makes a choice of its own. */
  get isShared(): boolean {
    return this.#own.size > 0;
  }

  /** What is found may change when another pod is placed that is alike to this one. */
  get dependsOnAssignedPods(): boolean {
    const { claims } = this;
    if (claims instanceof Status || claims.delayed.length === 0) return false;
    if (!this.#areOwn(claims)) return true;
    const matching = this.#candidates();
    return matching instanceof Status || !matching.every(({ isEmpty }) => isEmpty);
  }

  /** Whatever is found, it is worth nothing more than anything else: no volume is there, and nobody says how much room there is. */
  get isWorthNothing(): boolean {
    const { claims } = this;
    if (claims instanceof Status) return true;
    const matching = this.#candidates();
    if (matching instanceof Status || !matching.every(({ isEmpty }) => isEmpty)) return false;
    return !claims.delayed.some((claim) => this.#rules.provisioning.knowsCapacity(claim));
  }

  /**
   * Of the first `size` nodes of `indexes` keeps those that have what is asked for, at the beginning; answers how many. Throws
   * PluginFailure.
   */
  keepFitting(indexes: Int32Array, size: number): number {
    this.#beginPass();
    let kept = 0;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const found = this.#foundOn(index);
      if (!(found instanceof Status)) indexes[kept++] = index;
      else if (found.code === 'Error') throw new PluginFailure(found);
    }
    return kept;
  }

  /** What is found on each of the first `size` nodes of `indexes` is worth, into `scores` by node index. */
  scoreAll(indexes: Int32Array, size: number, scores: Float64Array, worthOf: (found: VolumesOnNode) => number): void {
    this.#beginPass();
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const found = this.#foundOn(index);
      let worth = this.#worth[index]!;
      if (Number.isNaN(worth)) worth = this.#worth[index] = found instanceof Status ? 0 : worthOf(found);
      scores[index] = worth;
    }
  }

  /** Nothing of what is read moves along a plan but what is assumed, which is looked at for itself. */
  #beginPass(): void {
    this.#bringUpToDate();
    const { listed, nodesRevision } = this.#rules.cluster;
    const state = `${nodesRevision} ${reads.map((kind) => listed.revision(kind)).join(' ')}`;
    if (this.#state === state) return;
    this.#state = state;
    this.#found = [];
  }

  #foundOn(index: number): VolumesOnNode | Status {
    let found = this.#found[index];
    if (found === undefined || !this.#stands(found)) {
      found = this.on(this.#rules.cluster.nodes[index]!);
      this.#found[index] = found;
      this.#worth[index] = NaN;
    }
    return found;
  }

  /** None of the volumes has been given to somebody since. */
  #stands(found: VolumesOnNode | Status): boolean {
    if (found instanceof Status) return true;
    const { bindings } = found;
    for (let i = 0; i < bindings.length; i++) if (!this.#isFree(bindings[i]!.volume)) return false;
    return true;
  }

  #isFree(volume: PersistentVolume): boolean {
    return this.#rules.cluster.assumedVolumes.volume(volume.name) === volume;
  }

  on(node: NodeView): VolumesOnNode | Status {
    const { claims } = this;
    if (claims instanceof Status) return claims;
    const found = this.#reachBound(claims, node);
    if (found instanceof Status) return found;
    if (claims.delayed.length === 0) return found === undefined ? noVolumes : this.#reject(found);
    const delayed = this.#place(claims, node);
    if (delayed instanceof Status) return delayed;
    if (typeof delayed === 'string') return this.#reject(found, delayed);
    return found === undefined ? delayed : this.#reject(found);
  }

  /** Why the node cannot reach what is bound already; undefined: it can. */
  #reachBound({ bound }: PodClaims, node: NodeView): Reason | Status | undefined {
    const { cluster, affinity } = this.#rules;
    for (const { volumeName } of bound) {
      const volume = cluster.assumedVolumes.volume(volumeName);
      if (volume === undefined) return 'gone';
      const answer = affinity.isReachableBound(volume, node);
      if (typeof answer === 'string') return this.#fail(answer);
      if (!answer) return 'unreachable';
    }
    return undefined;
  }

  #place({ delayed }: PodClaims, node: NodeView): VolumesOnNode | Reason | Status {
    const toMake: PersistentVolumeClaim[] = [];
    for (const claim of delayed) {
      if (claim.selectedNode === undefined) continue;
      if (claim.selectedNode !== node.name) return 'unmatched';
      toMake.push(claim);
    }
    const matching = this.#candidates();
    if (matching instanceof Status) return matching;
    const bindings: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = [];
    for (const [index, claim] of this.#open.entries()) {
      const volume = matching[index]!.on(node, this.#rules.affinity, bindings);
      if (volume !== undefined) bindings.push({ claim, volume });
      else if (matching[index]!.isKept) return 'unmatched';
      else toMake.push(claim);
    }
    const provisions: { claim: PersistentVolumeClaim; capacity: CsiStorageCapacity | undefined }[] = [];
    for (const claim of toMake) {
      const made = this.#rules.provisioning.of(claim, node);
      if (made.answer === 'error') return this.#fail(made.reason);
      if (made.answer !== 'yes') return made.answer === 'no room' ? 'noCapacity' : 'unmatched';
      provisions.push({ claim, capacity: made.capacity });
    }
    return { bindings, provisions };
  }

  /** For each claim of `#open`. */
  #candidates(): readonly MatchingVolumes[] | Status {
    try {
      return (this.#matching ??= this.#open.map(
        (claim) => new MatchingVolumes(claim, this.#rules.cluster.assumedVolumes),
      ));
    } catch (error) {
      if (error instanceof SelectorError) return this.#fail(`the selector of a claim is malformed: ${error.message}`);
      throw error;
    }
  }

  /** All that is to be decided is about the pod's own claims. */
  #areOwn({ delayed }: PodClaims): boolean {
    const own = new Set(this.#own.values());
    return delayed.every((claim) => own.has(claim));
  }

  /** Siblings of a plan may have been given some of the volumes, or a claim that they share may have been given to a node. */
  #bringUpToDate(): void {
    const { cluster, plugin } = this.#rules;
    const { revision, freed } = cluster.assumedVolumes;
    if (this.#revision === revision) return;
    this.#revision = revision;
    this.#claims = claimsOf(this.#pod, cluster, plugin, this.#own);
    this.#open = openOf(this.#claims);
    // Volumes that others have been given since are seen to be gone, where nobody has a claim on them who is asked about here.
    const isOwn = !(this.#claims instanceof Status) && this.#areOwn(this.#claims);
    if (isOwn && this.#freed === freed) return;
    this.#freed = freed;
    this.#matching = undefined;
    this.#found = [];
  }

  #reject(...found: readonly (Reason | undefined)[]): Status {
    const texts = found.flatMap((reason) => (reason === undefined ? [] : [reasons[reason]]));
    return this.#kept('UnschedulableAndUnresolvable', texts);
  }

  #fail(reason: string): Status {
    return this.#kept('Error', [reason]);
  }

  #kept(code: Status['code'], texts: readonly string[]): Status {
    const key = texts.join('\n');
    let status = this.#rejections.get(key);
    if (status === undefined) {
      status = new Status(code, texts, this.#rules.plugin);
      // Names of volumes may be in a failure.
      if (code !== 'Error') this.#rejections.set(key, status);
    }
    return status;
  }
}

function ownOf(pod: Pod, interchangeable: InterchangeableClaims): ReadonlyMap<string, PersistentVolumeClaim> {
  const own = new Map<string, PersistentVolumeClaim>();
  for (const volume of claimVolumesOf(pod)) {
    const claim = interchangeable.of(pod, volume);
    if (claim !== undefined) own.set(volume.claimName, claim);
  }
  return own;
}

function openOf(claims: PodClaims | Status): readonly PersistentVolumeClaim[] {
  if (claims instanceof Status) return [];
  return claims.delayed
    .filter(({ selectedNode }) => selectedNode === undefined)
    .sort((a, b) => (a.requested ?? 0) - (b.requested ?? 0));
}
