import { isFinished } from './observed.ts';
import type { ObservedGroup, ObservedPod } from './observed.ts';

/** How long a group may be partially bound. Its Bindings are separate calls, so a short delay between them is normal. */
export const partialGraceMs = 1_000;
/** Two partially bound groups are in a deadlock if no pod starts or finishes for this long. */
const deadlockAfterMs = 5_000;

/**
 * A period in which some members of a group were bound, but fewer than minMember. Once a group is scheduled, losing members does
 * not cause a partial start. A group that loses all of its members starts over.
 */
export interface PartialStart {
  /** namespace/name */
  readonly group: string;
  readonly fromMs: number;
  /** Undefined while it lasts. */
  readonly toMs: number | undefined;
  /** Maximum number of members bound at the same time during it. */
  readonly bound: number;
  readonly minMember: number;
}

export interface Deadlock {
  /** The partially bound groups, in the order in which they became partially bound. */
  readonly groups: readonly string[];
  /** Time since which at least two groups are partially bound and no pod has started or finished. */
  readonly sinceMs: number;
  /** Time at which it first counted as a deadlock. */
  readonly atMs: number;
}

/**
 * - unbound: no member is bound, or minMember is unknown
 * - partial: some members are bound, and minMember have not been bound together since the group was last unbound
 * - scheduled: minMember have been bound together since the group was last unbound
 */
export type GangState = 'unbound' | 'partial' | 'scheduled';

/** The current state of one group. */
export interface GangRecord {
  /** namespace/name */
  readonly group: string;
  /** Undefined if the PodGroup is unknown. */
  readonly minMember: number | undefined;
  readonly state: GangState;
  /** Current numbers of members: existing, bound, running, succeeded and failed. */
  readonly members: number;
  readonly bound: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  /** When the group was first scheduled, and when all members of the scheduled group had finished. */
  readonly scheduledAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
}

/** Numbers of members in each state. */
interface MemberCounts {
  bound: number;
  running: number;
  succeeded: number;
  failed: number;
}

interface Gang {
  readonly group: string;
  /** UID of the PodGroup; undefined while none exists. */
  uid: string | undefined;
  minMember: number | undefined;
  /** Pod key -> the pod as last seen */
  readonly members: Map<string, ObservedPod>;
  /** Counts over `members`, updated incrementally because a group can have thousands of members. */
  readonly counts: MemberCounts;
  state: GangState;
  /** The current partial start; set exactly while the state is partial. */
  partial: OpenPartialStart | undefined;
  scheduledAtMs: number | undefined;
  finishedAtMs: number | undefined;
}

interface OpenPartialStart {
  readonly fromMs: number;
  bound: number;
  minMember: number;
}

/**
 * Determines from watch events alone whether groups started all together. The caller passes changes in time order. All times are
 * milliseconds on one clock.
 */
export class GangHistory {
  /** Group key -> its state; the entry exists once the PodGroup or a member was seen */
  readonly #gangs = new Map<string, Gang>();
  /** Pod key -> the pod as last seen */
  readonly #pods = new Map<string, ObservedPod>();
  /** Partial starts that ended and took longer than the grace period. */
  readonly #ended: PartialStart[] = [];
  #lastProgressMs = -Infinity;

  podSeen(atMs: number, pod: ObservedPod): void {
    const previous = this.#pods.get(pod.key);
    const isSame = previous?.uid === pod.uid;
    if (previous !== undefined && (!isSame || previous.group !== pod.group)) this.podDeleted(atMs, pod.key);
    const hasStarted = pod.phase === 'Running' && !(isSame && previous?.phase === 'Running');
    const hasFinished = isFinished(pod) && !(isSame && previous !== undefined && isFinished(previous));
    if (hasStarted || hasFinished) this.#lastProgressMs = atMs;
    this.#pods.set(pod.key, pod);
    if (pod.group === undefined) return;
    const gang = this.#gangOf(pod.group);
    setMember(gang, pod.key, pod);
    this.#update(gang, atMs);
  }

  podDeleted(atMs: number, key: string): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    this.#pods.delete(key);
    if (pod.group === undefined) return;
    const gang = this.#gangOf(pod.group);
    setMember(gang, key, undefined);
    this.#update(gang, atMs);
    this.#forgetIfGone(gang);
  }

  groupSeen(atMs: number, { key, uid, minMember }: ObservedGroup): void {
    const gang = this.#gangOf(key);
    if (gang.uid !== undefined && gang.uid !== uid) this.#reset(gang, atMs);
    gang.uid = uid;
    gang.minMember = minMember;
    this.#update(gang, atMs);
  }

  groupDeleted(atMs: number, key: string): void {
    const gang = this.#gangs.get(key);
    if (gang === undefined) return;
    gang.uid = undefined;
    gang.minMember = undefined;
    this.#reset(gang, atMs);
    this.#forgetIfGone(gang);
  }

  /** Returns every group whose PodGroup or at least one member exists, in the order of appearance. */
  groups(): readonly GangRecord[] {
    return [...this.#gangs.values()].map(recordOf);
  }

  group(key: string): GangRecord | undefined {
    const gang = this.#gangs.get(key);
    return gang && recordOf(gang);
  }

  /** Returns the partial starts that lasted longer than the grace period and those that still last, oldest first. */
  partialStarts(): readonly PartialStart[] {
    return [...this.#ended, ...this.openPartialStarts()].sort((a, b) => a.fromMs - b.fromMs);
  }

  deadlock(nowMs: number): Deadlock | undefined {
    const open = this.openPartialStarts();
    const second = open[1];
    if (second === undefined) return undefined;
    const sinceMs = Math.max(second.fromMs, this.#lastProgressMs);
    const atMs = sinceMs + deadlockAfterMs;
    return nowMs < atMs ? undefined : { groups: open.map(({ group }) => group), sinceMs, atMs };
  }

  /** Returns the partial starts that still last, oldest first. */
  openPartialStarts(): PartialStart[] {
    return [...this.#gangs.values()]
      .flatMap(({ group, partial }) => (partial === undefined ? [] : [{ group, toMs: undefined, ...partial }]))
      .sort((a, b) => a.fromMs - b.fromMs);
  }

  #gangOf(group: string): Gang {
    let gang = this.#gangs.get(group);
    if (gang === undefined) {
      gang = {
        group,
        uid: undefined,
        minMember: undefined,
        members: new Map(),
        counts: { bound: 0, running: 0, succeeded: 0, failed: 0 },
        state: 'unbound',
        partial: undefined,
        scheduledAtMs: undefined,
        finishedAtMs: undefined,
      };
      this.#gangs.set(group, gang);
    }
    return gang;
  }

  /** Clears the state of an earlier group with the same name, or of an earlier run of the group. */
  #reset(gang: Gang, atMs: number): void {
    gang.state = 'unbound';
    gang.scheduledAtMs = undefined;
    gang.finishedAtMs = undefined;
    this.#endPartial(gang, atMs);
  }

  #forgetIfGone({ group, uid, members }: Gang): void {
    if (uid === undefined && members.size === 0) this.#gangs.delete(group);
  }

  #endPartial(gang: Gang, atMs: number): void {
    const { group, partial } = gang;
    gang.partial = undefined;
    if (partial === undefined) return;
    // Most groups are partially bound for a moment, which does not count. Watch events may be late, so the API server's times decide.
    const tookMs =
      (gang.state === 'scheduled' ? boundWithinMs(gang.members.values()) : undefined) ?? atMs - partial.fromMs;
    if (tookMs > partialGraceMs) this.#ended.push({ group, toMs: atMs, ...partial });
  }

  #update(gang: Gang, atMs: number): void {
    const { bound, succeeded, failed } = gang.counts;
    const finished = succeeded + failed;
    gang.state = stateOf(gang, bound);
    // All members had finished and there are new ones: the group runs again.
    if (gang.state === 'unbound' && gang.finishedAtMs !== undefined && finished < gang.members.size) {
      this.#reset(gang, atMs);
    }
    if (gang.state === 'partial') {
      const minMember = gang.minMember!;
      gang.partial ??= { fromMs: atMs, bound, minMember };
      gang.partial.bound = Math.max(gang.partial.bound, bound);
      gang.partial.minMember = minMember;
    } else this.#endPartial(gang, atMs);
    if (gang.state !== 'scheduled') return;
    gang.scheduledAtMs ??= atMs;
    if (gang.members.size < gang.minMember!) return; // deleting finished members leaves the group finished
    if (finished < gang.members.size) gang.finishedAtMs = undefined;
    else gang.finishedAtMs ??= atMs;
  }
}

/** A group with an unknown minMember is never partial, even if members are bound. */
function stateOf(gang: Gang, bound: number): GangState {
  if (bound === 0) return 'unbound';
  if (gang.state === 'scheduled') return 'scheduled';
  if (gang.minMember === undefined) return 'unbound';
  return bound >= gang.minMember ? 'scheduled' : 'partial';
}

/** Returns the time from the first Binding to the last on the API server's clock; undefined if any time is unknown. */
function boundWithinMs(members: Iterable<ObservedPod>): number | undefined {
  const times = [...members].filter(isBound).map(({ boundAtMs }) => boundAtMs ?? NaN);
  const span = Math.max(...times) - Math.min(...times);
  return Number.isNaN(span) ? undefined : span;
}

function isBound({ nodeName }: ObservedPod): boolean {
  return nodeName !== undefined;
}

function setMember({ members, counts }: Gang, key: string, pod: ObservedPod | undefined): void {
  const before = members.get(key);
  if (before !== undefined) addMember(counts, before, -1);
  if (pod === undefined) {
    members.delete(key);
    return;
  }
  members.set(key, pod);
  addMember(counts, pod, 1);
}

function addMember(counts: MemberCounts, pod: ObservedPod, change: 1 | -1): void {
  if (isBound(pod)) counts.bound += change;
  if (pod.phase === 'Running') counts.running += change;
  if (pod.phase === 'Succeeded') counts.succeeded += change;
  if (pod.phase === 'Failed') counts.failed += change;
}

function recordOf({ group, minMember, state, members, counts, scheduledAtMs, finishedAtMs }: Gang): GangRecord {
  return { group, minMember, state, members: members.size, ...counts, scheduledAtMs, finishedAtMs };
}
