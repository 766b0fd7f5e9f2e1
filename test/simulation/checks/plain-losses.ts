import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import type { StoreRecord } from '../world/record.ts';
import { formOf, templateOf } from './plain-fit.ts';
import { groupNamed, podsIn, tallyOf } from './plain-group.ts';
import { hasEnded, isOnNode, plainNode, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

/** A member left its node before it succeeded. */
interface Loss {
  /** The last state of the bound pod. */
  readonly pod: PlainPod;
  readonly at: number;
  /** How long it was bound; undefined: it was created with a node. */
  readonly boundMs: number | undefined;
}

/** uid -> when the pod was bound; pods that were created with a node are absent: nothing is reserved for them, whatever they say. */
function boundTimes(record: StoreRecord): ReadonlyMap<string, number> {
  const unbound = new Set<string>();
  const times = new Map<string, number>();
  for (const { resource, object, at } of record.changes) {
    if (resource !== 'pods') continue;
    const { uid, node } = plainPod(object);
    if (node === '') unbound.add(uid);
    else if (unbound.has(uid) && !times.has(uid)) times.set(uid, at);
  }
  return times;
}

function lossesIn(record: StoreRecord): Loss[] {
  const boundAt = boundTimes(record);
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
  /** The reservation has the size of this pod, on its node or any other. */
  readonly lost: PlainPod;
  /** Pods of a higher priority do not respect it; undefined: all pods do. */
  readonly priority: number | undefined;
  readonly until: number;
}

/** Default of the administrator's maximum for the grace of a group. */
const longestGraceMs = 300_000;

/**
 * Returns the capacity that may be reserved now for groups with some bound members but fewer than they need, within the limits of I10:
 * - only for members that the scheduler saw become bound, and for at most the administrator's maximum;
 * - for no longer than the member was bound, except for as many lost members, oldest first, as there are bound ones like them;
 * - no more members than the group lacks, and than it had bound at once;
 * - in one namespace no more than its members had bound at once.
 *
 * `seenBy`: latest time at which the scheduler had seen all earlier losses; the grace starts when it sees a loss. Not checked: that a
 * reservation ends when another scheduler uses the capacity, and that a restart forgets what was bound before.
 */
export function reservedCapacity(
  record: StoreRecord,
  started: ReadonlySet<string>,
  { now, seenBy, lagMs }: { readonly now: number; readonly seenBy: number; readonly lagMs: number },
): ReservedCapacity[] {
  const pods = podsIn(record);
  const boundAt = boundTimes(record);
  const losses = lossesIn(record).filter(({ boundMs }) => boundMs !== undefined);
  const byGroup = Map.groupBy(losses, ({ pod }) => pod.group);
  const reserved = [...byGroup].flatMap(([name, ofGroup]): ReservedCapacity[] => {
    const group = name === undefined ? undefined : groupNamed(record, name);
    if (group === undefined) return [];
    const isStarted = started.has(group.uid);
    const graceMs = Math.min(group.graceMs, longestGraceMs);
    if (graceMs === 0 || !isShort(group, pods, isStarted)) return [];
    const own = ofGroup.filter(({ pod }) => pod.boundFor === undefined || pod.boundFor === group.uid);
    const { bound, succeeded } = tallyOf(group, pods);
    const seen = bound.filter(({ uid }) => boundAt.has(uid));
    const limit = Math.min(
      group.minMember - bound.length - (isStarted ? succeeded : 0),
      mostBoundAtOnce(record, (pod) => (pod.group === name && boundAt.has(pod.uid) ? 1 : 0)) - seen.length,
    );
    return own
      .map(({ pod, at, boundMs }, i) => {
        // As many as there are members like it, oldest first.
        const older = own.filter((other, j) => j < i && formOf(other.pod) === formOf(pod)).length;
        const isBacked = older < seen.filter((sibling) => formOf(sibling) === formOf(pod)).length;
        const until = Math.max(at, seenBy) + (isBacked ? graceMs : Math.min(graceMs, boundMs! + lagMs));
        return { group: group.name, lost: pod, priority: isStarted ? pod.priority : undefined, until };
      })
      .filter(({ until }) => until > now)
      .sort((a, b) => b.lost.milliCpu - a.lost.milliCpu)
      .slice(0, Math.max(0, limit));
  });
  return withinNamespaces(record, boundAt, reserved);
}

/** Returns what the groups with too few bound members have lost, as if all of it were reserved for ever. */
export function lostCapacity(record: StoreRecord, started: ReadonlySet<string>): ReservedCapacity[] {
  const pods = podsIn(record);
  return lossesIn(record).flatMap(({ pod }): ReservedCapacity[] => {
    const group = pod.group === undefined ? undefined : groupNamed(record, pod.group);
    if (group === undefined || !isShort(group, pods, started.has(group.uid))) return [];
    return [{ group: group.name, lost: pod, priority: undefined, until: Infinity }];
  });
}

/** Leaves out what exceeds the most that the members of the namespace had bound at once. */
function withinNamespaces(
  record: StoreRecord,
  boundAt: ReadonlyMap<string, number>,
  reserved: readonly ReservedCapacity[],
): ReservedCapacity[] {
  return [...Map.groupBy(reserved, ({ lost }) => namespaceOf(lost))].flatMap(([namespace, all]) => {
    let left = mostBoundAtOnce(record, (pod) => {
      return pod.group !== undefined && namespaceOf(pod) === namespace && boundAt.has(pod.uid) ? pod.milliCpu : 0;
    });
    return all.filter(({ lost }) => {
      left -= lost.milliCpu;
      return left >= 0;
    });
  });
}

function namespaceOf({ key }: PlainPod): string {
  return key.split('/')[0]!;
}

/** Returns the highest sum of the amounts over the bound pods. */
function mostBoundAtOnce(record: StoreRecord, amountOf: (pod: PlainPod) => number): number {
  /** uid -> amount of the bound pod */
  const amounts = new Map<string, number>();
  let most = 0;
  for (const { resource, type, object } of record.changes) {
    if (resource !== 'pods') continue;
    const pod = plainPod(object);
    if (type === 'DELETED' || !isOnNode(pod)) amounts.delete(pod.uid);
    else amounts.set(pod.uid, amountOf(pod));
    most = Math.max(
      most,
      [...amounts.values()].reduce((sum, amount) => sum + amount, 0),
    );
  }
  return most;
}

/** Reports whether the group has bound members, but fewer than it needs. */
function isShort(group: PlainGroup, pods: readonly PlainPod[], isStarted: boolean): boolean {
  const { bound, succeeded } = tallyOf(group, pods);
  return bound.length > 0 && bound.length + (isStarted ? succeeded : 0) < group.minMember;
}

/** A node that gets no pod of a template because it rejected one. */
export interface BarredNode {
  readonly node: string;
  readonly template: string;
  readonly until: number;
}

interface Bar extends BarredNode {
  readonly at: number;
}

const firstBarMs = 60_000;
const longestBarMs = 600_000;

/**
 * Returns the barred nodes. A bar lasts a minute at first, then twice as long each time, up to 10 minutes. It ends early when the node
 * changes, which also ends the series, or when a running pod leaves the node. `lagMs`: longest time until the scheduler has received a
 * change. A change within that time after the rejection may have been received first, so that it ends nothing.
 */
export function barredNodes(
  record: StoreRecord,
  { now, seenBy, lagMs }: { readonly now: number; readonly seenBy: number; readonly lagMs: number },
): BarredNode[] {
  /** node and template -> number of rejections */
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
        if (key.startsWith(`${name} `) && !bars.some((bar) => key === `${bar.node} ${bar.template}`)) times.delete(key);
      }
    }
    if (resource !== 'pods' || previous === undefined) continue;
    const pod = plainPod(object);
    const before = plainPod(previous);
    if (before.phase === 'Running' && (type === 'DELETED' || hasEnded(pod))) end(before.node, at);
    if (!pod.isRejected || before.isRejected) continue;
    const template = templateOf(pod);
    const count = (times.get(`${pod.node} ${template}`) ?? 0) + 1;
    times.set(`${pod.node} ${template}`, count);
    const until = Math.max(at, seenBy) + Math.min(longestBarMs, firstBarMs * 2 ** (count - 1));
    bars.push({ node: pod.node, template, until, at });
  }
  return bars.filter(({ until }) => until > now);
}

/** Reports whether a field of the node differs that scheduling reads. */
function hasChanged(object: JsonObject, previous: JsonObject): boolean {
  const of = (node: JsonObject): string => JSON.stringify({ ...plainNode(node), version: 0 });
  return of(object) !== of(previous);
}
