import type { CsiStorageCapacity } from '../../api/csi-storage-capacity.ts';
import { SelectorError } from '../../api/label-selector.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
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
  readonly cluster: Pick<ClusterLister, 'listed' | 'assumedVolumes'>;
  readonly affinity: VolumeAffinity;
  readonly provisioning: Provisioning;
}

const noVolumes: VolumesOnNode = { bindings: [], provisions: [] };

const unreachable = "node(s) didn't match PersistentVolume's node affinity";
const unmatched = "node(s) didn't find available persistent volumes to bind";
const noRoom = 'node(s) did not have enough free storage';
const gone = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const reasons = { unreachable, unmatched, noRoom, gone } as const;
type Reason = keyof typeof reasons;

/** What is chosen for the claims of one pod on each node, as volumes and claims stand and are assumed to be. */
export class VolumeChoice {
  readonly #rules: VolumeRules;
  readonly #pod: Pod;
  /** A Status: the pod cannot be placed as they are. */
  #claims: PodClaims | Status;
  /** Claims that nobody has given to a node, smallest first. */
  #open: readonly PersistentVolumeClaim[];
  /** In the order of `#open`; undefined: to be found. */
  #matching: readonly MatchingVolumes[] | undefined;
  /** Of the assumed volumes, to which all of this belongs. */
  #revision: number;
  /** Those refused so have one and the same refusal. text -> Status */
  readonly #refusals: Map<string, Status>;

  constructor(rules: VolumeRules, pod: Pod, refusals: Map<string, Status>) {
    this.#rules = rules;
    this.#pod = pod;
    this.#refusals = refusals;
    const { cluster, plugin } = rules;
    this.#revision = cluster.assumedVolumes.revision;
    this.#claims = claimsOf(pod, cluster, plugin);
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

  on(node: NodeView): VolumesOnNode | Status {
    const { claims } = this;
    if (claims instanceof Status) return claims;
    const found = this.#reachBound(claims, node);
    if (found instanceof Status) return found;
    if (claims.delayed.length === 0) return found === undefined ? noVolumes : this.#refuse(found);
    const delayed = this.#place(claims, node);
    if (delayed instanceof Status) return delayed;
    if (typeof delayed === 'string') return this.#refuse(found, delayed);
    return found === undefined ? delayed : this.#refuse(found);
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
    let matching: readonly MatchingVolumes[];
    try {
      matching = this.#matching ??= this.#open.map(
        (claim) => new MatchingVolumes(claim, this.#rules.cluster.assumedVolumes),
      );
    } catch (error) {
      if (error instanceof SelectorError) return this.#fail(`the selector of a claim is malformed: ${error.message}`);
      throw error;
    }
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
      if (made.answer !== 'yes') return made.answer === 'no room' ? 'noRoom' : 'unmatched';
      provisions.push({ claim, capacity: made.capacity });
    }
    return { bindings, provisions };
  }

  /** Siblings of a plan may have been given some of the volumes, or a claim that they share may have been given to a node. */
  #bringUpToDate(): void {
    const { cluster, plugin } = this.#rules;
    const { revision } = cluster.assumedVolumes;
    if (this.#revision === revision) return;
    this.#revision = revision;
    this.#claims = claimsOf(this.#pod, cluster, plugin);
    this.#open = openOf(this.#claims);
    this.#matching = undefined;
  }

  #refuse(...found: readonly (Reason | undefined)[]): Status {
    const texts = found.flatMap((reason) => (reason === undefined ? [] : [reasons[reason]]));
    return this.#kept('UnschedulableAndUnresolvable', texts);
  }

  #fail(reason: string): Status {
    return this.#kept('Error', [reason]);
  }

  #kept(code: Status['code'], texts: readonly string[]): Status {
    const key = texts.join('\n');
    let status = this.#refusals.get(key);
    if (status === undefined) {
      status = new Status(code, texts, this.#rules.plugin);
      // Names of volumes may be in a failure.
      if (code !== 'Error') this.#refusals.set(key, status);
    }
    return status;
  }
}

function openOf(claims: PodClaims | Status): readonly PersistentVolumeClaim[] {
  if (claims instanceof Status) return [];
  return claims.delayed
    .filter(({ selectedNode }) => selectedNode === undefined)
    .sort((a, b) => (a.requested ?? 0) - (b.requested ?? 0));
}
