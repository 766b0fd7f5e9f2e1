import type { Snapshot, SnapshotNode } from '../../api/explain/snapshot.ts';
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
  restoreAssumptions(core, snapshot, decoder);
  core.begin();
  restoreLives(core, snapshot);
  restoreReservations(core, snapshot, decoder);
  for (const { key, priority, sortedBy, incomplete, readySince, since, attempts } of snapshot.queue) {
    const uid = queue.get(key)?.sortKey.uid;
    if (uid === undefined) continue;
    queue.restore(key, { sortKey: { priority, readySince: sortedBy, uid, incomplete }, readySince, since, attempts });
  }
}

function restoreAssumptions({ cluster }: SchedulerCore, { pods }: Snapshot, decoder: SnapshotDecoder): void {
  const assumed = pods.flatMap(({ uid, assumedOn }) => (assumedOn === undefined ? [] : [{ uid, assumedOn }]));
  if (assumed.length === 0) return;
  const isGone = (name: string): boolean => cluster.node(name) === undefined;
  const gone = [...new Set(assumed.map(({ assumedOn }) => assumedOn))].filter(isGone);
  for (const name of gone) cluster.setNode(decoder.node(nodeNamed(name)));
  const transaction = cluster.begin();
  for (const { uid, assumedOn } of assumed) transaction.assume(cluster.pod(uid)!, cluster.node(assumedOn)!);
  transaction.commit();
  for (const name of gone) cluster.removeNode(name);
}

/** A node that was deleted after a pod was assumed on it. */
function nodeNamed(name: string): SnapshotNode {
  return {
    ...{ name, uid: '', resourceVersion: '', labels: {}, taints: [], unschedulable: false },
    ...{ allocatable: {}, declaredFeatures: [], images: [] },
  };
}

function restoreLives({ cluster, router }: SchedulerCore, { groupLives, takenAt }: Snapshot): void {
  const lives = new Map(groupLives.map((life) => [life.key, life]));
  for (const gang of [...cluster.gangs()]) {
    const { started, hasEnded } = lives.get(gang.key) ?? { started: false, hasEnded: false };
    if (gang.life.started === started && gang.life.hasEnded === hasEnded) continue;
    gang.restoreLife({ started, hasEnded });
    router.groupChanged(gang.key, 'Restored', Date.parse(takenAt));
  }
}

function restoreReservations({ cluster }: SchedulerCore, snapshot: Snapshot, decoder: SnapshotDecoder): void {
  const { reservations, reservationPlans } = snapshot;
  for (const {
    owner: { uid },
  } of [...cluster.reservations()])
    cluster.endReservation(uid);
  for (const { owner, plan: index, ...rest } of reservations) {
    const pod = typeof owner === 'string' ? cluster.pod(owner) : decoder.pod(owner);
    if (pod === undefined) throw new DanglingReferenceError('a reservation is for a pod that is missing');
    const plan = index === undefined ? undefined : reservationPlans[index];
    cluster.reservation({ ...rest, owner: pod, ...(plan !== undefined && { plan }) });
  }
}
