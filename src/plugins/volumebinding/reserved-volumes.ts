import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { AssumedVolumes } from '../../cluster/assumed-volumes.ts';
import type { VolumesOnNode } from './volume-choice.ts';

/** Volumes and claims chosen for a reserved pod. Other pods cannot get them until the reservation is released. */
export class ReservedVolumes {
  /** Volumes with their new claims. `wasFree`: the volume was not reserved for the claim before. */
  readonly bindings: readonly {
    readonly claim: PersistentVolumeClaim;
    readonly volume: PersistentVolume;
    readonly wasFree: boolean;
  }[];
  /** Claims with the selected node, whose volumes will be provisioned. */
  readonly provisions: readonly PersistentVolumeClaim[];
  /** The volumes and claims that the choice changes. */
  readonly #chosen: ReadonlySet<PersistentVolume | PersistentVolumeClaim>;
  /** Those already written to the API server; they stay as written even if the pod fails. */
  readonly #written = new Set<PersistentVolume | PersistentVolumeClaim>();
  readonly #assumed: AssumedVolumes;

  constructor({ bindings, provisions }: VolumesOnNode, nodeName: string, assumed: AssumedVolumes) {
    this.#assumed = assumed;
    this.bindings = bindings.map(({ claim, volume }) => {
      const { namespace, name, uid } = claim;
      // Another gang member with the same claim has already chosen this volume for it.
      const isAlreadyOurs = volume.claim?.uid === uid && volume.claim.name === name;
      const wasFree = volume.claim === undefined;
      return { claim, wasFree, volume: isAlreadyOurs ? volume : { ...volume, claim: { namespace, name, uid } } };
    });
    this.provisions = provisions.map(({ claim }) =>
      claim.selectedNode === nodeName ? claim : { ...claim, selectedNode: nodeName },
    );
    this.#chosen = new Set([
      ...this.bindings.flatMap(({ volume }, i) => (volume === bindings[i]!.volume ? [] : [volume])),
      ...this.provisions.filter((claim, i) => claim !== provisions[i]!.claim),
    ]);
  }

  /** Assumes the chosen objects. Returns false if one of them has changed since it was chosen. */
  assume(): boolean {
    let isCurrent = true;
    for (const each of this.#chosen) {
      const isAssumed =
        each.kind === 'PersistentVolume' ? this.#assumed.assumeVolume(each) : this.#assumed.assumeClaim(each);
      isCurrent &&= isAssumed;
    }
    return isCurrent;
  }

  /** Records that the object has been written to the API server. */
  noteWritten(each: PersistentVolume | PersistentVolumeClaim): void {
    this.#written.add(each);
  }

  /** Releases the assumptions. Keeps objects that other pods have got since, and written objects until the watch delivers them. */
  giveUp(): void {
    for (const each of this.#chosen) {
      if (this.#written.has(each)) continue;
      if (each.kind === 'PersistentVolume') this.#assumed.giveUpVolume(each);
      else this.#assumed.giveUpClaim(each);
    }
  }
}
