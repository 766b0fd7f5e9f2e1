import type { GroupSource } from '../api/group-key.ts';
import type { ResourceList } from '../api/resource-list.ts';
import type { Expected } from './misfits.ts';

/** What the scheduler reads of a pod group, whatever API it comes from. */
export interface GangSpec extends Expected {
  /** The API that the group comes from. Only texts depend on it. */
  readonly source: GroupSource;
  readonly uid: string;
  /** See `groupKeyOf`. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly creationTimestamp: number;
  /** The quorum. 0: the members start one by one. */
  readonly minMember: number;
  /** Total for the quorum; undefined disables the check. */
  readonly minResources: ResourceList | undefined;
  /** Longest wait of a member on Permit; undefined: the plugin's argument applies. */
  readonly scheduleTimeoutSeconds: number | undefined;
  /** When the condition Started became True, as the API shows it; undefined if it is not True. */
  readonly startedSince: string | undefined;
  /** The condition shows that a life of the group has ended and the next one has not started. */
  readonly startsAnew: boolean;
  /** True if a component maintains this condition, whatever its value. */
  readonly confirmsStart: boolean;
  /** Whether to evict the members if the group never started and the scheduler cannot complete it within the grace period. */
  readonly releases: boolean;
  /** How long to wait for lost members, in milliseconds. */
  readonly repairGraceMs: number;
  /** Why Tutti schedules no member of the group; undefined: it does. */
  readonly unsupported?: string | undefined;
  /** The condition stays True when the life ends, so `startedSince` counts only for members that were bound by then. */
  readonly startIsSticky?: true;
  /** No member starts while a member has scheduling gates. */
  readonly waitsForGates?: true;
  /** Preemption evicts all members or none, also those beyond the quorum. */
  readonly evictedWhole?: true;
}

/** Returns whether both groups bind, and lose, their members alike, as far as other pods and groups notice. */
export function bindsAlike(a: GangSpec | undefined, b: GangSpec): boolean {
  return a?.uid === b.uid && a.minMember === b.minMember && a.evictedWhole === b.evictedWhole;
}
