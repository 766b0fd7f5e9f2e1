import type { StoreRecord } from '../world/record.ts';
import { formOf } from './plain-fit.ts';
import { groupNamed, podsIn, tallyOf } from './plain-group.ts';
import { hasEnded, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

/** A member left its node before it succeeded. */
interface Loss {
  /** The last state of the bound pod. */
  readonly pod: PlainPod;
  readonly at: number;
}

function lossesIn(record: StoreRecord): Loss[] {
  return record.changes.flatMap(({ resource, type, at, object, previous }) => {
    if (resource !== 'pods' || previous === undefined) return [];
    const before = plainPod(previous);
    if (before.node === '' || hasEnded(before)) return [];
    const isLost = type === 'DELETED' || plainPod(object).phase === 'Failed';
    return isLost ? [{ pod: before, at }] : [];
  });
}

/** Capacity that may be reserved for the replacement of a lost member. */
export interface ReservedCapacity {
  readonly group: string;
  /** The reservation has the size of this pod, on its node or any other. */
  readonly lost: PlainPod;
  readonly until: number;
}

/**
 * Returns the capacity that may be reserved now for groups with some bound members but fewer than they need. `seenBy` is the latest time at
 * which the scheduler had seen all earlier losses. The grace starts when it sees a loss.
 */
export function reservedCapacity(
  record: StoreRecord,
  started: ReadonlySet<string>,
  { now, seenBy }: { readonly now: number; readonly seenBy: number },
): ReservedCapacity[] {
  const pods = podsIn(record);
  return lossesIn(record).flatMap(({ pod, at }): ReservedCapacity[] => {
    const group = pod.group === undefined ? undefined : groupNamed(record, pod.group);
    if (group === undefined || (pod.boundFor !== undefined && pod.boundFor !== group.uid)) return [];
    const until = Math.max(at, seenBy) + group.graceMs;
    if (group.graceMs === 0 || until <= now || !isShort(group, pods, started.has(group.uid))) return [];
    return [{ group: group.name, lost: pod, until }];
  });
}

function isShort(group: PlainGroup, pods: readonly PlainPod[], isStarted: boolean): boolean {
  const { bound, succeeded } = tallyOf(group, pods);
  return bound.length > 0 && bound.length + (isStarted ? succeeded : 0) < group.minMember;
}

/** A node that gets no pod of a form because it rejected one. */
export interface BarredNode {
  readonly node: string;
  readonly form: string;
  readonly until: number;
}

const firstBarMs = 60_000;
const longestBarMs = 600_000;

/**
 * Returns the barred nodes. A bar lasts a minute at first, then twice as long each time, up to 10 minutes. Later changes of the node are
 * ignored.
 */
export function barredNodes(
  record: StoreRecord,
  { now, seenBy }: { readonly now: number; readonly seenBy: number },
): BarredNode[] {
  /** node and form -> number of rejections */
  const times = new Map<string, number>();
  const barred: BarredNode[] = [];
  for (const { resource, object, previous, at } of record.changes) {
    if (resource !== 'pods' || previous === undefined) continue;
    const pod = plainPod(object);
    if (!pod.isRejected || plainPod(previous).isRejected) continue;
    const form = formOf(pod);
    const count = (times.get(`${pod.node} ${form}`) ?? 0) + 1;
    times.set(`${pod.node} ${form}`, count);
    const until = Math.max(at, seenBy) + Math.min(longestBarMs, firstBarMs * 2 ** (count - 1));
    if (until > now) barred.push({ node: pod.node, form, until });
  }
  return barred;
}
