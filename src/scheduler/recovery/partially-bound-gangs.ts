import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { RepairOutcome } from '../metrics/gang-metrics.ts';
import type { Profiles } from '../profiles.ts';

/** What is shorter is a plan that is being bound. */
const graceMs = 1_000;

/** A group that never started, since the API first showed some members on nodes, but fewer than its quorum. */
export interface PartialPeriod {
  /** Clock.monotonic() */
  readonly since: number;
}

/**
 * Keeps account of groups that are on nodes in part, which is what must not be: from what the API shows, not from what was
 * planned, so that a plan that hangs is seen as well as one that failed. Only groups that have members of ours count.
 */
export class PartiallyBoundGangs {
  readonly #cluster: Pick<Cluster, 'gang' | 'gangs'>;
  readonly #profiles: Pick<Profiles, 'decidesGangs'>;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  /** group key -> its spell */
  readonly #periods = new Map<string, PartialPeriod>();
  /** Keys of groups that are being repaired. */
  readonly #repairing = new Set<string>();
  readonly #repairs: Record<RepairOutcome, number> = { completed: 0, lost: 0 };
  /** Of spells that have ended. */
  #endedMs = 0;

  constructor(options: {
    readonly cluster: Pick<Cluster, 'gang' | 'gangs'>;
    readonly profiles: Pick<Profiles, 'decidesGangs'>;
    readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  }) {
    this.#cluster = options.cluster;
    this.#profiles = options.profiles;
    this.#clock = options.clock;
  }

  /**
   * From here on `look` is told of every change. What another process has left in part counts from when its first member was
   * bound, as the API says: nobody has kept account of it meanwhile.
   */
  begin(): void {
    const now = this.#clock.now();
    for (const gang of this.#cluster.gangs()) {
      if (!isOnNodesInPart(gang) || !this.#isOurs(gang)) continue;
      const lastingMs = Math.max(0, now - firstBoundAt(gang, now));
      this.#periods.set(gang.key, { since: this.#clock.monotonic() - lastingMs });
    }
  }

  /** The group or a member of it has changed. */
  look(key: string): void {
    const gang = this.#cluster.gang(key);
    if (this.#repairing.has(key)) this.#lookAtRepair(key, gang);
    const period = this.#periods.get(key);
    const isPartial = gang !== undefined && isOnNodesInPart(gang);
    if (period === undefined) {
      if (isPartial && this.#isOurs(gang)) this.#periods.set(key, { since: this.#clock.monotonic() });
      return;
    }
    if (isPartial) return;
    this.#periods.delete(key);
    this.#endedMs += counted(this.#clock.monotonic() - period.since);
  }

  /** Groups that are so now. */
  *periods(): Iterable<PartialPeriod & { readonly key: string }> {
    for (const [key, period] of this.#periods) yield { ...period, key };
  }

  /** Undefined: the group is not on nodes in part now. */
  periodOf(key: string): PartialPeriod | undefined {
    return this.#periods.get(key);
  }

  /** Nobody will tell it of changes any more. */
  stop(): void {
    this.#endedMs = this.seconds * 1000;
    this.#periods.clear();
    this.#repairing.clear();
  }

  /** A member could not be bound, and others are on nodes. */
  repairBegins(key: string): void {
    this.#repairing.add(key);
  }

  /** Groups that are so now, for longer than it takes to bind a plan. */
  get count(): number {
    const now = this.#clock.monotonic();
    let count = 0;
    for (const { since } of this.#periods.values()) if (now - since > graceMs) count++;
    return count;
  }

  /** Added up over groups, from their first moment on. Never goes back. */
  get seconds(): number {
    const now = this.#clock.monotonic();
    let ms = this.#endedMs;
    for (const { since } of this.#periods.values()) ms += counted(now - since);
    return ms / 1000;
  }

  /** outcome -> repairs that have ended so */
  get repairs(): Readonly<Record<RepairOutcome, number>> {
    return this.#repairs;
  }

  #lookAtRepair(key: string, gang: GangView | undefined): void {
    const outcome = outcomeOf(gang);
    if (outcome === undefined) return;
    this.#repairing.delete(key);
    this.#repairs[outcome]++;
  }

  #isOurs(gang: GangView): boolean {
    for (const { schedulerName } of gang.members.values()) if (this.#profiles.decidesGangs(schedulerName)) return true;
    return false;
  }
}

function isOnNodesInPart(gang: GangView): boolean {
  const bound = gang.count('bound');
  const onNodes = bound + gang.count('stranded');
  return gang.spec !== undefined && !gang.started && onNodes > 0 && bound < gang.spec.minMember;
}

/** Milliseconds since the epoch; `otherwise` where no member says. */
function firstBoundAt(gang: GangView, otherwise: number): number {
  let first = otherwise;
  for (const pod of gang.members.values()) {
    const state = gang.stateOf(pod.uid);
    if (state === 'bound' || state === 'stranded') first = Math.min(first, pod.podScheduled?.since ?? otherwise);
  }
  return first;
}

/** Undefined while some are on nodes, or are being bound, and the group has not started. */
function outcomeOf(gang: GangView | undefined): RepairOutcome | undefined {
  if (gang?.started === true) return 'completed';
  const isGoingOn =
    gang?.spec !== undefined && gang.count('bound') + gang.count('stranded') + gang.count('planned') > 0;
  return isGoingOn ? undefined : 'lost';
}

function counted(ms: number): number {
  return ms > graceMs ? ms : 0;
}
