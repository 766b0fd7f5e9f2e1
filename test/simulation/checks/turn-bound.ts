import type { StoreRecord } from '../world/record.ts';
import { groupNamed, podsIn, tallyOf, viewAt } from './plain-group.ts';
import { hasChanged } from './plain-losses.ts';
import { hasEnded, isGroupResource, isMarked, isOnNode, plainGroup, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { entityOf, groupOfEntity } from './plain-turns.ts';

/** How an entity had its turn, by the store. Times are virtual. */
export interface TurnCourse {
  readonly entity: string;
  readonly since: number;
  readonly confidence: string;
  readonly priority: number;
  /** When its quorum was bound. */
  startedAt: number | undefined;
  /** When its pods showed no predicted start any more. */
  endedAt: number | undefined;
}

/** Bindings that were planned before the turn are sent until then. */
const planTakesMs = 12_000;

/** A pod while it is on a node. */
interface Stay {
  pod: PlainPod;
  readonly boundAt: number;
  startedAt: number | undefined;
  endedAt: number;
}

function staysIn(record: StoreRecord): readonly Stay[] {
  /** uid -> its stay */
  const stays = new Map<string, Stay>();
  for (const { resource, type, object, at } of record.changes) {
    if (resource !== 'pods') continue;
    const pod = plainPod(object);
    let stay = stays.get(pod.uid);
    if (stay === undefined && pod.node !== '') {
      stay = { pod, boundAt: at, startedAt: undefined, endedAt: Infinity };
      stays.set(pod.uid, stay);
    }
    if (stay === undefined) continue;
    stay.pod = pod;
    if (pod.startedAt !== undefined) stay.startedAt ??= at;
    if ((type === 'DELETED' || hasEnded(pod)) && stay.endedAt === Infinity) stay.endedAt = at;
  }
  return [...stays.values()];
}

/**
 * Returns by when all pods have ended that may delay the entity: those that ran when it got its turn, and later ones that ran for longer than
 * declared. Infinity: not yet, as far as it is known. Unless all ends that matter were declared, a pod without a declaration may be one of
 * those that the entity waits for; the store does not show on which nodes.
 */
export function latestEndFor(
  record: StoreRecord,
  { entity, since, confidence, startedAt = Infinity }: TurnCourse,
): number {
  let latest = since;
  for (const { pod, boundAt, startedAt: ranFrom = boundAt, endedAt } of staysIn(record)) {
    if (entityOf(record, pod) === entity || endedAt <= since || boundAt >= startedAt) continue;
    const declaredEnd = pod.declaredMs === undefined ? undefined : ranFrom + pod.declaredMs;
    if (boundAt > since + planTakesMs) {
      if (declaredEnd !== undefined && endedAt > declaredEnd) latest = Math.max(latest, endedAt);
      continue;
    }
    if (declaredEnd !== undefined) latest = Math.max(latest, endedAt > declaredEnd ? endedAt : declaredEnd);
    else if (confidence !== 'Declared') latest = Math.max(latest, endedAt);
    else if (pod.isLeaving) latest = Math.max(latest, endedAt);
  }
  return latest;
}

/** Returns what has happened between the two times that lets the entity start later; undefined: nothing. */
export function delayOf(
  record: StoreRecord,
  { entity, priority }: TurnCourse,
  from: number,
  to: number,
): string | undefined {
  const single = record.getOrLast('pods', entity);
  // A pod that starts by itself may be in a group, too.
  const ownGroup = groupOfEntity(entity) ?? (single && plainPod(single).group);
  for (const { resource, type, object, previous, at, by, version } of record.changes) {
    if (at < from || at > to) continue;
    if (resource === 'nodes' && (previous === undefined || type === 'DELETED' || hasChanged(object, previous)))
      return 'a node has changed';
    if (ownGroup !== undefined && isGroupResource(resource) && plainGroup(object).name === ownGroup) {
      const specOf = (of: any): string => JSON.stringify(of?.spec);
      if (type !== 'MODIFIED' || specOf(object) !== specOf(previous)) return 'it has changed';
    }
    if (resource !== 'pods') continue;
    const pod = plainPod(object);
    const before = previous && plainPod(previous);
    if (isMarked(pod)) return 'a pod was preempted';
    if (pod.isRejected) return 'a node has rejected a pod';
    if (before !== undefined && before.milliCpu !== pod.milliCpu) return 'a pod was resized';
    if (entityOf(record, pod) === entity || (before !== undefined && entityOf(record, before) === entity)) {
      const hasChangedItself =
        before === undefined ||
        type === 'DELETED' ||
        entityOf(record, before) !== entityOf(record, pod) ||
        before.isLeaving !== pod.isLeaving ||
        before.isGated !== pod.isGated ||
        (before.node === '' && by === 'world' && pod.node !== '');
      if (hasChangedItself) return 'it has changed';
      continue;
    }
    if (pod.nominatedNode !== '' && pod.node === '') return 'another pod was nominated';
    const isBound = pod.node !== '' && (before?.node ?? '') === '';
    if (isBound && (by === 'world' || before === undefined)) return 'another scheduler has bound a pod';
    if (isBound && pod.priority > priority) return 'a higher priority was bound';
    const name = pod.group;
    if (name === undefined || !(isBound || type === 'DELETED' || hasEnded(pod))) continue;
    const view = viewAt(version);
    const group = groupNamed(record, name, view);
    const tally = group && tallyOf(group, podsIn(record, view));
    if (tally !== undefined && tally.bound.length > 0 && tally.bound.length < group!.minMember)
      return 'a group was partially bound';
  }
  return undefined;
}

/** Reports whether the quorum of the entity is bound, or has succeeded. */
export function hasStarted(record: StoreRecord, entity: string): boolean {
  const ownGroup = groupOfEntity(entity);
  if (ownGroup === undefined) {
    const object = record.get('pods', entity);
    return object !== undefined && isOnNode(plainPod(object));
  }
  const group = groupNamed(record, ownGroup);
  if (group === undefined) return false;
  const { bound, succeeded } = tallyOf(group, podsIn(record));
  return bound.length + succeeded >= group.minMember;
}
