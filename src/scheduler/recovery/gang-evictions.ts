import type { Pod } from '../../api/pod.ts';
import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Timer } from '../../base/clock.ts';
import type { Gang, GangSpec, GangView } from '../../cluster/gang.ts';
import type { Intake } from '../intake/intake.ts';
import { groupReleased, groupStays, released } from '../verdicts/events.ts';
import type { PartiallyBoundGangs } from './partially-bound-gangs.ts';
import type { EventSink, PodEvictor } from '../ports.ts';
import type { GangMetrics } from '../metrics/gang-metrics.ts';
import { groupUnderWay, checkCompletion } from './completion-check.ts';
import type { CompletionCheckParts } from './completion-check.ts';
import { hasAnybodyLeft, isOnNode, onceOnNodes } from './members-on-nodes.ts';
import { sortKeyOf } from '../sort-key.ts';

export interface GangEvictionsOptions extends CompletionCheckParts {
  readonly intake: Intake;
  readonly partial: Pick<PartiallyBoundGangs, 'periods' | 'periodOf'>;
  readonly evictor: Pick<PodEvictor, 'release'>;
  readonly events: EventSink;
  readonly metrics: Pick<GangMetrics, 'released'>;
  /** Once aborted nobody is evicted any more. */
  readonly signal: AbortSignal;
}

/** A group that has been on nodes in part for longer than it may be. */
interface Overdue {
  readonly gang: Gang;
  /** Clock.monotonic() at the end of its grace. */
  readonly since: number;
}

/**
 * What can be said of an overdue group:
 * - `open`: how something ends that is under way has to be seen first;
 * - `wait`: it can be completed now, or when those are gone that are on their way out;
 * - `stay`: it may not be released, for this reason;
 * - `release`: these members can go.
 */
type Judgement =
  | { readonly kind: 'open' | 'wait' }
  | { readonly kind: 'stay'; readonly why: string }
  | { readonly kind: 'release'; readonly members: readonly Pod[] };

/** A member that was asked to go, and why it stays; undefined: it goes. */
interface Asked {
  readonly pod: Pod;
  readonly stays: string | undefined;
}

/** What this process has done to a group. */
interface Past {
  readonly groupUid: string;
  /** How often it was released. */
  readonly times: number;
  /** How often its members were asked to go, also in vain. */
  readonly tries: number;
  /** Clock.monotonic() until which it is left alone; 0 when nobody went. */
  readonly heldUntil: number;
  /** Clock.monotonic() before which nobody of it is asked again. */
  readonly notBefore: number;
}

/** Between two rounds of looks at groups that are overdue, and between two looks of a round: each is a trial. */
const roundMs = 10_000;
const pauseMs = 50;
/** After a change of one of them. */
const changedMs = 1_000;
/** After a release a group is left alone for so long: one that is always torn in the same way must not be torn all the time. */
const holdPolicy: BackoffPolicy = { initialMs: 10_000, maxMs: 10 * 60_000 };

/**
 * What becomes of groups that never started, are on nodes in part and cannot be completed within their grace, as their
 * repairPolicy says. A group is released by evicting those of its bound members that a controller makes anew; one group at a time,
 * the one that QueueSort puts last first, because with its room the others may be completed. All of it follows from what the API
 * shows, so the next process goes on where this one ended: since when a group is in part its members' PodScheduled conditions say, and
 * that it is being released those that are being deleted.
 */
export class GangEvictions {
  readonly #options: GangEvictionsOptions;
  /** group key -> uids of members that are asked to go and not seen to be going yet */
  readonly #asked = new Map<string, Set<string>>();
  /** group key -> its releases by this process, while it has not started since */
  readonly #past = new Map<string, Past>();
  /** group key -> why it stays although it is overdue, as was last said */
  readonly #stays = new Map<string, string>();
  /**
   * group key -> how many members had been on nodes when this process found them, while any of it is left: what the group was before, this process has
   * not seen
   */
  readonly #found = new Map<string, number>();
  /** Keys of groups that had their turn in this round. */
  readonly #judged = new Set<string>();
  #timer: Timer | undefined;
  /** When it rings, as Clock.monotonic(). */
  #timerAt = Infinity;
  /** The holds that end by themselves. */
  readonly #holds = new Set<Timer>();

  constructor(options: GangEvictionsOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#stop(), { once: true });
  }

  /** The picture is complete, and what is on nodes in part is known. */
  begin(): void {
    for (const gang of this.#options.intake.cluster.gangs())
      if (hasAnybodyLeft(gang)) this.#found.set(gang.key, onceOnNodes(gang));
    this.#setTimer(0);
  }

  /** The group or a member of it has changed, and its spell is known. */
  look(key: string): void {
    const { intake, partial } = this.#options;
    const { cluster } = intake;
    const gang = cluster.gang(key);
    this.#settle(key, gang);
    if (gang === undefined || !hasAnybodyLeft(gang)) this.#found.delete(key);
    if (gang?.spec === undefined || gang.started) this.#past.delete(key);
    if (partial.periodOf(key) === undefined) this.#stays.delete(key);
    else this.#setTimer(Math.max(changedMs, this.#dueIn(key, gang)));
    if (gang !== undefined && this.isHeld(key)) this.#reportHeld(gang);
  }

  /** The group is being released, or was so lately that it is left alone. */
  isHeld(key: string): boolean {
    if (this.#asked.has(key)) return true;
    const past = this.#pastOf(this.#options.intake.cluster.gang(key));
    return past !== undefined && past.heldUntil > this.#options.intake.clock.monotonic();
  }

  /** Not that of another group of the same name. */
  #pastOf(gang: GangView | undefined): Past | undefined {
    const past = gang && this.#past.get(gang.key);
    return past?.groupUid === gang?.spec?.uid ? past : undefined;
  }

  /** A sentence for the verdict of a group that keeps its nodes although it cannot be completed. */
  noteOf({ key, spec, counted }: GangView): string | undefined {
    const why = this.#stays.get(key);
    const note = `${counted} of the ${spec?.minMember} members that it needs keep their nodes: ${why}.`;
    return why === undefined ? undefined : note;
  }

  #stop(): void {
    this.#timer?.cancel();
    for (const timer of this.#holds) timer.cancel();
  }

  #dueIn(key: string, gang: GangView | undefined): number {
    const period = this.#options.partial.periodOf(key);
    if (period === undefined || gang?.spec === undefined) return Infinity;
    return period.since + gang.spec.repairGraceMs - this.#options.intake.clock.monotonic();
  }

  #setTimer(ms: number): void {
    const { intake, signal } = this.#options;
    const { clock } = intake;
    const at = clock.monotonic() + ms;
    if (ms === Infinity || at >= this.#timerAt || signal.aborted) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = clock.setTimer(Math.max(0, ms), () => {
      this.#timerAt = Infinity;
      this.#turn();
    });
  }

  /** Looks at one group. */
  #turn(): void {
    if (this.#options.intake.cluster.isPlanning) {
      this.#setTimer(pauseMs);
      return;
    }
    const due = this.#overdue();
    const now = this.#options.intake.clock.monotonic();
    const next = due.find(({ gang }) => !this.#judged.has(gang.key) && (this.#pastOf(gang)?.notBefore ?? 0) <= now);
    if (next === undefined) {
      this.#judged.clear();
      if (due.length > 0) this.#setTimer(roundMs);
      return;
    }
    this.#judged.add(next.gang.key);
    this.#act(next);
    this.#setTimer(pauseMs);
  }

  /** Those whose grace has ended, the one that QueueSort puts last first; the timer is set for the others. */
  #overdue(): Overdue[] {
    const { intake, partial } = this.#options;
    const { cluster, clock, profiles, queue } = intake;
    const now = clock.monotonic();
    const due: Overdue[] = [];
    for (const { key, since } of partial.periods()) {
      const gang = cluster.gang(key);
      if (gang?.spec === undefined) continue;
      const end = since + gang.spec.repairGraceMs;
      if (end <= now) due.push({ gang, since: end });
      else this.#setTimer(end - now);
    }
    const keyOf = ({ gang }: Overdue): ReturnType<typeof sortKeyOf> => {
      const queued = queue.get(`gang/${gang.key}`);
      const key = sortKeyOf({ kind: 'gang', gang }, queued?.readySince ?? gang.spec!.creationTimestamp);
      return gang.pending.size > 0 ? key : { ...key, priority: lowestPriority(gang) };
    };
    return due.sort((a, b) => profiles.compare(keyOf(b), keyOf(a)));
  }

  #act(overdue: Overdue): void {
    const { gang } = overdue;
    const judgement = this.#judge(overdue);
    switch (judgement.kind) {
      case 'open':
        return;
      case 'wait':
        if (this.#stays.delete(gang.key)) this.#sayAnew(gang);
        return;
      case 'stay':
        this.#stay(gang, judgement.why);
        return;
      case 'release':
        this.#judged.clear();
        this.#release(gang, judgement.members);
        return;
    }
  }

  #judge({ gang, since }: Overdue): Judgement {
    const { spec } = gang;
    const { profiles } = this.#options.intake;
    if (!spec!.releases) return { kind: 'stay', why: 'it keeps trying, as its repairPolicy says' };
    if (this.#asked.size > 0 || this.isHeld(gang.key) || gang.count('planned') > 0) return { kind: 'open' };
    const found = this.#found.get(gang.key);
    if (found !== undefined && !spec!.confirmsStart) {
      return {
        kind: 'stay',
        why: 'it may have started before this scheduler did, and nobody keeps its condition Started',
      };
    }
    if (found !== undefined && found >= spec!.minMember) {
      const why = 'as many members as it needs had been on nodes before this scheduler began, so it may have started';
      return { kind: 'stay', why };
    }
    const other = groupUnderWay(this.#options.intake.cluster);
    if (other !== undefined && other !== gang) return { kind: 'open' };
    const outcome = checkCompletion(gang, since, this.#options);
    if (outcome === 'unknown') return { kind: 'stay', why: 'a plugin failed when it was asked where the others fit' };
    if (outcome !== 'none') return { kind: 'wait' };
    const bound = [...gang.members.values()].filter(({ uid }) => isOnNode(gang.stateOf(uid)));
    const ours = bound.filter(({ schedulerName }) => profiles.isOurs(schedulerName));
    const members = ours.filter(({ isControlled }) => isControlled);
    if (members.length > 0) return { kind: 'release', members };
    const [kept] = ours;
    if (kept === undefined) return { kind: 'stay', why: 'another scheduler has bound them' };
    return { kind: 'stay', why: `no controller would make ${kept.name} again` };
  }

  #stay(gang: Gang, why: string): void {
    if (this.#stays.get(gang.key) === why) return;
    const { events, logger } = this.#options;
    this.#stays.set(gang.key, why);
    logger.warn('a group stays on nodes in part', { podGroup: gang.key, why });
    const member = memberOf(gang);
    const event = member && groupStays(gang, member, this.noteOf(gang)!);
    if (event !== undefined) events.record(event);
    this.#sayAnew(gang);
  }

  /** The next verdict says whether the group stays, and there is one soon. */
  #sayAnew({ key }: Gang): void {
    const { clock, router } = this.#options.intake;
    router.groupChanged(key, 'GroupStays', clock.now(), true);
  }

  #release(gang: Gang, members: readonly Pod[]): void {
    const { intake, logger } = this.#options;
    const { clock, router } = intake;
    const { uid, minMember } = gang.spec!;
    const { times = 0, tries: before = 0 } = this.#pastOf(gang) ?? {};
    const tries = before + 1;
    const holdMs = backoffDelay(holdPolicy, tries);
    const end = clock.monotonic() + holdMs;
    const { key } = gang;
    this.#past.set(key, { groupUid: uid, times, tries, heldUntil: end, notBefore: end });
    this.#asked.set(key, new Set(members.map((pod) => pod.uid)));
    const { counted } = gang;
    logger.warn('releasing a group that cannot be completed', { podGroup: key, counted, minMember, tries });
    router.groupChanged(key, 'GroupReleased', clock.now());
    const timer = clock.setTimer(holdMs, () => {
      this.#holds.delete(timer);
      const past = this.#past.get(key);
      // A timer may ring a moment before the clock says so, and nothing else would end the hold.
      if (past?.heldUntil === end) this.#past.set(key, { ...past, heldUntil: 0 });
      this.#endHold(key);
    });
    this.#holds.add(timer);
    void this.#evictAll(gang.spec!, members);
  }

  async #evictAll(spec: GangSpec, members: readonly Pod[]): Promise<void> {
    const asked = await Promise.all(members.map(async (pod) => ({ pod, stays: await this.#evict(pod) })));
    this.#options.intake.gate.run(() => this.#answered(spec, asked));
  }

  #answered(spec: GangSpec, asked: readonly Asked[]): void {
    const { events, metrics, signal } = this.#options;
    if (signal.aborted) return;
    const going = asked.filter(({ stays }) => stays === undefined).map(({ pod }) => pod);
    const past = this.#past.get(spec.key);
    if (going.length > 0) {
      metrics.released();
      events.record(groupReleased(spec, going));
      for (const pod of going) events.record(released(pod, spec.key));
      if (past !== undefined) this.#past.set(spec.key, { ...past, times: past.times + 1 });
    } else if (past !== undefined) {
      this.#past.set(spec.key, { ...past, heldUntil: 0 });
    }
    for (const { pod, stays } of asked) if (stays !== undefined) this.#notGoing(spec.key, pod, stays);
    this.look(spec.key);
  }

  /** Undefined: it goes; else why not. */
  async #evict(pod: Pod): Promise<string | undefined> {
    const { evictor, logger, signal } = this.#options;
    try {
      const outcome = await evictor.release(pod, signal);
      const why = `a disruption budget protects ${pod.name}`;
      return outcome === 'going' ? undefined : why;
    } catch (error) {
      if (!signal.aborted) logger.warn('could not release a member', { pod: pod.key, error });
      const why = `${pod.name} could not be evicted`;
      return why;
    }
  }

  /** It is asked again in a later round. */
  #notGoing(key: string, pod: Pod, why: string): void {
    const gang = this.#options.intake.cluster.gang(key);
    this.#forget(key, pod.uid);
    if (gang?.members.has(pod.uid) === true) this.#stay(gang, why);
    this.#setTimer(roundMs);
  }

  /** Those that are seen to be going, or gone, are not waited for any more. */
  #settle(key: string, gang: Gang | undefined): void {
    for (const uid of this.#asked.get(key) ?? []) if (!isOnNode(gang?.stateOf(uid))) this.#forget(key, uid);
  }

  #forget(key: string, uid: string): void {
    const asked = this.#asked.get(key);
    if (asked === undefined) return;
    asked.delete(uid);
    if (asked.size > 0) return;
    this.#asked.delete(key);
    this.#endHold(key);
  }

  #endHold(key: string): void {
    if (this.isHeld(key)) return;
    const { router, clock } = this.#options.intake;
    router.groupChanged(key, 'HoldEnded', clock.now());
  }

  #reportHeld(gang: Gang): void {
    const past = this.#pastOf(gang);
    if (past === undefined || past.times === 0 || gang.pending.size === 0) return;
    const seconds = backoffDelay(holdPolicy, past.tries) / 1000;
    const times = past.times === 1 ? 'once' : `${past.times} times`;
    this.#options.intake.verdicts.report(
      [...gang.pending.values()],
      {
        reason: 'Unschedulable',
        message:
          `PodGroup ${gang.key} cannot start: it was released ${times}, because it could not be completed, ` +
          `and is tried again ${seconds} s after that.`,
        waitsFor: 'unknown',
      },
      gang,
    );
  }
}

function lowestPriority(gang: GangView): number {
  let lowest = Infinity;
  for (const { priority } of gang.members.values()) lowest = Math.min(lowest, priority);
  return lowest;
}

/** One in whose scheduler's name something can be said of the group. */
function memberOf(gang: GangView): Pod | undefined {
  const [first] = gang.pending.values();
  return first ?? gang.members.values().next().value;
}
