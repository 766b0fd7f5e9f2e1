import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import type { StoreRecord } from '../world/record.ts';
import type { Evidence } from './evidence.ts';
import { formOf, templateOf } from './plain-fit.ts';
import { groupNamed, nodeNamed, podsIn, tallyOf } from './plain-group.ts';
import type { View } from './plain-group.ts';
import { hasEnded, isOnNode, plainNode, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

/** The moment of a check, and what the scheduler knew by then. */
export interface Past {
  readonly now: number;
  /** Latest time at which the scheduler had seen all earlier losses. */
  readonly seenBy: number;
  /** Longest time until the scheduler has received a change. */
  readonly lagMs: number;
  /** No scheduler that runs has seen a pod become bound earlier than this. */
  readonly knownFrom: number;
  readonly isStartMissed: Evidence['isStartMissed'];
}

export function pastOf({ now, seenBy, lagMs, knownFrom, isStartMissed }: Evidence): Past {
  return { now: now(), seenBy: seenBy(), lagMs: lagMs(), knownFrom: knownFrom(), isStartMissed };
}

/** A member left its node before it succeeded. */
interface Loss {
  /** The last state of the bound pod. */
  readonly pod: PlainPod;
  readonly at: number;
  /** How long it was bound; undefined: no scheduler that runs saw it become bound. */
  readonly boundMs: number | undefined;
}

/**
 * uid -> when the pod was bound. Nothing is reserved for the pods that are absent, whatever they say: they were created with a node, or
 * bound before any scheduler that runs had started.
 */
function boundTimes(record: StoreRecord, knownFrom: number): ReadonlyMap<string, number> {
  const unbound = new Set<string>();
  const times = new Map<string, number>();
  for (const { resource, object, at } of record.changes) {
    if (resource !== 'pods') continue;
    const { uid, node } = plainPod(object);
    if (node === '') unbound.add(uid);
    else if (unbound.delete(uid) && at >= knownFrom) times.set(uid, at);
  }
  return times;
}

function lossesIn(record: StoreRecord, boundAt: ReadonlyMap<string, number>): Loss[] {
  return record.changes.flatMap(({ resource, type, at, object, previous }) => {
    if (resource !== 'pods' || previous === undefined) return [];
    const before = plainPod(previous);
    if (before.node === '' || hasEnded(before)) return [];
    const isLost = type === 'DELETED' || plainPod(object).phase === 'Failed';
    const since = boundAt.get(before.uid);
    return isLost ? [{ pod: before, at, boundMs: since === undefined ? undefined : at - since }] : [];
  });
}

/** Capacity that may be reserved for the replacement of a lost member. */
export interface ReservedCapacity {
  readonly group: string;
  /** The reservation has the size of this pod, on its node or, unless it is fixed, any other. */
  readonly lost: PlainPod;
  readonly isFixed: boolean;
  /** Pods of a higher priority do not respect it; undefined: all pods do. */
  readonly priority: number | undefined;
  /** The group has started, but the scheduler cannot know it. */
  readonly startMissed: boolean;
  readonly until: number;
}

/** Default of the administrator's maximum for the grace period of a group. */
const longestGraceMs = 300_000;

/**
 * Returns the capacity that may be reserved now for groups with some bound members but fewer than they need, within the limits of I10:
 * - only for members that the scheduler saw become bound, and for at most the administrator's maximum;
 * - for no longer than the member was bound, except for as many lost members, oldest first, as there are bound ones like them;
 * - no more members than the group lacks, and than it had bound at once;
 * - in one namespace no more CPU, memory and pods than its members had bound at once;
 * - until others use the capacity. Checked only if the capacity of the group's lost members must be reserved on their own nodes.
 *
 * The grace starts when the scheduler sees a loss. Not checked: that the limit of the namespace looks back only to the time when it last had
 * no reservation. `view`: which members the scheduler has seen of what the groups have now.
 */
export function reservedCapacity(
  record: StoreRecord,
  started: ReadonlySet<string>,
  past: Past,
  view?: View,
): ReservedCapacity[] {
  const { now, seenBy, lagMs, knownFrom, isStartMissed } = past;
  const pods = podsIn(record, view);
  const boundAt = boundTimes(record, knownFrom);
  const losses = lossesIn(record, boundAt).filter(({ boundMs }) => boundMs !== undefined);
  const byGroup = Map.groupBy(losses, ({ pod }) => pod.group);
  const reserved = [...byGroup].flatMap(([name, ofGroup]): ReservedCapacity[] => {
    const group = name === undefined ? undefined : groupNamed(record, name);
    if (group === undefined) return [];
    const startMissed = started.has(group.uid) && isStartMissed(group);
    const isStarted = started.has(group.uid) && !startMissed;
    const graceMs = Math.min(group.graceMs, longestGraceMs);
    if (graceMs === 0 || !isShort(group, pods, isStarted)) return [];
    const own = ofGroup.filter(({ pod }) => pod.boundFor === undefined || pod.boundFor === group.uid);
    const { bound, succeeded } = tallyOf(group, pods);
    const seen = bound.filter(({ uid }) => boundAt.has(uid));
    const limit = Math.min(
      group.minMember - bound.length - (isStarted ? succeeded : 0),
      mostBoundAtOnce(record, (pod) => pod.group === name && boundAt.has(pod.uid)).pods - seen.length,
    );
    const isFixed = own.every((loss) => staysOnItsNode(record, loss, past));
    return own
      .map((loss, i) => {
        const { pod, at, boundMs } = loss;
        // As many as there are members like it, oldest first.
        const older = own.filter((other, j) => j < i && isLike(pod, other.pod)).length;
        const isBacked = older < seen.filter((sibling) => isLike(pod, sibling)).length;
        const until = Math.max(at, seenBy) + (isBacked ? graceMs : Math.min(graceMs, boundMs! + lagMs));
        const isOver = until <= now || (isFixed && isTaken(record, loss, past));
        const priority = isStarted ? pod.priority : undefined;
        return { group: group.name, lost: pod, isFixed, priority, startMissed, until: isOver ? -Infinity : until };
      })
      .filter(({ until }) => until > now)
      .sort((a, b) => b.lost.milliCpu - a.lost.milliCpu)
      .slice(0, Math.max(0, limit));
  });
  return withinNamespaces(record, boundAt, reserved);
}

/** Returns the reservations that keep the capacity from these pods, of one entity. */
export function respectedBy(
  waiting: readonly PlainPod[],
  reserved: readonly ReservedCapacity[],
): readonly ReservedCapacity[] {
  const lowest = Math.min(...waiting.map(({ priority }) => priority));
  return reserved.filter(({ group, priority = Infinity }) => group !== waiting[0]!.group && lowest <= priority);
}

/**
 * Reports whether the capacity of this terminating pod may be reserved against pods of this priority as soon as it is gone: it is a member of
 * a group that then has too few.
 */
export function mayBeReserved(
  { record, started }: Pick<Evidence, 'record' | 'started'>,
  { group: name, priority }: PlainPod,
  against: number,
  view: View,
): boolean {
  const group = name === undefined ? undefined : groupNamed(record, name, view);
  if (group === undefined || group.graceMs === 0) return false;
  const isStarted = started.has(group.uid);
  const staying = podsIn(record, view).filter(({ isLeaving }) => !isLeaving);
  return (priority >= against || !isStarted) && isShort(group, staying, isStarted);
}

/** Returns what the groups with too few bound members have lost, as if all of it were reserved forever. */
export function lostCapacity(record: StoreRecord, started: ReadonlySet<string>): ReservedCapacity[] {
  const pods = podsIn(record);
  return lossesIn(record, new Map()).flatMap(({ pod }): ReservedCapacity[] => {
    const group = pod.group === undefined ? undefined : groupNamed(record, pod.group);
    if (group === undefined || !isShort(group, pods, started.has(group.uid))) return [];
    return [{ group: group.name, lost: pod, isFixed: false, priority: undefined, startMissed: false, until: Infinity }];
  });
}

/**
 * Reports whether the capacity can only be reserved on the node of the lost member: the node can take it, has not changed since, and has
 * never rejected a pod.
 */
function staysOnItsNode(record: StoreRecord, { pod, at }: Loss, { lagMs }: Past): boolean {
  const node = nodeNamed(record, pod.node);
  if (node === undefined || node.isClosed || (node.isReserved && node.zone !== pod.zone)) return false;
  return !record.changes.some(({ resource, type, object, previous, at: changedAt }) => {
    if (resource === 'pods') return plainPod(object).node === pod.node && plainPod(object).isRejected;
    if (resource !== 'nodes' || plainNode(object).name !== pod.node || changedAt < at - lagMs) return false;
    return type !== 'MODIFIED' || hasChanged(object, previous!);
  });
}

/** Reports whether the scheduler has seen that other pods left too little for the lost member on its node, after it saw the loss. */
function isTaken(record: StoreRecord, { pod: lost, at: lostAt }: Loss, { now, lagMs }: Past): boolean {
  const node = nodeNamed(record, lost.node)!;
  /** uid -> pod on the node */
  const there = new Map<string, PlainPod>();
  let isTaken = false;
  for (const { resource, type, object, at } of record.changes) {
    if (resource !== 'pods' || at + lagMs > now) continue;
    const pod = plainPod(object);
    if (pod.node !== lost.node) continue;
    const isThere = type !== 'DELETED' && isOnNode(pod);
    // The replacement may use the capacity.
    if (isThere && pod.group === lost.group && at >= lostAt && !there.has(pod.uid)) return false;
    if (isThere) there.set(pod.uid, pod);
    else there.delete(pod.uid);
    const used = [...there.values()].reduce(sumOf, nothing);
    const left = { milliCpu: node.milliCpu - used.milliCpu, mebibytes: node.mebibytes - used.mebibytes };
    const isLess = left.milliCpu < lost.milliCpu || left.mebibytes < lost.mebibytes;
    isTaken ||= isThere && at > lostAt + lagMs && isLess;
  }
  return isTaken;
}

/** Leaves out what exceeds the most that the members of the namespace had bound at the same time. */
function withinNamespaces(
  record: StoreRecord,
  boundAt: ReadonlyMap<string, number>,
  reserved: readonly ReservedCapacity[],
): ReservedCapacity[] {
  return [...Map.groupBy(reserved, ({ lost }) => namespaceOf(lost))].flatMap(([namespace, all]) => {
    const most = mostBoundAtOnce(
      record,
      (pod) => pod.group !== undefined && namespaceOf(pod) === namespace && boundAt.has(pod.uid),
    );
    let sum = nothing;
    return all.filter(({ lost }) => {
      sum = sumOf(sum, lost);
      return sum.milliCpu <= most.milliCpu && sum.mebibytes <= most.mebibytes && sum.pods <= most.pods;
    });
  });
}

interface Amounts {
  readonly milliCpu: number;
  readonly mebibytes: number;
  readonly pods: number;
}

const nothing: Amounts = { milliCpu: 0, mebibytes: 0, pods: 0 };

function sumOf(sum: Amounts, { milliCpu, mebibytes }: PlainPod): Amounts {
  return { milliCpu: sum.milliCpu + milliCpu, mebibytes: sum.mebibytes + mebibytes, pods: sum.pods + 1 };
}

function namespaceOf({ key }: PlainPod): string {
  return key.split('/')[0]!;
}

/** Returns for each resource the most that the bound pods among these had at once. */
function mostBoundAtOnce(record: StoreRecord, isCounted: (pod: PlainPod) => boolean): Amounts {
  /** uid -> bound pod */
  const bound = new Map<string, PlainPod>();
  let most = nothing;
  for (const { resource, type, object } of record.changes) {
    if (resource !== 'pods') continue;
    const pod = plainPod(object);
    if (type === 'DELETED' || !isOnNode(pod) || !isCounted(pod)) bound.delete(pod.uid);
    else bound.set(pod.uid, pod);
    const sum = [...bound.values()].reduce(sumOf, nothing);
    most = {
      milliCpu: Math.max(most.milliCpu, sum.milliCpu),
      mebibytes: Math.max(most.mebibytes, sum.mebibytes),
      pods: Math.max(most.pods, sum.pods),
    };
  }
  return most;
}

/** Reports whether the two differ in nothing but their volumes. */
function isLike(pod: PlainPod, other: PlainPod): boolean {
  return formOf({ ...pod, claim: undefined }) === formOf({ ...other, claim: undefined });
}

/** Reports whether the group has bound members, but fewer than it needs. */
function isShort(group: PlainGroup, pods: readonly PlainPod[], isStarted: boolean): boolean {
  const { bound, succeeded } = tallyOf(group, pods);
  return bound.length > 0 && bound.length + (isStarted ? succeeded : 0) < group.minMember;
}

/** A node that gets no pod of a namespace and template because it rejected one. */
export interface BarredNode {
  readonly node: string;
  readonly namespace: string;
  readonly template: string;
  readonly until: number;
}

/** Returns the names of the nodes that are closed to any of the pods. */
export function barredFor(barred: readonly BarredNode[], pods: readonly PlainPod[]): readonly string[] {
  const isFor = (pod: PlainPod, { namespace, template }: BarredNode): boolean =>
    namespaceOf(pod) === namespace && templateOf(pod) === template;
  return barred.flatMap((bar) => (pods.some((pod) => isFor(pod, bar)) ? [bar.node] : []));
}

interface Bar extends BarredNode {
  readonly at: number;
}

const firstBarMs = 60_000;
const longestBarMs = 600_000;

/**
 * Returns the barred nodes. A bar lasts a minute at first, then twice as long each time, up to 10 minutes, from the moment in which the scheduler
 * has received the rejection. It ends early when the node changes, which also ends the series, or when a running pod leaves the node. A change
 * within `lagMs` after the rejection may have been received first, so that it ends nothing.
 */
export function barredNodes(
  record: StoreRecord,
  { now, seenBy, lagMs }: Pick<Past, 'now' | 'seenBy' | 'lagMs'>,
): BarredNode[] {
  /** node, namespace and template -> number of rejections */
  const times = new Map<string, number>();
  let bars: Bar[] = [];
  const end = (node: string, at: number): void => {
    bars = bars.filter((bar) => bar.node !== node || at <= bar.at + lagMs || at + lagMs > now);
  };
  for (const { resource, type, object, previous, at } of record.changes) {
    if (resource === 'nodes' && previous !== undefined) {
      const { name } = plainNode(object);
      if (type !== 'DELETED' && !hasChanged(object, previous)) continue;
      end(name, at);
      for (const key of times.keys()) {
        if (key.startsWith(`${name} `) && !bars.some((bar) => key === keyOf(bar))) times.delete(key);
      }
    }
    if (resource !== 'pods' || previous === undefined) continue;
    const pod = plainPod(object);
    const before = plainPod(previous);
    if (before.phase === 'Running' && (type === 'DELETED' || hasEnded(pod))) end(before.node, at);
    if (!pod.isRejected || before.isRejected) continue;
    const bar = { node: pod.node, namespace: namespaceOf(pod), template: templateOf(pod), at };
    const count = (times.get(keyOf(bar)) ?? 0) + 1;
    times.set(keyOf(bar), count);
    bars.push({ ...bar, until: Math.max(at + lagMs, seenBy) + Math.min(longestBarMs, firstBarMs * 2 ** (count - 1)) });
  }
  return bars.filter(({ until }) => until > now);
}

function keyOf({ node, namespace, template }: Pick<Bar, 'node' | 'namespace' | 'template'>): string {
  return `${node} ${namespace} ${template}`;
}

/** Reports whether a field of the node differs that scheduling reads. */
export function hasChanged(object: JsonObject, previous: JsonObject): boolean {
  const of = (node: JsonObject): string => JSON.stringify({ ...plainNode(node), version: 0 });
  return of(object) !== of(previous);
}
