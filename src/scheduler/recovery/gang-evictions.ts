import type { Pod } from '../../api/pod.ts';
import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import { DueTimes } from '../../base/due-times.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { ExtenderResults } from '../extenders/extenders.ts';
import type { Intake } from '../intake/intake.ts';
import { groupReleased, groupStays, released } from '../verdicts/events.ts';
import { evictMember } from './evict-member.ts';
import type { EvictionOutcome } from './evict-member.ts';
import type { GroupRecords, ReleaseHistory } from './group-records.ts';
import type { PartiallyBoundGangs } from './partially-bound-gangs.ts';
import type { EventSink, PodEvictor } from '../ports.ts';
import type { GangMetrics } from '../metrics/gang-metrics.ts';
import { checkCompletion, hasTerminatingMembers, terminationMs } from './completion-check.ts';
import type { CompletionCheckParts } from './completion-check.ts';
import { countEverBound, hasBoundMembers, isBoundOrStranded } from './bound-members.ts';
import { sortKeyOf } from '../sort-key.ts';

export interface GangEvictionsOptions extends CompletionCheckParts {
  readonly intake: Intake;
  readonly partial: Pick<PartiallyBoundGangs, 'periods' | 'periodOf'>;
  readonly records: GroupRecords;
  readonly evictor: Pick<PodEvictor, 'release'>;
  readonly events: EventSink;
  readonly metrics: Pick<GangMetrics, 'released'>;
  /** Once aborted, no pod is evicted any more. */
  readonly signal: AbortSignal;
}

/** A gang that has been partially bound for longer than its grace period. */
interface Overdue {
  readonly gang: Gang;
  /** Clock.monotonic() when its grace period ended. */
  readonly since: number;
}

/**
 * What to do about an overdue gang:
 * - `open`: nothing yet; a running operation has to end first;
 * - `wait`: the gang can be completed, now or with the capacity of pods that are terminating or being bound;
 * - `stay`: the gang must not be released, for this reason;
 * - `release`: evict these members.
 */
type Decision =
  | { readonly kind: 'open' | 'wait' }
  | { readonly kind: 'stay'; readonly why: string }
  | { readonly kind: 'release'; readonly members: readonly Pod[] };

interface EvictionResult {
  readonly pod: Pod;
  readonly outcome: EvictionOutcome;
}

/** Pause between two rounds of checks of overdue gangs, and between two checks within a round. Each check is a dry run. */
const roundMs = 10_000;
const pauseMs = 50;
/** Delay of the next check after an overdue gang has changed. */
const changedMs = 1_000;
/** How long a gang is on hold after a release, so that a gang that always fails in the same way is not released all the time. */
const holdPolicy: BackoffPolicy = { initialMs: 10_000, maxMs: 10 * 60_000 };
/** Key of the next check among the due times. No group key is empty. */
const nextCheck = '';

/**
 * Releases partially bound gangs that never started and that the scheduler cannot complete within their grace period, according to their
 * repairPolicy. A release evicts the bound members that a controller recreates. The scheduler releases one gang at a time. The gang that
 * QueueSort puts last goes first, because its capacity may complete the others.
 *
 * All decisions follow from the API's state, so the next process continues where this one ended. The members' PodScheduled conditions show
 * since when a gang is partially bound. Terminating members show that the scheduler is releasing it.
 */
export class GangEvictions {
  readonly #options: GangEvictionsOptions;
  readonly #records: GroupRecords;
  /** Counts the rounds of checks. */
  #round = 1;
  /** The next check, and groups whose hold ends. */
  readonly #due: DueTimes<string>;
  /**
   * key of a group that this process releases, or whose members were terminating when it started -> Clock.monotonic() until which its
   * terminating members delay the release of other groups
   */
  readonly #releasing = new Map<string, number>();

  constructor(options: GangEvictionsOptions) {
    this.#options = options;
    this.#records = options.records;
    this.#due = new DueTimes(options.intake.clock, (key) => {
      if (key === nextCheck) this.#checkNext();
      else this.#endHold(key);
    });
    options.signal.addEventListener('abort', () => this.#due.stop(), { once: true });
  }

  /** Starts the checks. The cache has synced, and partially bound gangs are known. */
  begin(): void {
    const { cluster, clock } = this.#options.intake;
    for (const gang of cluster.gangs()) {
      if (hasBoundMembers(gang)) this.#records.of(gang.key).boundAtStart = countEverBound(gang);
      if (hasTerminatingMembers(gang, cluster))
        this.#releasing.set(gang.key, clock.monotonic() + gang.spec!.repairGraceMs + terminationMs);
    }
    this.#checkIn(0);
  }

  /** The group or one of its members has changed, and PartiallyBoundGangs has seen the change. */
  reconcile(key: string): void {
    const { intake, partial } = this.#options;
    const gang = intake.cluster.gang(key);
    const record = this.#records.get(key);
    if (record === undefined) return;
    this.#settle(key, gang);
    if (gang === undefined || !hasBoundMembers(gang)) record.boundAtStart = undefined;
    if (gang?.spec === undefined || gang.started) record.history = undefined;
    const period = partial.periodOf(key);
    if (period === undefined) record.staysBecause = record.checkedIn = record.extenderResults = undefined;
    else if (gang?.spec !== undefined)
      this.#checkAt(Math.max(intake.clock.monotonic() + changedMs, period.since + gang.spec.repairGraceMs));
    if (gang !== undefined && this.isHeld(key)) this.#reportHeld(gang);
  }

  /** The extenders have responded in an attempt of the group. */
  extendersResponded(key: string, results: ExtenderResults): void {
    if (this.#options.partial.periodOf(key) !== undefined) this.#records.of(key).extenderResults = results;
  }

  /** Returns true while the group is being released, and while it is on hold after a release. */
  isHeld(key: string): boolean {
    if (this.#records.get(key)?.evicting !== undefined) return true;
    const history = this.#historyOf(this.#options.intake.cluster.gang(key));
    return history !== undefined && history.heldUntil > this.#options.intake.clock.monotonic();
  }

  /** Ignores the history of an earlier group with the same name. */
  #historyOf(gang: GangView | undefined): ReleaseHistory | undefined {
    const history = gang && this.#records.get(gang.key)?.history;
    return history?.groupUid === gang?.spec?.uid ? history : undefined;
  }

  /** Returns a sentence for the verdict of a gang that stays bound although the scheduler cannot complete it. */
  noteOf({ key, spec, counted }: GangView): string | undefined {
    const why = this.#records.get(key)?.staysBecause;
    const note = `${counted} of ${spec?.minMember} required members stay bound: ${why}.`;
    return why === undefined ? undefined : note;
  }

  /** True while the eviction of members of any group is requested. */
  get #isEvicting(): boolean {
    for (const [, { evicting }] of this.#records.all()) if (evicting !== undefined) return true;
    return false;
  }

  /**
   * Returns whether another group is being released, whose capacity is not free yet. Members that a user deletes do not count, nor those
   * that take too long to terminate: otherwise a user could keep groups of other namespaces from being released.
   */
  #isReleasingOther(gang: Gang): boolean {
    const { cluster, clock } = this.#options.intake;
    for (const [key, until] of this.#releasing) {
      const other = cluster.gang(key);
      if (until <= clock.monotonic()) this.#releasing.delete(key);
      else if (other !== undefined && other !== gang && hasTerminatingMembers(other, cluster)) return true;
    }
    return false;
  }

  #checkIn(ms: number): void {
    this.#checkAt(this.#options.intake.clock.monotonic() + ms);
  }

  /** Plans the next check for this time, as Clock.monotonic(), unless it is due earlier. */
  #checkAt(at: number): void {
    if (at < this.#due.dueAt(nextCheck)) this.#due.set(nextCheck, at, undefined);
  }

  /** Checks one group. */
  #checkNext(): void {
    if (this.#options.intake.cluster.isPlanning) {
      this.#checkIn(pauseMs);
      return;
    }
    const due = this.#overdue();
    const now = this.#options.intake.clock.monotonic();
    const next = due.find(({ gang }) => {
      const isChecked = this.#records.get(gang.key)?.checkedIn === this.#round;
      return !isChecked && (this.#historyOf(gang)?.notBefore ?? 0) <= now;
    });
    if (next === undefined) {
      this.#round++;
      if (due.length > 0) this.#checkIn(roundMs);
      return;
    }
    this.#records.of(next.gang.key).checkedIn = this.#round;
    this.#act(next);
    this.#checkIn(pauseMs);
  }

  /** Returns the gangs whose grace has ended, in reverse QueueSort order; they come first no more. Plans a check of the others. */
  #overdue(): Overdue[] {
    const { intake, partial } = this.#options;
    const { cluster, clock, profiles, queue, router } = intake;
    const now = clock.monotonic();
    const due: Overdue[] = [];
    for (const { key, since } of partial.periods()) {
      const gang = cluster.gang(key);
      if (gang?.spec === undefined) continue;
      const end = since + gang.spec.repairGraceMs;
      if (end <= now) {
        due.push({ gang, since: end });
        if (gang.endRank()) router.groupChanged(key, 'GraceEnded', clock.now());
      } else this.#checkAt(end);
    }
    const keyOf = ({ gang }: Overdue): ReturnType<typeof sortKeyOf> => {
      const queued = queue.get(`gang/${gang.key}`);
      const key = sortKeyOf({ kind: 'gang', gang }, queued?.readySince ?? gang.spec!.creationTimestamp);
      return gang.pending.size > 0 ? key : { ...key, priority: lowestPriority(gang) };
    };
    const keys = new Map(due.map((each) => [each, keyOf(each)]));
    return due.sort((a, b) => profiles.compare(keys.get(b)!, keys.get(a)!));
  }

  #act(overdue: Overdue): void {
    const { gang } = overdue;
    const decision = this.#decide(overdue);
    switch (decision.kind) {
      case 'open':
        return;
      case 'wait':
        this.#stayNoMore(gang);
        return;
      case 'stay':
        this.#stay(gang, decision.why);
        return;
      case 'release':
        this.#round++;
        this.#release(gang, decision.members);
        return;
    }
  }

  #decide({ gang, since }: Overdue): Decision {
    const { spec } = gang;
    const { profiles } = this.#options.intake;
    if (!spec!.releases) return { kind: 'stay', why: 'its repairPolicy is KeepTrying' };
    if (this.#isEvicting || this.isHeld(gang.key) || gang.count('planned') > 0) return { kind: 'open' };
    const { boundAtStart, extenderResults } = this.#records.of(gang.key);
    if (boundAtStart !== undefined && !spec!.confirmsStart) {
      return {
        kind: 'stay',
        why: 'it may have started before this scheduler did, and no controller maintains the condition that would show it',
      };
    }
    if (boundAtStart !== undefined && boundAtStart >= spec!.minMember) {
      const why = 'all required members were bound before this scheduler started, so it may have started';
      return { kind: 'stay', why };
    }
    if (this.#isReleasingOther(gang)) return { kind: 'open' };
    const outcome = checkCompletion(gang, since, extenderResults, this.#options);
    if (outcome === 'unknown')
      return { kind: 'stay', why: 'a plugin failed while checking whether the other members fit' };
    if (outcome !== 'none') return { kind: 'wait' };
    const bound = [...gang.members.values()].filter(({ uid }) => isBoundOrStranded(gang.stateOf(uid)));
    const ours = bound.filter(({ schedulerName }) => profiles.isOurs(schedulerName));
    const members = ours.filter(({ controller }) => controller !== undefined);
    if (members.length > 0) return { kind: 'release', members };
    const [example] = ours;
    if (example === undefined) return { kind: 'stay', why: 'another scheduler bound them' };
    return { kind: 'stay', why: `no controller would recreate ${example.name}` };
  }

  #stay(gang: Gang, why: string): void {
    const record = this.#records.of(gang.key);
    if (record.staysBecause === why) return;
    const { events, logger } = this.#options;
    record.staysBecause = why;
    logger.warn('a partially bound group keeps its nodes', { podGroup: gang.key, why });
    const member = memberOf(gang);
    const event = member && groupStays(gang, member, this.noteOf(gang)!);
    if (event !== undefined) events.record(event);
    this.#requestVerdict(gang);
  }

  #stayNoMore(gang: Gang): void {
    const record = this.#records.of(gang.key);
    if (record.staysBecause === undefined) return;
    record.staysBecause = undefined;
    this.#requestVerdict(gang);
  }

  /** Requeues the gang, so that its next verdict, which follows soon, shows whether it stays bound. */
  #requestVerdict({ key }: Gang): void {
    const { clock, router } = this.#options.intake;
    router.groupChanged(key, 'GroupStays', clock.now(), true);
  }

  #release(gang: Gang, members: readonly Pod[]): void {
    const { intake, logger } = this.#options;
    const { clock, router, timeline } = intake;
    const { uid, minMember } = gang.spec!;
    const { times = 0, tries: before = 0 } = this.#historyOf(gang) ?? {};
    const tries = before + 1;
    const end = clock.monotonic() + backoffDelay(holdPolicy, tries);
    const { key } = gang;
    const record = this.#records.of(key);
    record.history = { groupUid: uid, times, tries, heldUntil: end, notBefore: end };
    record.evicting = new Set(members.map((pod) => pod.uid));
    this.#releasing.set(key, clock.monotonic() + terminationMs);
    const { counted } = gang;
    logger.warn('releasing a group that cannot be completed', { podGroup: key, counted, minMember, tries });
    router.groupChanged(key, 'GroupReleased', clock.now());
    timeline.released(gang);
    this.#due.set(key, end, undefined);
    void this.#evictAll(gang.spec!, members);
  }

  async #evictAll(spec: GangSpec, members: readonly Pod[]): Promise<void> {
    const { intake, evictor, logger, signal } = this.#options;
    const parts = { cluster: intake.cluster, evictor, logger, signal };
    const results = await Promise.all(
      members.map(async (pod) => ({ pod, outcome: await evictMember(spec, pod, parts) })),
    );
    intake.gate.run(() => this.#onEvicted(spec, results));
  }

  #onEvicted(spec: GangSpec, results: readonly EvictionResult[]): void {
    const { events, metrics, signal } = this.#options;
    if (signal.aborted) return;
    const evicted = results.filter(({ outcome }) => outcome === 'going').map(({ pod }) => pod);
    const record = this.#records.get(spec.key);
    const history = record?.history;
    if (evicted.length > 0) {
      metrics.released();
      events.record(groupReleased(spec, evicted));
      for (const pod of evicted) events.record(released(pod, spec.key));
      if (history !== undefined) record!.history = { ...history, times: history.times + 1 };
    } else if (history !== undefined) {
      record!.history = { ...history, heldUntil: 0 };
    }
    for (const { pod, outcome } of results) {
      if (outcome === 'withdrawn') this.#forget(spec.key, pod.uid);
      else if (outcome !== 'going') this.#onEvictionFailed(spec.key, pod, outcome.failure);
    }
    this.reconcile(spec.key);
  }

  /** A later round repeats the request. */
  #onEvictionFailed(key: string, pod: Pod, why: string): void {
    const gang = this.#options.intake.cluster.gang(key);
    this.#forget(key, pod.uid);
    if (gang?.members.has(pod.uid) === true) this.#stay(gang, why);
    this.#checkIn(roundMs);
  }

  /** Stops waiting for members that the watch shows as deleted or terminating. */
  #settle(key: string, gang: Gang | undefined): void {
    for (const uid of this.#records.get(key)?.evicting ?? [])
      if (!isBoundOrStranded(gang?.stateOf(uid))) this.#forget(key, uid);
  }

  #forget(key: string, uid: string): void {
    const record = this.#records.get(key);
    if (record?.evicting === undefined) return;
    record.evicting.delete(uid);
    if (record.evicting.size > 0) return;
    record.evicting = undefined;
    this.#endHold(key);
  }

  #endHold(key: string): void {
    if (this.isHeld(key)) return;
    const { router, clock } = this.#options.intake;
    router.groupChanged(key, 'HoldEnded', clock.now());
  }

  #reportHeld(gang: Gang): void {
    const history = this.#historyOf(gang);
    if (history === undefined || history.times === 0 || gang.pending.size === 0) return;
    const seconds = backoffDelay(holdPolicy, history.tries) / 1000;
    const times = history.times === 1 ? 'once' : `${history.times} times`;
    this.#options.intake.verdicts.report(
      [...gang.pending.values()],
      {
        reason: 'Unschedulable',
        message:
          `PodGroup ${gang.key} cannot start: it was released ${times} because it could not be completed. ` +
          `The scheduler retries it ${seconds} s after the release.`,
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

/** Returns the member whose schedulerName reports on the group: an unbound one if there is any. */
function memberOf(gang: GangView): Pod | undefined {
  const [first] = gang.pending.values();
  return first ?? gang.members.values().next().value;
}
