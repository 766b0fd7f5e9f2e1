import { compileLabelSelector } from '../../api/label-selector.ts';
import type { LabelPredicate } from '../../api/label-selector.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { isVolumeOf } from '../../api/persistent-volume.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { AssumedVolumes } from '../../cluster/assumed-volumes.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { VolumeAffinity } from './volume-affinity.ts';

/** The volumes that can be bound to a claim, on all nodes. */
export class MatchingVolumes {
  /** Volume reserved for the claim; it excludes all others. */
  readonly #reserved: PersistentVolume | undefined;
  /** "label value" -> volumes that only nodes with this label value can access, smallest first */
  readonly #byLabel = new Map<string, PersistentVolume[]>();
  /** Labels used as keys of `#byLabel`. */
  readonly #labels = new Set<string>();
  /** All other volumes, smallest first. */
  readonly #others: PersistentVolume[] = [];
  readonly #volumes: AssumedVolumes;

  /** Throws SelectorError. */
  constructor(claim: PersistentVolumeClaim, volumes: AssumedVolumes) {
    this.#volumes = volumes;
    const selects = claim.selector === undefined ? undefined : compileLabelSelector(claim.selector);
    const free: PersistentVolume[] = [];
    for (const volume of volumes.volumesOfClass(claim.className)) {
      if (!mayServe(volume, claim)) continue;
      if (isVolumeOf(volume, claim)) {
        if (this.#reserved === undefined || isBefore(volume, this.#reserved)) this.#reserved = volume;
      } else if (isFree(volume, claim, selects)) {
        free.push(volume);
      }
    }
    if (this.#reserved !== undefined) return;
    free.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    for (const volume of free) this.#index(volume);
  }

  /** True if no volume matches, on any node. */
  get isEmpty(): boolean {
    return this.#reserved === undefined && this.#byLabel.size === 0 && this.#others.length === 0;
  }

  /** True if a volume is reserved for the claim. On nodes that cannot access it, no other volume may be used. */
  get isReserved(): boolean {
    return this.#reserved !== undefined;
  }

  /** Returns the smallest volume that the node can access and that is not chosen for another claim. */
  on(
    node: NodeView,
    affinity: VolumeAffinity,
    chosen: readonly { readonly volume: PersistentVolume }[],
  ): PersistentVolume | undefined {
    const isAvailable = (volume: PersistentVolume): boolean =>
      !chosen.some(({ volume: { name } }) => name === volume.name) &&
      affinity.isReachable(volume, node) &&
      // Not assumed for another claim since.
      this.#volumes.volume(volume.name) === volume;
    if (this.#reserved !== undefined) return isAvailable(this.#reserved) ? this.#reserved : undefined;
    let best = this.#others.find(isAvailable);
    for (const label of this.#labels) {
      const value = node.node.labels[label];
      const found = value === undefined ? undefined : this.#byLabel.get(`${label} ${value}`)?.find(isAvailable);
      if (found !== undefined && (best === undefined || isBefore(found, best))) best = found;
    }
    return best;
  }

  /** Indexes local volumes by node label: there are many, and each is accessible from one node. */
  #index(volume: PersistentVolume): void {
    const [term, ...more] = volume.nodeAffinity ?? [];
    const expression = term?.matchExpressions?.find(({ operator }) => operator === 'In');
    if (expression === undefined || more.length > 0) {
      this.#others.push(volume);
      return;
    }
    const { key, values = [] } = expression;
    this.#labels.add(key);
    for (const value of new Set(values)) {
      const volumes = this.#byLabel.get(`${key} ${value}`);
      if (volumes === undefined) this.#byLabel.set(`${key} ${value}`, [volume]);
      else volumes.push(volume);
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

/** Excludes a volume that is not Available yet: its controller is about to change it. */
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

function isBefore(a: PersistentVolume, b: PersistentVolume): boolean {
  return a.capacity === b.capacity ? a.name < b.name : a.capacity < b.capacity;
}
