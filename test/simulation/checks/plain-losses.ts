import type { StoreRecord } from '../world/record.ts';
import { formOf } from './plain-fit.ts';
import { groupNamed, podsIn, tallyOf } from './plain-group.ts';
import { hasEnded, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

/** A member left its node before it had succeeded. */
interface Loss {
  /** As it was on the node. */
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

/** Room that may be kept for whoever comes in the place of a lost member. */
export interface ReservedCapacity {
  readonly group: string;
  /** It takes as much room as this one, on its node or on any other. */
  readonly lost: PlainPod;
  readonly until: number;
}

/**
 * Of groups that have members on nodes, though fewer than they need: what they may have kept for them now. `toldBy`: when the scheduler had been told of
 * what was lost before, at the latest; the grace counts from when it was told.
 */
export function reservedCapacity(
  record: StoreRecord,
  started: ReadonlySet<string>,
  { now, toldBy }: { readonly now: number; readonly toldBy: number },
): ReservedCapacity[] {
  const pods = podsIn(record);
  return lossesIn(record).flatMap(({ pod, at }): ReservedCapacity[] => {
    const group = pod.group === undefined ? undefined : groupNamed(record, pod.group);
    if (group === undefined || (pod.boundFor !== undefined && pod.boundFor !== group.uid)) return [];
    const until = Math.max(at, toldBy) + group.graceMs;
    if (group.graceMs === 0 || until <= now || !isShort(group, pods, started.has(group.uid))) return [];
    return [{ group: group.name, lost: pod, until }];
  });
}

function isShort(group: PlainGroup, pods: readonly PlainPod[], isStarted: boolean): boolean {
  const { bound, succeeded } = tallyOf(group, pods);
  return bound.length > 0 && bound.length + (isStarted ? succeeded : 0) < group.minMember;
}

/** A node that gets no pod of a form, because it has not admitted one. */
export interface BarredNode {
  readonly node: string;
  readonly form: string;
  readonly until: number;
}

const firstBarMs = 60_000;
const longestBarMs = 600_000;

/** A minute at first, twice as long each time; that the node may have changed since is not asked. */
export function barredNodes(
  record: StoreRecord,
  { now, toldBy }: { readonly now: number; readonly toldBy: number },
): BarredNode[] {
  /** node and form -> how often */
  const times = new Map<string, number>();
  const barred: BarredNode[] = [];
  for (const { resource, object, previous, at } of record.changes) {
    if (resource !== 'pods' || previous === undefined) continue;
    const pod = plainPod(object);
    if (!pod.isRejected || plainPod(previous).isRejected) continue;
    const form = formOf(pod);
    const count = (times.get(`${pod.node} ${form}`) ?? 0) + 1;
    times.set(`${pod.node} ${form}`, count);
    const until = Math.max(at, toldBy) + Math.min(longestBarMs, firstBarMs * 2 ** (count - 1));
    if (until > now) barred.push({ node: pod.node, form, until });
  }
  return barred;
}
