import type { StoreRecord } from '../world/record.ts';
import { plainPod } from './plain-objects.ts';

/** A group whose members were asked to go by a scheduler. */
export interface Release {
  readonly group: string;
  readonly at: number;
  /** Until then the group is left alone. */
  readonly heldUntil: number;
}

const firstHoldMs = 10_000;
const longestHoldMs = 600_000;
/** The members of a group are asked at the same time; a call that fails is sent again. */
const togetherMs = 9_000;

/** Oldest first. A scheduler deletes pods in no other case here: nobody preempts. */
export function releasesIn(record: StoreRecord): Release[] {
  const releases: Release[] = [];
  for (const { resource, by, at, object, previous } of record.changes) {
    if (resource !== 'pods' || previous === undefined || !by.startsWith('scheduler')) continue;
    const pod = plainPod(object);
    if (pod.group === undefined || !pod.isLeaving || plainPod(previous).isLeaving) continue;
    const before = releases.filter(({ group }) => group === pod.group);
    if (before.some((release) => at - release.at < togetherMs)) continue;
    const heldUntil = at + Math.min(longestHoldMs, firstHoldMs * 2 ** before.length);
    releases.push({ group: pod.group, at, heldUntil });
  }
  return releases;
}
