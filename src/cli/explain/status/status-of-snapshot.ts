import type { EntityState } from '../../../api/explain/explanation.ts';
import type { StatusItem, StatusList } from '../../../api/explain/lists.ts';
import type { SnapshotEntity } from '../../../api/explain/snapshot.ts';
import { parseGroupKey } from '../../../api/group-key.ts';
import type { Pod } from '../../../api/pod.ts';
import type { GangView } from '../../../cluster/gang-view.ts';
import type { OpenSnapshot } from '../../../compose/snapshot/open-snapshot.ts';
import { countsOf, stateOfGang, stateOfPod } from '../../../scheduler/explain/entity-summary.ts';
import { podSubject, subjectOfGroup } from '../../../scheduler/explain/subjects.ts';
import { waitsForOf } from '../waits-for.ts';
import { isChosenGroup, isChosenPod, statusListOf } from './load-status.ts';
import type { StatusSelection } from './load-status.ts';

/** Returns the pod groups of a snapshot, and single pods, with the verdicts that it holds. `selection`: without a selector. */
export function statusOfSnapshot({ core, basis, snapshot }: OpenSnapshot, selection: StatusSelection): StatusList {
  const { cluster, profiles } = core;
  const waiting = new Map(snapshot.queue.map((entity) => [entity.key, entity]));
  const isHere = (namespace: string): boolean => [undefined, namespace].includes(selection.namespace);
  const groups = [...cluster.gangs()].filter(({ key, spec, members }) => {
    if (spec === undefined && members.size === 0) return false;
    const { source, namespace, name } = parseGroupKey(key);
    return isHere(namespace) && isChosenGroup(selection, { source, name });
  });
  const isMember = ({ podGroupKey, schedulerName }: Pod): boolean =>
    podGroupKey !== undefined && profiles.decidesGangs(schedulerName);
  const singles = [...cluster.pods()].filter(
    (pod) =>
      isHere(pod.namespace) &&
      !isMember(pod) &&
      isChosenPod(selection, { name: pod.name, scheduledBy: pod.schedulerName }),
  );
  const items = [
    ...groups.map((gang) => gangItem(gang, waiting.get(`gang/${gang.key}`))),
    ...singles.map((pod) => singleItem(pod, cluster.isAssumed(pod.uid), waiting.get(`pod/${pod.uid}`))),
  ];
  return statusListOf(items, basis, [], selection.subjects);
}

function gangItem(gang: GangView, entity: SnapshotEntity | undefined): StatusItem {
  const { bound, minMember, existing } = countsOf(gang);
  const subject = subjectOfGroup(gang.key, gang.spec?.uid);
  const succeeded = gang.started ? gang.count('succeeded') : 0;
  const counts = { bound: bound + succeeded, minMember, size: existing };
  const state = stateOfGang(gang);
  return { subject, state, ...counts, ...waitOf('PodGroup', state, entity) };
}

function singleItem(pod: Pod, isAssumed: boolean, entity: SnapshotEntity | undefined): StatusItem {
  const state = stateOfPod(pod, isAssumed);
  const counts = { bound: state === 'Running' ? 1 : 0, minMember: 1, size: 1 };
  return { subject: podSubject(pod), state, ...counts, ...waitOf('Pod', state, entity) };
}

/** Returns what the queue says of an entity that waits. */
function waitOf(
  kind: 'PodGroup' | 'Pod',
  state: EntityState,
  entity: SnapshotEntity | undefined,
): Pick<StatusItem, 'waitsFor' | 'since' | 'reason' | 'message'> {
  const waits = state === 'Waiting' || state === 'Partial' || state === 'Degraded';
  if (entity === undefined || !waits) return { message: '' };
  const { gate, verdict, readySince, since } = entity;
  const message = gate ?? verdict?.message ?? '';
  const reason = gate === undefined ? verdict?.reason : 'WaitingForGang';
  const isKnown = gate === undefined && verdict !== undefined && verdict.waitsFor !== 'unknown';
  // A verdict that was read from a condition says it only in words.
  const waitsFor = isKnown ? verdict.waitsFor : waitsForOf(kind, reason ?? '', message);
  return {
    waitsFor,
    since: new Date(readySince ?? since).toISOString(),
    ...(reason !== undefined && { reason }),
    message,
  };
}
