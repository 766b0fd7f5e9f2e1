import type { PersistentVolumeClaim } from '../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../api/persistent-volume.ts';
import type { ListedObjectsView } from './listed-objects.ts';

/**
 * State of volumes and claims including decisions that are not written yet. A decision applies to all plans from the Reserve of its pod on.
 * It ends when it is released, or when the API server shows the object in another version.
 */
export class AssumedVolumes {
  readonly #listed: ListedObjectsView;
  /** name -> assumed volume */
  readonly #volumes = new Map<string, PersistentVolume>();
  /** namespace/name -> assumed claim */
  readonly #claims = new Map<string, PersistentVolumeClaim>();
  #revision = 0;
  #freed = 0;

  constructor(listed: ListedObjectsView) {
    this.#listed = listed;
    listed.onChange(['PersistentVolume', 'PersistentVolumeClaim'], (object) => {
      if (object.kind === 'PersistentVolume') {
        this.#volumes.delete(object.name);
        this.#freed++;
      }
      if (object.kind === 'PersistentVolumeClaim') this.#claims.delete(`${object.namespace}/${object.name}`);
      this.#revision++;
    });
  }

  /** Changes with every decision, every release, and every change of a volume or claim. */
  get revision(): number {
    return this.#revision;
  }

  /** Changes with every released decision about a volume and with every change of a volume, but not with a decision. */
  get freed(): number {
    return this.#freed;
  }

  volume(name: string): PersistentVolume | undefined {
    const observed = this.#listed.get('PersistentVolume', '', name);
    return observed && this.#currentVolume(observed);
  }

  claim(namespace: string, name: string): PersistentVolumeClaim | undefined {
    const observed = this.#listed.get('PersistentVolumeClaim', namespace, name);
    if (observed === undefined || this.#claims.size === 0) return observed;
    return this.#claims.get(`${namespace}/${name}`) ?? observed;
  }

  *volumesOfClass(className: string): Iterable<PersistentVolume> {
    for (const observed of this.#listed.ofGroup('PersistentVolume', className)) yield this.#currentVolume(observed);
  }

  /** Assumes the volume. Returns false if the API server shows another version by now. */
  assumeVolume(volume: PersistentVolume): boolean {
    if (!isOf(volume, this.#listed.get('PersistentVolume', '', volume.name))) return false;
    this.#volumes.set(volume.name, volume);
    this.#revision++;
    return true;
  }

  /** Like `assumeVolume`. */
  assumeClaim(claim: PersistentVolumeClaim): boolean {
    const { namespace, name } = claim;
    if (!isOf(claim, this.#listed.get('PersistentVolumeClaim', namespace, name))) return false;
    this.#claims.set(`${namespace}/${name}`, claim);
    this.#revision++;
    return true;
  }

  /** Releases this decision; a newer decision about the same volume stays. */
  giveUpVolume(volume: PersistentVolume): void {
    if (this.#volumes.get(volume.name) !== volume) return;
    this.#volumes.delete(volume.name);
    this.#revision++;
    this.#freed++;
  }

  giveUpClaim(claim: PersistentVolumeClaim): void {
    const key = `${claim.namespace}/${claim.name}`;
    if (this.#claims.get(key) !== claim) return;
    this.#claims.delete(key);
    this.#revision++;
  }

  #currentVolume(observed: PersistentVolume): PersistentVolume {
    return this.#volumes.size === 0 ? observed : (this.#volumes.get(observed.name) ?? observed);
  }
}

function isOf(
  assumed: { readonly resourceVersion: string },
  observed: { readonly resourceVersion: string } | undefined,
): boolean {
  return assumed.resourceVersion === observed?.resourceVersion;
}
