import { explainApiVersion } from '../../api/explain/basis.ts';
import { snapshotFormat } from '../../api/explain/snapshot.ts';
import type { Snapshot } from '../../api/explain/snapshot.ts';
import type { SnapshotSource } from './snapshot-source.ts';

/** What only the caller knows of a snapshot. */
export type SnapshotHeader = Pick<Snapshot, 'tuttiVersion' | 'source' | 'unknowns' | 'configuration'>;

/** Objects in one piece of the text: about a millisecond of work. */
const rowsPerPiece = 200;

/** Writes the snapshot as JSON, in pieces that are short to make. */
export function* snapshotText(source: SnapshotSource, header: SnapshotHeader): Generator<string, void, undefined> {
  const { encoder, takenAt, seed, nodes, pods, assumptions, groups, groupLives, objects, reservations, entities } =
    source;
  const known = new Set(pods.map(({ uid }) => uid));
  const start: Omit<
    Snapshot,
    | 'nodes'
    | 'templates'
    | 'pods'
    | 'podGroups'
    | 'groupLives'
    | 'objects'
    | 'reservationPlans'
    | 'reservations'
    | 'queue'
  > = {
    apiVersion: explainApiVersion,
    kind: 'Snapshot',
    format: snapshotFormat,
    ...header,
    takenAt: new Date(takenAt).toISOString(),
    anonymized: false,
    seed,
  };
  yield JSON.stringify(start).slice(0, -1);
  yield* list('nodes', nodes, (node) => encoder.node(node));
  yield* list('pods', pods, (pod) => encoder.pod(pod, assumptions.get(pod.uid)));
  yield* list('podGroups', groups, (group) => encoder.group(group));
  yield* list('groupLives', groupLives, (life) => life);
  yield* list('objects', objects, (object) => encoder.object(object));
  yield* list('reservations', reservations, (reservation) => encoder.reservation(reservation, (uid) => known.has(uid)));
  yield* list('queue', entities, (entity) => entity);
  // What the others refer to is complete only now.
  yield* list('templates', encoder.templates, (template) => template);
  yield* list('reservationPlans', encoder.plans, (plan) => plan);
  yield '}\n';
}

function* list<T>(name: string, rows: readonly T[], encode: (row: T) => object): Generator<string, void, undefined> {
  yield `,${JSON.stringify(name)}:[`;
  for (let i = 0; i < rows.length; i += rowsPerPiece) {
    const piece = rows.slice(i, i + rowsPerPiece).map((row) => JSON.stringify(encode(row)));
    yield `${i === 0 ? '' : ','}\n${piece.join(',\n')}`;
  }
  yield ']';
}
