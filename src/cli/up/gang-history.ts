import { isFinished } from './observed.ts';
import type { ObservedGroup, ObservedPod } from './observed.ts';

/** A group may be between none and minMember for so long, because its Bindings are separate calls. */
export const partialGraceMs = 1_000;
/** With two groups partly started, so long without a pod that starts or finishes is called a deadlock. */
const deadlockAfterMs = 5_000;

/**
 * A stretch of time in which some, but fewer than minMember, members of a group were bound. Once a group is whole, members that
 * leave it later make no partial start; a group that lost all of them begins anew.
 */
export interface PartialStart {
  /** namespace/name */
  readonly group: string;
  readonly fromMs: number;
  /** Undefined: it has not ended. */
  readonly toMs: number | undefined;
  /** The most members that were bound in it. */
  readonly bound: number;
  readonly minMember: number;
}

export interface Deadlock {
  /** The groups that are partly started, in the order in which they became so. */
  readonly groups: readonly string[];
  /** Since when no pod has started or finished. */
  readonly sinceMs: number;
  /** When it could first be called a deadlock. */
  readonly atMs: number;
}

/**
 * - empty: no member is bound
 * - partial: some are, and never were minMember since the group was last empty
 * - whole: minMember were at the same time since the group was last empty
 */
export type GangState = 'empty' | 'partial' | 'whole';

/** What the history says of one group. */
export interface GangRecord {
  /** namespace/name */
  readonly group: string;
  /** Undefined: no such PodGroup was seen. */
  readonly minMember: number | undefined;
  readonly state: GangState;
  /** Members that exist, that are bound, that run and that finished, now. */
  readonly members: number;
  readonly bound: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  /** When it first was whole, and when its members last were all finished with the group whole. */
  readonly wholeAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
}

/** How many of a group's members are so. */
interface MemberCounts {
  bound: number;
  running: number;
  succeeded: number;
  failed: number;
}

interface Gang {
  readonly group: string;
  /** Of the PodGroup; undefined while there is none. */
  uid: string | undefined;
  minMember: number | undefined;
  /** Pod key -> the pod, as last seen */
  readonly members: Map<string, ObservedPod>;
  /** Of `members`, kept along: a group of thousands changes with each of them. */
  readonly counts: MemberCounts;
  state: GangState;
  /** The stretch that is going on; set exactly while the state is partial. */
  partial: OpenStart | undefined;
  wholeAtMs: number | undefined;
  finishedAtMs: number | undefined;
}

interface OpenStart {
  readonly fromMs: number;
  bound: number;
  minMember: number;
}

/**
 * Judges from what a watch showed, and nothing else, whether groups started whole. Fed with changes in the order of their times;
 * all times are milliseconds on one clock.
 */
export class GangHistory {
  /** Group key -> what is known of it, whether its PodGroup or a member was seen first */
  readonly #gangs = new Map<string, Gang>();
  /** Pod key -> the pod, as last seen */
  readonly #pods = new Map<string, ObservedPod>();
  /** Those that took longer than the grace. */
  readonly #ended: PartialStart[] = [];
  #lastMoveMs = -Infinity;

  podSeen(atMs: number, pod: ObservedPod): void {
    const previous = this.#pods.get(pod.key);
    const isSame = previous?.uid === pod.uid;
    if (previous !== undefined && (!isSame || previous.group !== pod.group)) this.podGone(atMs, pod.key);
    const hasStarted = pod.phase === 'Running' && !(isSame && previous?.phase === 'Running');
    const hasFinished = isFinished(pod) && !(isSame && previous !== undefined && isFinished(previous));
    if (hasStarted || hasFinished) this.#lastMoveMs = atMs;
    this.#pods.set(pod.key, pod);
    if (pod.group === undefined) return;
    const gang = this.#gangOf(pod.group);
    setMember(gang, pod.key, pod);
    this.#judge(gang, atMs);
  }

  podGone(atMs: number, key: string): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    this.#pods.delete(key);
    if (pod.group === undefined) return;
    const gang = this.#gangOf(pod.group);
    setMember(gang, key, undefined);
    this.#judge(gang, atMs);
    this.#forgetIfGone(gang);
  }

  groupSeen(atMs: number, { key, uid, minMember }: ObservedGroup): void {
    const gang = this.#gangOf(key);
    if (gang.uid !== undefined && gang.uid !== uid) this.#beginAnew(gang, atMs);
    gang.uid = uid;
    gang.minMember = minMember;
    this.#judge(gang, atMs);
  }

  groupGone(atMs: number, key: string): void {
    const gang = this.#gangs.get(key);
    if (gang === undefined) return;
    gang.uid = undefined;
    gang.minMember = undefined;
    this.#beginAnew(gang, atMs);
    this.#forgetIfGone(gang);
  }

  /** Every group of which a member or the PodGroup is there, in the order of their appearance. */
  groups(): readonly GangRecord[] {
    return [...this.#gangs.values()].map(recordOf);
  }

  group(key: string): GangRecord | undefined {
    const gang = this.#gangs.get(key);
    return gang && recordOf(gang);
  }

  /** The stretches that count when the history ends now: longer than the grace, or still going on. In order of time. */
  partialStarts(): readonly PartialStart[] {
    return [...this.#ended, ...this.openStarts()].sort((a, b) => a.fromMs - b.fromMs);
  }

  deadlock(nowMs: number): Deadlock | undefined {
    const open = this.openStarts();
    const second = open[1];
    if (second === undefined) return undefined;
    const sinceMs = Math.max(second.fromMs, this.#lastMoveMs);
    const atMs = sinceMs + deadlockAfterMs;
    return nowMs < atMs ? undefined : { groups: open.map(({ group }) => group), sinceMs, atMs };
  }

  /** The stretches that go on, the oldest first. */
  openStarts(): PartialStart[] {
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
        state: 'empty',
        partial: undefined,
        wholeAtMs: undefined,
        finishedAtMs: undefined,
      };
      this.#gangs.set(group, gang);
    }
    return gang;
  }

  /** What it was before is said of another group of its name. */
  #beginAnew(gang: Gang, atMs: number): void {
    gang.state = 'empty';
    gang.wholeAtMs = undefined;
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
    // Most groups are partial for a moment, which does not count. A watch may show Bindings late and apart: the API server's times decide.
    const tookMs = (gang.state === 'whole' ? boundWithinMs(gang.members.values()) : undefined) ?? atMs - partial.fromMs;
    if (tookMs > partialGraceMs) this.#ended.push({ group, toMs: atMs, ...partial });
  }

  #judge(gang: Gang, atMs: number): void {
    const { bound, succeeded, failed } = gang.counts;
    const finished = succeeded + failed;
    gang.state = stateOf(gang, bound);
    // Others wait where all had finished: it is to run again.
    if (gang.state === 'empty' && gang.finishedAtMs !== undefined && finished < gang.members.size) {
      this.#beginAnew(gang, atMs);
    }
    if (gang.state === 'partial') {
      const minMember = gang.minMember!;
      gang.partial ??= { fromMs: atMs, bound, minMember };
      gang.partial.bound = Math.max(gang.partial.bound, bound);
      gang.partial.minMember = minMember;
    } else this.#endPartial(gang, atMs);
    if (gang.state !== 'whole') return;
    gang.wholeAtMs ??= atMs;
    if (gang.members.size < gang.minMember!) return; // finished members that are deleted leave the group finished
    if (finished < gang.members.size) gang.finishedAtMs = undefined;
    else gang.finishedAtMs ??= atMs;
  }
}

/** As long as minMember is not known, a group with bound members is not called partial: nobody has said what it needs. */
function stateOf(gang: Gang, bound: number): GangState {
  if (bound === 0) return 'empty';
  if (gang.state === 'whole') return 'whole';
  if (gang.minMember === undefined) return 'empty';
  return bound >= gang.minMember ? 'whole' : 'partial';
}

/** From the first Binding to the last by the API server's times; undefined where they are not known. */
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

function recordOf({ group, minMember, state, members, counts, wholeAtMs, finishedAtMs }: Gang): GangRecord {
  return { group, minMember, state, members: members.size, ...counts, wholeAtMs, finishedAtMs };
}
