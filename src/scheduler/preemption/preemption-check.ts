import type { Pod } from '../../api/pod.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { goSingly, isQuorum, mayRunWith } from '../../cluster/gang-view.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import { mustRespect } from '../../cluster/reservation.ts';
import { nameFor, namespaceOf } from '../../framework/names-for-users.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import type { Profile } from '../../framework/profile.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { DryRuns } from '../placement/planning/dry-runs.ts';
import { podFor } from './preemption-texts.ts';
import type { PlanFitOptions } from './plan-fit.ts';

export interface PreemptionCheckOptions {
  readonly cluster: Cluster;
  readonly dryRuns: DryRuns;
  /** Returns whether no entity must wait for this pod. */
  readonly isStuck: (pod: Pod) => boolean;
  /** Returns for which priority the pod is being evicted; undefined: it is not. */
  readonly promisedTo: (uid: string) => number | undefined;
  readonly turnsIgnoredBy: PlanFitOptions['turnsIgnoredBy'];
}

/** The result of PostFilter that is checked. */
export interface Proposal {
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Pod[];
  /** Pods that are about to be evicted for other entities, and must have left too. */
  readonly awaited: readonly Pod[];
}

/** Checks what PostFilter proposes: the whole entity must fit, and nothing else may be harmed than lower priorities. */
export class PreemptionCheck {
  readonly #options: PreemptionCheckOptions;

  constructor(options: PreemptionCheckOptions) {
    this.#options = options;
  }

  /** Returns why the preemption is invalid; undefined if the whole entity fits as PostFilter proposes. Runs in steps. */
  *problemOf(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    { members, needed }: Demand,
    { nominations, victims, awaited }: Proposal,
    budget: WorkBudget,
  ): Yielding<string | undefined> {
    const namespace = namespaceOf(schedulingEntity);
    const nominated = new Set(nominations.map(({ pod }) => pod.uid));
    if (nominated.size < needed) return `only ${nominated.size} of ${needed} required members are nominated`;
    const known = new Set(members.map(({ uid }) => uid));
    const stranger = nominations.find(({ pod }) => !known.has(pod.uid));
    if (stranger !== undefined)
      return `${podFor(namespace, stranger.pod)} is nominated but is not part of this attempt`;
    if (nominated.size < nominations.length) return 'a member is nominated twice';
    const lowest = Math.min(...members.map(({ priority }) => priority));
    const { dryRuns, turnsIgnoredBy } = this.#options;
    const ignoresBackfillOf = turnsIgnoredBy(entityKeyOf(schedulingEntity));
    const problem =
      this.#problemWith(schedulingEntity, lowest, victims) ??
      this.#takenFrom(schedulingEntity, nominations, lowest, ignoresBackfillOf);
    if (problem !== undefined) return problem;
    const options = { without: [...victims, ...awaited], ignoresBackfillOf };
    const rejection = yield* dryRuns.rejectionSteps(profile, schedulingEntity, nominations, options, budget);
    return rejection && `it would not fit on the nominated nodes even without the victims (${rejection.message})`;
  }

  #problemWith(schedulingEntity: SchedulingEntity, lowest: number, victims: readonly Pod[]): string | undefined {
    const { cluster, isStuck, promisedTo } = this.#options;
    const namespace = namespaceOf(schedulingEntity);
    for (const victim of victims) {
      const name = victimFor(namespace, victim);
      // A member of an earlier group of the same name counts as a single pod.
      const isOwn =
        schedulingEntity.kind === 'gang' &&
        schedulingEntity.gang.members.has(victim.uid) &&
        schedulingEntity.gang.stateOf(victim.uid) !== 'former';
      const isTerminating = cluster.pod(victim.uid)?.deleting === true;
      if (isOwn && !isTerminating) return `${name} belongs to the group itself`;
      if (cluster.nodeOf(victim) === undefined) return `${name} is not bound`;
      if (isStuck(victim)) return `${name} did not terminate in time before`;
      // A pod that terminates anyway is only awaited.
      if (isTerminating) continue;
      if (victim.priority >= lowest) return `the priority of ${name} is not lower`;
      const promised = promisedTo(victim.uid);
      if (promised !== undefined && promised >= lowest) return `${name} already makes way for another entity`;
    }
    const broken = this.#brokenGroup(victims);
    if (broken === undefined) return undefined;
    const group = nameFor(namespace, { kind: 'gang', gang: broken }).replace(/^gang/, 'PodGroup');
    return `${group} would keep fewer members than its minMember: evict all of them or none`;
  }

  /**
   * A gang reserves with its lowest priority. Members of a higher priority may not take capacity of another preemption that reserves with more
   * than that, because both would then rely on it. Returns for whom it is reserved.
   */
  #takenFrom(
    schedulingEntity: SchedulingEntity,
    nominations: readonly Nomination[],
    lowest: number,
    isIgnored: ((uid: string) => boolean) | undefined,
  ): string | undefined {
    const { cluster } = this.#options;
    if (!cluster.hasReservations) return undefined;
    for (const { pod, nodeName } of nominations) {
      if (pod.priority === lowest) continue;
      for (const reservation of cluster.reservationsOn(nodeName)) {
        if (reservation.plan === undefined || mustRespect(pod, reservation)) continue;
        if (isIgnored?.(reservation.owner.uid) === true) continue;
        if (!mustRespect({ ...pod, priority: lowest }, reservation)) continue;
        const owner = podFor(namespaceOf(schedulingEntity), reservation.owner);
        return `capacity on a nominated node is reserved for ${owner}, and other members have a lower priority than ${pod.key}`;
      }
    }
    return undefined;
  }

  /** Returns a group that would keep bound members, but fewer than its quorum. */
  #brokenGroup(victims: readonly Pod[]): GangView | undefined {
    /** group -> number of its members among the victims that are evicted, and that are recalled before they are bound */
    const chosen = new Map<GangView, { evicted: number; recalled: number }>();
    for (const { uid, podGroupKey } of victims) {
      const gang = podGroupKey === undefined ? undefined : this.#options.cluster.gang(podGroupKey);
      // A pod that is already being deleted, or belongs to a former run, does not count.
      if (gang?.isPresent(uid) !== true || goSingly(gang)) continue;
      const counts = chosen.get(gang) ?? { evicted: 0, recalled: 0 };
      if (gang.stateOf(uid) === 'planned') counts.recalled++;
      else counts.evicted++;
      chosen.set(gang, counts);
    }
    const uids = new Set(victims.map(({ uid }) => uid));
    for (const [gang, counts] of chosen) {
      // Members that already make way for others still count as bound.
      const promised = [...gang.members.keys()].filter(
        (uid) => !uids.has(uid) && gang.isPresent(uid) && this.#options.promisedTo(uid) !== undefined,
      );
      const evicted = counts.evicted + promised.length;
      const planned = gang.count('planned') - counts.recalled;
      const bound = gang.count('bound') + (gang.started ? gang.count('stranded') : 0);
      if (bound + planned <= evicted) continue;
      // A member that is being bound may fail, so the quorum of a group that loses bound members does not rest on it.
      const left = gang.present - counts.recalled - evicted - (evicted > 0 ? planned : 0);
      if (!(evicted > 0 ? mayRunWith(left, gang) : isQuorum(left, gang))) return gang;
    }
    return undefined;
  }
}

function victimFor(namespace: string, victim: Pod): string {
  return victim.namespace === namespace ? `victim ${victim.key}` : 'a victim of another namespace';
}
