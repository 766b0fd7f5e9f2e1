import type { Pod } from '../../api/pod.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import type { Logger } from '../../observability/logger.ts';
import { preempted } from '../verdicts/events.ts';
import type { Reservations } from './reservations.ts';
import type { PreemptionMetrics } from '../metrics/preemption-metrics.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { DryRuns } from '../placement/planning/dry-runs.ts';
import type { EventSink, PodEvictor } from '../ports.ts';

export interface PreemptionsOptions {
  readonly cluster: Cluster;
  readonly dryRuns: DryRuns;
  readonly reservations: Reservations;
  readonly evictor: Pick<PodEvictor, 'evict'>;
  readonly events: EventSink;
  readonly metrics: Pick<PreemptionMetrics, 'asked' | 'preempted'>;
  readonly logger: Logger;
  /** Once aborted failures mean nothing. */
  readonly signal: AbortSignal;
}

/** What PostFilter came to for an entity that does not fit. */
export interface Preemption {
  /** For users; a sentence of the verdict. */
  readonly message: string;
  /** Room to keep, for all that the entity is short of; empty when none is to be made. */
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Pod[];
}

/** How long room is kept while the victims go; longer while one of them is being deleted, up to a quarter of an hour. */
const keptMs = 60_000;
const mostExtensions = 15;

/**
 * Makes room the way PostFilter says, but only for an entity that then fits whole: all its room is kept first, and only then
 * have the victims to go. They must be of lower priority, and no group is left with fewer members than its quorum. While room
 * is kept for an entity PostFilter is not asked again, so nobody else has to go for it.
 */
export class Preemptions {
  readonly #options: PreemptionsOptions;
  /** claim -> what the entity that it is part of is told while it stands */
  readonly #messages = new WeakMap<Reservation, string>();

  constructor(options: PreemptionsOptions) {
    this.#options = options;
  }

  /** Decides only; `carryOut` has to follow. Undefined: no PostFilter had anything to say. */
  ask(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    demand: Demand,
    diagnosis: Diagnosis,
  ): Preemption | undefined {
    const awaited = this.#awaited(demand);
    if (awaited !== undefined) return { message: awaited, nominations: [], victims: [] };
    if (profile.hasPostFilter) this.#options.metrics.asked();
    const result = profile.postFilter(schedulingEntity, diagnosis);
    if (result === undefined) return undefined;
    if (result instanceof Status) {
      this.#options.logger.error('PostFilter failed', { entity: nameOf(schedulingEntity), error: result.cause });
      return { message: `${result.message}.`, nominations: [], victims: [] };
    }
    const { message, nominations = [] } = result;
    // One that is named twice goes once.
    const victims = [...new Map((result.victims ?? []).map((pod) => [pod.uid, pod])).values()];
    if (nominations.length === 0 && victims.length === 0) return { message, nominations, victims };
    const problem = this.#problemOf(profile, schedulingEntity, demand, { message, nominations, victims });
    if (problem === undefined) return { message, nominations, victims };
    this.#options.logger.warn('PostFilter asks for what may not be', { entity: nameOf(schedulingEntity), problem });
    return { message: `Nobody is preempted: ${problem}.`, nominations: [], victims: [] };
  }

  carryOut(schedulingEntity: SchedulingEntity, { message, nominations, victims }: Preemption): void {
    const { cluster, reservations } = this.#options;
    if (nominations.length === 0) return;
    if (victims.length > 0) this.#options.metrics.preempted(victims.length);
    const wanted = nominations.map(({ pod, nodeName }) => {
      // Room that is kept from everybody is not kept from fewer now.
      const kind = cluster.reservationOf(pod.uid)?.kind === 'repair' ? 'repair' : 'nomination';
      return { kind, owner: pod, nodeName } as const;
    });
    let extensions = 0;
    const isGoing = (): boolean => victims.some(({ uid }) => cluster.pod(uid)?.deleting === true);
    reservations.keep(wanted, keptMs, () => ++extensions < mostExtensions && isGoing());
    for (const { pod } of nominations) this.#messages.set(cluster.reservationOf(pod.uid)!, message);
    for (const victim of victims) if (!victim.deleting) void this.#evict(victim, nameOf(schedulingEntity));
  }

  async #evict(victim: Pod, beneficiary: string): Promise<void> {
    const { evictor, events, logger, signal } = this.#options;
    try {
      events.record(preempted(victim, beneficiary));
      await evictor.evict(victim, beneficiary, signal);
    } catch (error) {
      if (!signal.aborted) logger.warn('could not evict a pod', { pod: victim.key, for: beneficiary, error });
    }
  }

  /** What the entity was told when room was kept for it, if that still stands. */
  #awaited({ members }: Demand): string | undefined {
    const { cluster, reservations } = this.#options;
    const standing = members
      .flatMap(({ uid }) => cluster.reservationOf(uid) ?? [])
      .filter((reservation) => this.#messages.has(reservation));
    // Room on a node that is gone helps nobody, nor does the rest of the plan.
    if (standing.some(({ nodeName }) => cluster.node(nodeName) === undefined)) {
      for (const reservation of standing) reservations.end(reservation);
      return undefined;
    }
    return standing[0] && this.#messages.get(standing[0]);
  }

  /** Why the entity may not be helped like this; undefined: it would fit, whole, just as PostFilter says. */
  #problemOf(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    { members, needed }: Demand,
    { nominations, victims }: Preemption,
  ): string | undefined {
    const nominated = new Set(nominations.map(({ pod }) => pod.uid));
    if (nominated.size < needed) return `${nominated.size} of the ${needed} members that are needed are nominated`;
    const known = new Set(members.map(({ uid }) => uid));
    const stranger = nominations.find(({ pod }) => !known.has(pod.uid));
    if (stranger !== undefined) return `${stranger.pod.key} is nominated, which is no member that can be placed`;
    if (nominated.size < nominations.length) return 'a member is nominated twice';
    const problem = this.#problemWith(schedulingEntity, members, victims);
    if (problem !== undefined) return problem;
    const rejection = this.#options.dryRuns.rejectionOf(profile, schedulingEntity, nominations, victims);
    return rejection && `it would not fit on the nominated nodes without the victims (${rejection.message})`;
  }

  #problemWith(
    schedulingEntity: SchedulingEntity,
    members: readonly Pod[],
    victims: readonly Pod[],
  ): string | undefined {
    const lowest = Math.min(...members.map(({ priority }) => priority));
    for (const victim of victims) {
      const isOwn = schedulingEntity.kind === 'gang' && schedulingEntity.gang.members.has(victim.uid);
      if (isOwn) return `${victim.key} would have to go for its own group`;
      if (this.#options.cluster.nodeOf(victim) === undefined) return `${victim.key} is on no node`;
      if (victim.priority >= lowest) return `the priority of ${victim.key} is not lower`;
    }
    const torn = this.#tornGroup(victims);
    return torn && `PodGroup ${torn.key} would be left with too few of its members; it can only go as a whole`;
  }

  /** A group that would keep members on nodes, but fewer than its quorum. */
  #tornGroup(victims: readonly Pod[]): GangView | undefined {
    /** group -> how many of its members would go */
    const going = new Map<GangView, number>();
    for (const { uid, podGroupKey } of victims) {
      const gang = podGroupKey === undefined ? undefined : this.#options.cluster.gang(podGroupKey);
      // One that is going already, or is of a former run, does not count.
      if (gang?.counts(uid) === true) going.set(gang, (going.get(gang) ?? 0) + 1);
    }
    for (const [gang, count] of going) {
      const stay = gang.count('bound') + gang.count('planned') - count;
      if (stay > 0 && gang.counted - count < (gang.spec?.minMember ?? 0)) return gang;
    }
    return undefined;
  }
}

function nameOf(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang' ? `PodGroup ${schedulingEntity.gang.key}` : `pod ${schedulingEntity.pod.key}`;
}
