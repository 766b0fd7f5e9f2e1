import type { SnapshotEntity, SnapshotGroupLife } from '../../api/explain/snapshot.ts';
import type { ListedObject } from '../../api/listed-object.ts';
import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { SnapshotEncoder } from './snapshot-encoder.ts';

/** What a snapshot consists of, before it is encoded. All of it is of one state of the cluster, and nothing of it changes any more. */
export interface SnapshotSource {
  /** Clock.now() */
  readonly takenAt: number;
  readonly seed: number;
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  /** uid of an assumed pod -> name of its node */
  readonly assumptions: ReadonlyMap<string, string>;
  readonly groups: readonly GangSpec[];
  readonly groupLives: readonly SnapshotGroupLife[];
  readonly objects: readonly ListedObject[];
  readonly reservations: readonly Reservation[];
  readonly entities: readonly SnapshotEntity[];
  readonly encoder: SnapshotEncoder;
}
