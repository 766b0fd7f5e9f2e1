import { compileLabelSelector } from '../../api/label-selector.ts';
import type { LabelPredicate } from '../../api/label-selector.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { isVolumeOf } from '../../api/persistent-volume.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { AssumedVolumes } from '../../cluster/assumed-volumes.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { VolumeAffinity } from './volume-affinity.ts';

/** Volumes that a claim may be bound to, wherever they can be reached. */
export class MatchingVolumes {
  /** One that is kept for the claim: no other will do. */
  readonly #kept: PersistentVolume | undefined;
  /** Smallest first. "label value" -> those that can only be reached from nodes with that value */
  readonly #byLabel = new Map<string, PersistentVolume[]>();
  /** The labels of `#byLabel`. */
  readonly #labels = new Set<string>();
  /** The others, smallest first. */
  readonly #elsewhere: PersistentVolume[] = [];
  readonly #volumes: AssumedVolumes;

  /** Throws SelectorError. */
  constructor(claim: PersistentVolumeClaim, volumes: AssumedVolumes) {
    this.#volumes = volumes;
    const selects = claim.selector === undefined ? undefined : compileLabelSelector(claim.selector);
    const free: PersistentVolume[] = [];
    for (const volume of volumes.volumesOfClass(claim.className)) {
      if (!mayServe(volume, claim)) continue;
      if (isVolumeOf(volume, claim)) {
        if (this.#kept === undefined || goesBefore(volume, this.#kept)) this.#kept = volume;
      } else if (isFree(volume, claim, selects)) {
        free.push(volume);
      }
    }
    if (this.#kept !== undefined) return;
    free.sort((a, b) => (goesBefore(a, b) ? -1 : 1));
    for (const volume of free) this.#file(volume);
  }

  /** There is none, wherever. */
  get isEmpty(): boolean {
    return this.#kept === undefined && this.#byLabel.size === 0 && this.#elsewhere.length === 0;
  }

  /** There is one that is kept for the claim: where that cannot be reached no other may take its place. */
  get isKept(): boolean {
    return this.#kept !== undefined;
  }

  /** The smallest that the node can reach, of those that are not chosen for another claim yet. */
  on(
    node: NodeView,
    affinity: VolumeAffinity,
    chosen: readonly { readonly volume: PersistentVolume }[],
  ): PersistentVolume | undefined {
    const isOpen = (volume: PersistentVolume): boolean =>
      !chosen.some(({ volume: { name } }) => name === volume.name) &&
      affinity.isReachable(volume, node) &&
      // Nobody has been given it since.
      this.#volumes.volume(volume.name) === volume;
    if (this.#kept !== undefined) return isOpen(this.#kept) ? this.#kept : undefined;
    let best = this.#elsewhere.find(isOpen);
    for (const label of this.#labels) {
      const value = node.node.labels[label];
      const found = value === undefined ? undefined : this.#byLabel.get(`${label} ${value}`)?.find(isOpen);
      if (found !== undefined && (best === undefined || goesBefore(found, best))) best = found;
    }
    return best;
  }

  /** Local volumes are many, and each can be reached from one node. */
  #file(volume: PersistentVolume): void {
    const [term, ...more] = volume.nodeAffinity ?? [];
    const expression = term?.matchExpressions?.find(({ operator }) => operator === 'In');
    if (expression === undefined || more.length > 0) {
      this.#elsewhere.push(volume);
      return;
    }
    const { key, values = [] } = expression;
    this.#labels.add(key);
    for (const value of new Set(values)) {
      const there = this.#byLabel.get(`${key} ${value}`);
      if (there === undefined) this.#byLabel.set(`${key} ${value}`, [volume]);
      else there.push(volume);
    }
  }
}

function mayServe(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (
    (volume.claim === undefined || isVolumeOf(volume, claim)) &&
    volume.capacity >= (claim.requested ?? 0) &&
    volume.volumeMode === claim.volumeMode &&
    volume.attributesClass === claim.attributesClass &&
    !volume.deleting
  );
}

/** One that is not Available yet is about to be changed by whoever makes it so. */
function isFree(
  { isAvailable, labels, accessModes }: PersistentVolume,
  claim: PersistentVolumeClaim,
  selects: LabelPredicate | undefined,
): boolean {
  return (
    isAvailable &&
    (selects === undefined || selects(labels)) &&
    claim.accessModes.every((mode) => accessModes.includes(mode))
  );
}

function goesBefore(a: PersistentVolume, b: PersistentVolume): boolean {
  return a.capacity === b.capacity ? a.name < b.name : a.capacity < b.capacity;
}
