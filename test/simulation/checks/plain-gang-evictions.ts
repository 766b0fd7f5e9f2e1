import type { StoreRecord } from '../world/record.ts';
import { isMarked, plainPod } from './plain-objects.ts';

/** A group whose members a scheduler evicted. */
export interface Release {
  readonly group: string;
  readonly at: number;
  /** The scheduler does not retry the group until then. */
  readonly heldUntil: number;
}

const firstHoldMs = 10_000;
const longestHoldMs = 600_000;
/** The scheduler evicts the members of a group together and retries failed calls; all evictions fall within this time. */
const togetherMs = 9_000;

/** Returns the releases, oldest first. Victims of preemptions carry a mark. */
export function releasesIn(record: StoreRecord): Release[] {
  const releases: Release[] = [];
  for (const { resource, by, at, object, previous } of record.changes) {
    if (resource !== 'pods' || previous === undefined || !by.startsWith('scheduler')) continue;
    const pod = plainPod(object);
    if (pod.group === undefined || !pod.isLeaving || plainPod(previous).isLeaving || isMarked(pod)) continue;
    const before = releases.filter(({ group }) => group === pod.group);
    if (before.some((release) => at - release.at < togetherMs)) continue;
    const heldUntil = at + Math.min(longestHoldMs, firstHoldMs * 2 ** before.length);
    releases.push({ group: pod.group, at, heldUntil });
  }
  return releases;
}
