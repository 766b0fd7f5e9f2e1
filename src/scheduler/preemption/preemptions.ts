import type { Pod } from '../../api/pod.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Profile } from '../../framework/profile.ts';
import type { PostFilterResult } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import type { Logger } from '../../observability/logger.ts';
import { preempted } from '../verdicts/events.ts';
import type { Reservations } from './reservations.ts';
import type { VictimSearch, VictimSearchRequest } from './search/victim-search.ts';
import type { PreemptionMetrics } from '../metrics/preemption-metrics.ts';
import type { NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { DryRuns } from '../placement/planning/dry-runs.ts';
import type { EventSink, PodEvictor } from '../ports.ts';

export interface PreemptionsOptions {
  readonly cluster: Cluster;
  readonly dryRuns: DryRuns;
  readonly victimSearch: VictimSearch;
  readonly reservations: Reservations;
  readonly evictor: Pick<PodEvictor, 'evict'>;
  readonly events: EventSink;
  readonly metrics: Pick<PreemptionMetrics, 'postFilterCalled' | 'preempted'>;
  readonly logger: Logger;
  /** Once aborted, failures are not logged. */
  readonly signal: AbortSignal;
}

/** An entity that does not fit. */
export interface RejectedEntity {
  readonly profile: Profile;
  readonly schedulingEntity: SchedulingEntity;
  readonly demand: Demand;
  readonly diagnosis: Diagnosis;
  /** Returns the nodes that a member may use. Undefined: all. */
  readonly nodeSubsetOf: NodeSubsetOf | undefined;
}

/** The result of PostFilter for an entity that does not fit. */
export interface Preemption {
  /** A sentence of the verdict. */
  readonly message: string;
  /** Nominations for all members that the entity still needs; empty if nothing is preempted. */
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Pod[];
  /** True if the plugin preempts nothing, which holds for the whole equivalence class. */
  readonly isShared: boolean;
  /** Names of the plugins whose registered events may change the result. */
  readonly unschedulablePlugins?: readonly string[];
}

/** A result that preempts nothing, for one entity. */
const nothing = { nominations: [], victims: [], isShared: false } as const;

/** How long capacity stays reserved while the victims terminate. Extended while a victim is being deleted, up to 15 minutes in total. */
const keptMs = 60_000;
const maxExtensions = 15;

/**
 * Carries out the preemption that PostFilter proposes, but only if the whole entity then fits. First all its capacity is reserved, then the
 * victims are evicted. Victims must have a lower priority, and no group may keep fewer members than its quorum. PostFilter is not called
 * again while capacity is reserved for an entity, so no further pods are evicted for it.
 */
export class Preemptions {
  readonly #options: PreemptionsOptions;
  /** reservation -> message for the verdict of its entity while the reservation exists */
  readonly #messages = new WeakMap<Reservation, string>();

  constructor(options: PreemptionsOptions) {
    this.#options = options;
  }

  /**
   * Calls PostFilter, searches for victims if it returns a policy, and validates the result; `carryOut` must follow. Undefined if PostFilter
   * has no result. Runs in steps.
   */
  *ask(rejected: RejectedEntity, budget: WorkBudget): Yielding<Preemption | undefined> {
    const { profile, schedulingEntity, demand, diagnosis, nodeSubsetOf } = rejected;
    const awaited = this.#awaited(demand);
    if (awaited !== undefined) return { ...nothing, message: awaited };
    if (profile.postFilters.length > 0) this.#options.metrics.postFilterCalled();
    const answer = profile.postFilter(schedulingEntity, diagnosis);
    if (answer === undefined) return undefined;
    if (answer instanceof Status) {
      this.#options.logger.error('PostFilter failed', { entity: nameOf(schedulingEntity), error: answer.cause });
      return { ...nothing, message: `${answer.message}.` };
    }
    const { policy } = answer.result;
    const searched =
      policy && (yield* this.#search(schedulingEntity, { profile, demand, policy, nodeSubsetOf }, budget));
    const result = searched?.result ?? answer.result;
    const { message, nominations = [], eventsMayHelp = false } = result;
    const unschedulablePlugins = eventsMayHelp ? [answer.plugin, ...(searched?.unschedulablePlugins ?? [])] : [];
    // Deduplicate victims.
    const victims = [...new Map((result.victims ?? []).map((pod) => [pod.uid, pod])).values()];
    if (nominations.length === 0 && victims.length === 0)
      return { message, nominations, victims, isShared: true, unschedulablePlugins };
    const preemption = { message, nominations, victims, isShared: false, unschedulablePlugins };
    const problem = this.#problemOf(profile, schedulingEntity, demand, preemption);
    if (problem === undefined) return preemption;
    const entity = nameOf(schedulingEntity);
    this.#options.logger.warn('PostFilter plugin returned invalid victims or nominations', { entity, problem });
    return { ...nothing, message: `No pod is preempted: ${problem}.`, unschedulablePlugins };
  }

  *#search(
    schedulingEntity: SchedulingEntity,
    request: VictimSearchRequest,
    budget: WorkBudget,
  ): Yielding<{ readonly result: PostFilterResult; readonly unschedulablePlugins: ReadonlySet<string> }> {
    const { outcome, nominations, victims, unschedulablePlugins } = yield* this.#options.victimSearch.steps(
      request,
      budget,
    );
    const message = request.policy.describe(outcome, schedulingEntity.kind);
    return { result: { message, nominations, victims, eventsMayHelp: true }, unschedulablePlugins };
  }

  carryOut(schedulingEntity: SchedulingEntity, { message, nominations, victims }: Preemption): void {
    const { cluster, reservations } = this.#options;
    if (nominations.length === 0) return;
    if (victims.length > 0) this.#options.metrics.preempted(victims.length);
    const requested = nominations.map(({ pod, nodeName }) => {
      const before = cluster.reservationOf(pod.uid);
      // A repair may be exclusive, and must not become weaker.
      if (before?.kind !== 'repair') return { kind: 'nomination', owner: pod, nodeName } as const;
      return { ...before, owner: pod, nodeName };
    });
    let extensions = 0;
    const isTerminating = (): boolean => victims.some(({ uid }) => cluster.pod(uid)?.deleting === true);
    reservations.keep(requested, keptMs, () => ++extensions < maxExtensions && isTerminating());
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

  /** Returns the message of an earlier preemption for the entity, if its reservations still exist. */
  #awaited({ members }: Demand): string | undefined {
    const { cluster, reservations } = this.#options;
    const standing = members
      .flatMap(({ uid }) => cluster.reservationOf(uid) ?? [])
      .filter((reservation) => this.#messages.has(reservation));
    // If one node of the plan is gone, the other reservations are useless as well.
    if (standing.some(({ nodeName }) => cluster.node(nodeName) === undefined)) {
      for (const reservation of standing) reservations.end(reservation);
      return undefined;
    }
    return standing[0] && this.#messages.get(standing[0]);
  }

  /** Returns why the preemption is invalid; undefined if the whole entity fits as PostFilter proposes. */
  #problemOf(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    { members, needed }: Demand,
    { nominations, victims }: Preemption,
  ): string | undefined {
    const nominated = new Set(nominations.map(({ pod }) => pod.uid));
    if (nominated.size < needed) return `only ${nominated.size} of ${needed} required members are nominated`;
    const known = new Set(members.map(({ uid }) => uid));
    const stranger = nominations.find(({ pod }) => !known.has(pod.uid));
    if (stranger !== undefined) return `${stranger.pod.key} is nominated but is not part of this attempt`;
    if (nominated.size < nominations.length) return 'a member is nominated twice';
    const problem = this.#problemWith(schedulingEntity, members, victims);
    if (problem !== undefined) return problem;
    const rejection = this.#options.dryRuns.rejectionOf(profile, schedulingEntity, nominations, victims);
    return rejection && `it would not fit on the nominated nodes even without the victims (${rejection.message})`;
  }

  #problemWith(
    schedulingEntity: SchedulingEntity,
    members: readonly Pod[],
    victims: readonly Pod[],
  ): string | undefined {
    const lowest = Math.min(...members.map(({ priority }) => priority));
    for (const victim of victims) {
      const isOwn = schedulingEntity.kind === 'gang' && schedulingEntity.gang.members.has(victim.uid);
      if (isOwn && !victim.deleting) return `victim ${victim.key} belongs to the group itself`;
      if (this.#options.cluster.nodeOf(victim) === undefined) return `victim ${victim.key} is not bound`;
      if (victim.priority >= lowest && !victim.deleting) return `the priority of victim ${victim.key} is not lower`;
    }
    const broken = this.#brokenGroup(victims);
    return broken && `PodGroup ${broken.key} would keep fewer members than its minMember: evict all of them or none`;
  }

  /** Returns a group that would keep bound members, but fewer than its quorum. */
  #brokenGroup(victims: readonly Pod[]): GangView | undefined {
    /** group -> number of its members among the victims */
    const evicted = new Map<GangView, number>();
    for (const { uid, podGroupKey } of victims) {
      const gang = podGroupKey === undefined ? undefined : this.#options.cluster.gang(podGroupKey);
      // A pod that is already being deleted, or belongs to a former run, does not count.
      if (gang?.counts(uid) === true) evicted.set(gang, (evicted.get(gang) ?? 0) + 1);
    }
    for (const [gang, count] of evicted) {
      const stay = gang.count('bound') + gang.count('planned') - count;
      if (stay > 0 && gang.counted - count < (gang.spec?.minMember ?? 0)) return gang;
    }
    return undefined;
  }
}

function nameOf(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang' ? `PodGroup ${schedulingEntity.gang.key}` : `pod ${schedulingEntity.pod.key}`;
}
