import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { AssumedVolumes } from '../../cluster/assumed-volumes.ts';
import type { VolumesOnNode } from './volume-choice.ts';

/** What was chosen for the claims of a pod that is reserved on a node: nobody else is given it until it is given up. */
export class ReservedVolumes {
  /** Volumes as they are to be, each with its claim. `wasFree`: nobody had kept it for the claim before. */
  readonly bindings: readonly {
    readonly claim: PersistentVolumeClaim;
    readonly volume: PersistentVolume;
    readonly wasFree: boolean;
  }[];
  /** Claims as they are to be, whose volumes are to be made for the node. */
  readonly provisions: readonly PersistentVolumeClaim[];
  /** Those that were otherwise before. */
  readonly #chosen: ReadonlySet<PersistentVolume | PersistentVolumeClaim>;
  /** Those that the API has taken: they are so, whatever becomes of the pod. */
  readonly #written = new Set<PersistentVolume | PersistentVolumeClaim>();
  readonly #assumed: AssumedVolumes;

  constructor({ bindings, provisions }: VolumesOnNode, nodeName: string, assumed: AssumedVolumes) {
    this.#assumed = assumed;
    this.bindings = bindings.map(({ claim, volume }) => {
      const { namespace, name, uid } = claim;
      // A sibling that has the same claim has given it this volume already.
      const isItsOwn = volume.claim?.uid === uid && volume.claim.name === name;
      const wasFree = volume.claim === undefined;
      return { claim, wasFree, volume: isItsOwn ? volume : { ...volume, claim: { namespace, name, uid } } };
    });
    this.provisions = provisions.map(({ claim }) =>
      claim.selectedNode === nodeName ? claim : { ...claim, selectedNode: nodeName },
    );
    this.#chosen = new Set([
      ...this.bindings.flatMap(({ volume }, i) => (volume === bindings[i]!.volume ? [] : [volume])),
      ...this.provisions.filter((claim, i) => claim !== provisions[i]!.claim),
    ]);
  }

  /** False: something is not any more as it was when it was chosen. */
  assume(): boolean {
    let stands = true;
    for (const each of this.#chosen) {
      const isAssumed =
        each.kind === 'PersistentVolume' ? this.#assumed.assumeVolume(each) : this.#assumed.assumeClaim(each);
      stands &&= isAssumed;
    }
    return stands;
  }

  /** It is as it was to be, and will be shown so. */
  noteWritten(each: PersistentVolume | PersistentVolumeClaim): void {
    this.#written.add(each);
  }

  /** What others have been given since stays theirs; what is written stands until it is shown. */
  giveUp(): void {
    for (const each of this.#chosen) {
      if (this.#written.has(each)) continue;
      if (each.kind === 'PersistentVolume') this.#assumed.giveUpVolume(each);
      else this.#assumed.giveUpClaim(each);
    }
  }
}
