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

/** The volumes for a pod's claims on one node. */
export interface VolumesOnNode {
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[];
  /** Claims whose volumes will be provisioned, with the storage capacity if it is known. */
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

/** Kinds that the choice reads besides the assumed objects. */
const reads = ['PersistentVolume', 'StorageClass', 'CSINode', 'CSIDriver', 'CSIStorageCapacity'] as const;

const noVolumes: VolumesOnNode = { bindings: [], provisions: [] };

const unreachable = "node(s) didn't match PersistentVolume's node affinity";
const unmatched = "node(s) didn't find available persistent volumes to bind";
const noCapacity = 'node(s) did not have enough free storage';
const gone = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const reasons = { unreachable, unmatched, noCapacity, gone } as const;
type Reason = keyof typeof reasons;

/** Chooses volumes for the claims of one pod on each node, from the current and assumed state of volumes and claims. */
export class VolumeChoice {
  readonly #rules: VolumeRules;
  readonly #pod: Pod;
  /** name -> anonymous replacement for an interchangeable claim, so that the result holds for all pods with the same signature */
  readonly #own: ReadonlyMap<string, PersistentVolumeClaim>;
  /** A Status: the pod cannot be scheduled until its claims change. */
  #claims: PodClaims | Status;
  /** Delayed claims without a selected node, smallest first. */
  #unassigned: readonly PersistentVolumeClaim[];
  /** Matching volumes for each of `#unassigned`; undefined: not computed yet. */
  #matching: readonly MatchingVolumes[] | undefined;
  /** Revision of the assumed volumes for which all of the above was computed. */
  #revision: number;
  #freed: number;
  /** node index -> result of a pass over the nodes at `#state` */
  #found: (VolumesOnNode | Status | undefined)[] = [];
  /** node index -> score of `#found`; NaN: not computed */
  #scores: number[] = [];
  #state = '';
  /** reasons as text -> shared Status */
  readonly #rejections: Map<string, Status>;

  /** `isShared`: the choice serves all pods with the same signature and contains no claim of the pod's own. */
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
    this.#unassigned = unassignedOf(this.#claims);
  }

  /** A Status: the pod cannot be scheduled until its claims change. */
  get claims(): PodClaims | Status {
    this.#refresh();
    return this.#claims;
  }

  /** True if all claims are bound, so that no volume has to be chosen. */
  get isBound(): boolean {
    const { claims } = this;
    return !(claims instanceof Status) && claims.delayed.length === 0;
  }

  /** True if the choice also serves other pods' claims. Reserve then makes a choice for the single pod. */
  get isShared(): boolean {
    return this.#own.size > 0;
  }

  /** Returns whether assigning a pod with the same signature may change the result. */
  get dependsOnAssignedPods(): boolean {
    const { claims } = this;
    if (claims instanceof Status || claims.delayed.length === 0) return false;
    if (!this.#areOwn(claims)) return true;
    const matching = this.#matchingVolumes();
    return matching instanceof Status || !matching.every(({ isEmpty }) => isEmpty);
  }

  /** True if all nodes get the same score: no volume matches, and no driver publishes capacity. */
  get isUnscorable(): boolean {
    const { claims } = this;
    if (claims instanceof Status) return true;
    const matching = this.#matchingVolumes();
    if (matching instanceof Status || !matching.every(({ isEmpty }) => isEmpty)) return false;
    return !claims.delayed.some((claim) => this.#rules.provisioning.publishesCapacityFor(claim));
  }

  /**
   * Moves the indexes of the nodes with volumes for all claims to the front, of the first `size` entries. Returns their number. Throws
   * PluginFailure.
   */
  keepFitting(indexes: Int32Array, size: number): number {
    this.#beginPass();
    let fitting = 0;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const found = this.#foundOn(index);
      if (!(found instanceof Status)) indexes[fitting++] = index;
      else if (found.code === 'Error') throw new PluginFailure(found);
    }
    return fitting;
  }

  /** Scores the first `size` nodes of `indexes` with `scoreOf` and writes to `scores` by node index. */
  scoreAll(indexes: Int32Array, size: number, scores: Float64Array, scoreOf: (found: VolumesOnNode) => number): void {
    this.#beginPass();
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const found = this.#foundOn(index);
      let score = this.#scores[index]!;
      if (Number.isNaN(score)) score = this.#scores[index] = found instanceof Status ? 0 : scoreOf(found);
      scores[index] = score;
    }
  }

  /** Drops old results if the state changed. Along a plan only assumed objects change, which each result checks itself. */
  #beginPass(): void {
    this.#refresh();
    const { listed, nodesRevision } = this.#rules.cluster;
    const state = `${nodesRevision} ${reads.map((kind) => listed.revision(kind)).join(' ')}`;
    if (this.#state === state) return;
    this.#state = state;
    this.#found = [];
  }

  #foundOn(index: number): VolumesOnNode | Status {
    let found = this.#found[index];
    if (found === undefined || !this.#isCurrent(found)) {
      found = this.on(this.#rules.cluster.nodes[index]!);
      this.#found[index] = found;
      this.#scores[index] = NaN;
    }
    return found;
  }

  /** Returns whether none of the volumes has been assumed for another claim since. */
  #isCurrent(found: VolumesOnNode | Status): boolean {
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

  /** Returns why the node cannot access the bound volumes; undefined: it can. */
  #reachBound({ bound }: PodClaims, node: NodeView): Reason | Status | undefined {
    const { cluster, affinity } = this.#rules;
    for (const { volumeName } of bound) {
      const volume = cluster.assumedVolumes.volume(volumeName);
      if (volume === undefined) return 'gone';
      const result = affinity.isReachableBound(volume, node);
      if (typeof result === 'string') return this.#fail(result);
      if (!result) return 'unreachable';
    }
    return undefined;
  }

  #place({ delayed }: PodClaims, node: NodeView): VolumesOnNode | Reason | Status {
    const toProvision: PersistentVolumeClaim[] = [];
    for (const claim of delayed) {
      if (claim.selectedNode === undefined) continue;
      if (claim.selectedNode !== node.name) return 'unmatched';
      toProvision.push(claim);
    }
    const matching = this.#matchingVolumes();
    if (matching instanceof Status) return matching;
    const bindings: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = [];
    for (const [index, claim] of this.#unassigned.entries()) {
      const volume = matching[index]!.on(node, this.#rules.affinity, bindings);
      if (volume !== undefined) bindings.push({ claim, volume });
      else if (matching[index]!.isReserved) return 'unmatched';
      else toProvision.push(claim);
    }
    const provisions: { claim: PersistentVolumeClaim; capacity: CsiStorageCapacity | undefined }[] = [];
    for (const claim of toProvision) {
      const provisionable = this.#rules.provisioning.of(claim, node);
      if (provisionable.outcome === 'error') return this.#fail(provisionable.reason);
      if (provisionable.outcome !== 'yes')
        return provisionable.outcome === 'insufficient capacity' ? 'noCapacity' : 'unmatched';
      provisions.push({ claim, capacity: provisionable.capacity });
    }
    return { bindings, provisions };
  }

  /** Returns the matching volumes for each of `#unassigned`. */
  #matchingVolumes(): readonly MatchingVolumes[] | Status {
    try {
      return (this.#matching ??= this.#unassigned.map(
        (claim) => new MatchingVolumes(claim, this.#rules.cluster.assumedVolumes),
      ));
    } catch (error) {
      if (error instanceof SelectorError) return this.#fail(`invalid selector of a claim: ${error.message}`);
      throw error;
    }
  }

  /** Returns whether all delayed claims are interchangeable. */
  #areOwn({ delayed }: PodClaims): boolean {
    const own = new Set(this.#own.values());
    return delayed.every((claim) => own.has(claim));
  }

  /** Recomputes the choice after assumptions changed: a gang member may have got a volume, or a shared claim may have got a node. */
  #refresh(): void {
    const { cluster, plugin } = this.#rules;
    const { revision, freed } = cluster.assumedVolumes;
    if (this.#revision === revision) return;
    this.#revision = revision;
    this.#claims = claimsOf(this.#pod, cluster, plugin, this.#own);
    this.#unassigned = unassignedOf(this.#claims);
    // If only interchangeable claims are open, volumes that became unavailable are detected on use; only freed ones need a new search.
    const isOwn = !(this.#claims instanceof Status) && this.#areOwn(this.#claims);
    if (isOwn && this.#freed === freed) return;
    this.#freed = freed;
    this.#matching = undefined;
    this.#found = [];
  }

  #reject(...found: readonly (Reason | undefined)[]): Status {
    const texts = found.flatMap((reason) => (reason === undefined ? [] : [reasons[reason]]));
    return this.#cached('UnschedulableAndUnresolvable', texts);
  }

  #fail(reason: string): Status {
    return this.#cached('Error', [reason]);
  }

  #cached(code: Status['code'], texts: readonly string[]): Status {
    const key = texts.join('\n');
    let status = this.#rejections.get(key);
    if (status === undefined) {
      const found = texts.map((text) => ({ text, code: 'VolumeUnavailable' }) as const);
      status = new Status(code, code === 'Error' ? texts : found, this.#rules.plugin);
      // Don't cache failures: they may contain volume names.
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

function unassignedOf(claims: PodClaims | Status): readonly PersistentVolumeClaim[] {
  if (claims instanceof Status) return [];
  return claims.delayed
    .filter(({ selectedNode }) => selectedNode === undefined)
    .sort((a, b) => (a.requested ?? 0) - (b.requested ?? 0));
}
