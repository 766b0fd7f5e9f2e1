import type { Clock } from '../../base/clock.ts';
import { DueTimes } from '../../base/due-times.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { GroupRecord, GroupRecords, PartialPeriod } from './group-records.ts';
import type { RepairOutcome } from '../metrics/gang-metrics.ts';
import type { Profiles } from '../profiles.ts';

/** Shorter periods do not count: the plan is still being bound. */
const graceMs = 1_000;

/**
 * Tracks partially bound gangs, which a correct scheduler leaves only for moments. The tracker reads the API's state, not the scheduler's
 * plans, so it also sees plans that hang. It counts only gangs with members of this scheduler.
 */
export class PartiallyBoundGangs {
  readonly #cluster: Pick<Cluster, 'gang' | 'gangs'>;
  readonly #profiles: Pick<Profiles, 'decidesGangs'>;
  readonly #clock: Pick<Clock, 'now' | 'monotonic' | 'setTimer'>;
  /** Gangs for which the trust in what they looked like at the start ends. */
  readonly #trusted: DueTimes<Gang>;
  readonly #records: GroupRecords;
  readonly #repairs: Record<RepairOutcome, number> = { completed: 0, lost: 0 };
  /** Total length of ended periods. */
  #endedMs = 0;

  constructor(options: {
    readonly cluster: Pick<Cluster, 'gang' | 'gangs'>;
    readonly profiles: Pick<Profiles, 'decidesGangs'>;
    readonly records: GroupRecords;
    readonly clock: Pick<Clock, 'now' | 'monotonic' | 'setTimer'>;
    /** Called when a group that another process seems to have left partially bound no longer comes first for that. */
    readonly trustEnded: (key: string) => void;
  }) {
    this.#cluster = options.cluster;
    this.#profiles = options.profiles;
    this.#records = options.records;
    this.#clock = options.clock;
    this.#trusted = new DueTimes(options.clock, (gang) => {
      gang.distrustListed();
      options.trustEnded(gang.key);
    });
  }

  /**
   * Records the gangs that are partially bound now; `reconcile` must then follow every change. A gang that another process left partially
   * bound counts from its first binding, according to the API, because no process tracked it in between. It comes first only for its grace
   * period, because any user could have written the annotations that show who bound its members.
   */
  begin(): void {
    const now = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    for (const gang of this.#cluster.gangs()) {
      if (gang.comesFirst) this.#trusted.set(gang, monotonic + gang.spec!.repairGraceMs, undefined);
      if (!isPartiallyBound(gang) || !this.#isOurs(gang)) continue;
      const lastingMs = Math.max(0, now - firstBoundAt(gang, now));
      this.#records.of(gang.key).period = { since: monotonic - lastingMs };
    }
  }

  /** The group or one of its members has changed. */
  reconcile(key: string): void {
    const gang = this.#cluster.gang(key);
    const record = this.#records.get(key);
    if (record?.isUnderRepair === true) this.#reconcileRepair(record, gang);
    const period = record?.period;
    const isPartial = gang !== undefined && isPartiallyBound(gang);
    if (period === undefined) {
      if (isPartial && this.#isOurs(gang)) this.#records.of(key).period = { since: this.#clock.monotonic() };
      return;
    }
    if (isPartial) return;
    record!.period = undefined;
    this.#endedMs += counted(this.#clock.monotonic() - period.since);
  }

  /** Yields the gangs that are partially bound now. */
  *periods(): Iterable<PartialPeriod & { readonly key: string }> {
    for (const [key, { period }] of this.#records.all()) if (period !== undefined) yield { ...period, key };
  }

  /** Returns undefined if the group is not partially bound now. */
  periodOf(key: string): PartialPeriod | undefined {
    return this.#records.get(key)?.period;
  }

  /** Ends all periods. No calls of `reconcile` follow. */
  stop(): void {
    this.#endedMs = this.seconds * 1000;
    for (const [, record] of this.#records.all()) record.period = undefined;
    this.#trusted.stop();
  }

  /** A member could not be bound while other members are bound. */
  repairBegins(key: string): void {
    this.#records.of(key).isUnderRepair = true;
  }

  /** Number of gangs that have been partially bound for longer than it takes to bind a plan. */
  get count(): number {
    const now = this.#clock.monotonic();
    let count = 0;
    for (const { since } of this.periods()) if (now - since > graceMs) count++;
    return count;
  }

  /** Total over all gangs, in seconds, each from the moment when it became partially bound. Never decreases. */
  get seconds(): number {
    const now = this.#clock.monotonic();
    let ms = this.#endedMs;
    for (const { since } of this.periods()) ms += counted(now - since);
    return ms / 1000;
  }

  /** outcome -> number of ended repairs */
  get repairs(): Readonly<Record<RepairOutcome, number>> {
    return this.#repairs;
  }

  #reconcileRepair(record: GroupRecord, gang: GangView | undefined): void {
    const outcome = outcomeOf(gang);
    if (outcome === undefined) return;
    record.isUnderRepair = undefined;
    this.#repairs[outcome]++;
  }

  #isOurs(gang: GangView): boolean {
    for (const { schedulerName } of gang.members.values()) if (this.#profiles.decidesGangs(schedulerName)) return true;
    return false;
  }
}

function isPartiallyBound(gang: GangView): boolean {
  const bound = gang.count('bound');
  const onNodes = bound + gang.count('stranded');
  return gang.spec !== undefined && !gang.started && onNodes > 0 && bound < gang.spec.minMember;
}

/** Returns milliseconds since the epoch; `fallback` if no member has the time. */
function firstBoundAt(gang: GangView, fallback: number): number {
  let first = fallback;
  for (const pod of gang.members.values()) {
    const state = gang.stateOf(pod.uid);
    if (state === 'bound' || state === 'stranded') first = Math.min(first, pod.podScheduled?.since ?? fallback);
  }
  return first;
}

/** Returns undefined while the gang has not started and members are bound or being bound. */
function outcomeOf(gang: GangView | undefined): RepairOutcome | undefined {
  if (gang?.started === true) return 'completed';
  const isOngoing =
    gang?.spec !== undefined && gang.count('bound') + gang.count('stranded') + gang.count('planned') > 0;
  return isOngoing ? undefined : 'lost';
}

function counted(ms: number): number {
  return ms > graceMs ? ms : 0;
}
