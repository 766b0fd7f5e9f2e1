import type { Snapshot } from '../../api/explain/snapshot.ts';
import type { SchedulerCore } from '../../scheduler/scheduler-core.ts';
import { DanglingReferenceError, SnapshotDecoder } from '../../scheduler/snapshot/snapshot-decoder.ts';

/** Fills a core that has not begun with the state in a snapshot, and begins. Throws DanglingReferenceError. */
export function restoreSnapshot(core: SchedulerCore, snapshot: Snapshot): void {
  const { cluster, handlers, queue } = core;
  const decoder = new SnapshotDecoder(cluster.resources, snapshot.templates);
  for (const node of snapshot.nodes) handlers.nodes.onAdd(decoder.node(node));
  for (const object of snapshot.objects) handlers.listed.onAdd(decoder.object(object));
  for (const group of snapshot.podGroups) handlers.podGroups.onAdd(decoder.group(group));
  for (const pod of snapshot.pods) handlers.pods.onAdd(decoder.pod(pod));
  restoreAssumptions(core, snapshot);
  core.begin();
  restoreReservations(core, snapshot, decoder);
  for (const { key, priority, sortedBy, incomplete, readySince, since, attempts } of snapshot.queue) {
    const uid = queue.get(key)?.sortKey.uid;
    if (uid === undefined) continue;
    queue.restore(key, { sortKey: { priority, readySince: sortedBy, uid, incomplete }, readySince, since, attempts });
  }
}

function restoreAssumptions({ cluster }: SchedulerCore, { pods }: Snapshot): void {
  const assumed = pods.flatMap(({ uid, assumedOn }) => (assumedOn === undefined ? [] : [{ uid, assumedOn }]));
  if (assumed.length === 0) return;
  const transaction = cluster.begin();
  for (const { uid, assumedOn } of assumed) {
    const node = cluster.node(assumedOn);
    if (node === undefined) throw new DanglingReferenceError(`a pod is assumed on the node ${assumedOn}, which is missing`);
    transaction.assume(cluster.pod(uid)!, node);
  }
  transaction.commit();
}

function restoreReservations({ cluster }: SchedulerCore, snapshot: Snapshot, decoder: SnapshotDecoder): void {
  const { reservations, reservationPlans } = snapshot;
  for (const { owner: { uid } } of [...cluster.reservations()]) cluster.endReservation(uid);
  for (const { owner, plan: index, ...rest } of reservations) {
    const pod = typeof owner === 'string' ? cluster.pod(owner) : decoder.pod(owner);
    if (pod === undefined) throw new DanglingReferenceError(`a reservation is for the pod ${String(owner)}, which is missing`);
    const plan = index === undefined ? undefined : reservationPlans[index];
    cluster.reservation({ ...rest, owner: pod, ...(plan !== undefined && { plan }) });
  }
}
