import type { PersistentVolumeClaim } from '../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../api/persistent-volume.ts';
import type { ListedObjectsView } from './listed-objects.ts';

/**
 * Volumes and claims as they will be when what has been decided about them is written. A decision counts from when a pod is reserved
 * on a node, for everybody who plans; it ends when it is given up, and as soon as the API shows the object in another version.
 */
export class AssumedVolumes {
  readonly #listed: ListedObjectsView;
  /** name -> the volume as it is to be */
  readonly #volumes = new Map<string, PersistentVolume>();
  /** namespace/name -> the claim as it is to be */
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

  /** Changes with every decision that is made or given up, and with every volume and claim. */
  get revision(): number {
    return this.#revision;
  }

  /** Changes with every decision about a volume that is given up, and with every volume: not when one is decided about. */
  get freed(): number {
    return this.#freed;
  }

  volume(name: string): PersistentVolume | undefined {
    const shown = this.#listed.get('PersistentVolume', '', name);
    return shown && this.#currentVolume(shown);
  }

  claim(namespace: string, name: string): PersistentVolumeClaim | undefined {
    const shown = this.#listed.get('PersistentVolumeClaim', namespace, name);
    if (shown === undefined || this.#claims.size === 0) return shown;
    return this.#claims.get(`${namespace}/${name}`) ?? shown;
  }

  *volumesOfClass(className: string): Iterable<PersistentVolume> {
    for (const shown of this.#listed.ofGroup('PersistentVolume', className)) yield this.#currentVolume(shown);
  }

  /** False: the API shows it in another version by now. */
  assumeVolume(volume: PersistentVolume): boolean {
    if (!isOf(volume, this.#listed.get('PersistentVolume', '', volume.name))) return false;
    this.#volumes.set(volume.name, volume);
    this.#revision++;
    return true;
  }

  /** As `assumeVolume`. */
  assumeClaim(claim: PersistentVolumeClaim): boolean {
    const { namespace, name } = claim;
    if (!isOf(claim, this.#listed.get('PersistentVolumeClaim', namespace, name))) return false;
    this.#claims.set(`${namespace}/${name}`, claim);
    this.#revision++;
    return true;
  }

  /** Gives up this very decision; another about the same volume stands. */
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

  #currentVolume(shown: PersistentVolume): PersistentVolume {
    return this.#volumes.size === 0 ? shown : (this.#volumes.get(shown.name) ?? shown);
  }
}

function isOf(
  assumed: { readonly resourceVersion: string },
  shown: { readonly resourceVersion: string } | undefined,
): boolean {
  return assumed.resourceVersion === shown?.resourceVersion;
}
