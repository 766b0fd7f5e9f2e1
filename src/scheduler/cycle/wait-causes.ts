import type { Clock } from '../../base/clock.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { failureIn, isResolvable } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Profile } from '../../framework/profile.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Turns } from '../backfill/turns.ts';
import type { Extenders } from '../extenders/extenders.ts';
import type { NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { DryRuns } from '../placement/planning/dry-runs.ts';
import type { Plan } from '../placement/planning/planner.ts';
import type { NodeRejections } from '../recovery/node-rejections.ts';
import { FeasibilityCheck } from './feasibility-check.ts';
import { NodeAvailabilityCheck } from './node-availability-check.ts';
import { TurnCheck } from './turn-check.ts';
import type { WaitCause } from './wait-cause.ts';

/** An entity that was rejected. */
export interface WaitCauseRequest {
  readonly profile: Profile;
  readonly schedulingEntity: SchedulingEntity;
  readonly demand: Demand;
  readonly plan: Pick<Plan, 'never' | 'searchedPlacements'>;
  readonly diagnosis: Diagnosis;
  /** The nodes of the last plan; undefined: all nodes. */
  readonly nodeSubsetOf: NodeSubsetOf | undefined;
}

export interface WaitCausesOptions {
  readonly cluster: Cluster;
  readonly dryRuns: DryRuns;
  readonly clock: Clock;
  readonly rejections: Pick<NodeRejections, 'barredNamespace'>;
  /** Absent: no extenders. */
  readonly extenders?: Pick<Extenders, 'mayReject'> | undefined;
  /** Absent: no profile reserves capacity until a predicted start. */
  readonly turns?: Turns | undefined;
}

const neverFits = 'It would not fit even if all other pods were gone.';

/** Finds out what rejected entities wait for. */
export class WaitCauses {
  readonly #options: WaitCausesOptions;
  readonly #feasibilityCheck: FeasibilityCheck;
  readonly #availabilityCheck: NodeAvailabilityCheck;
  readonly #turnCheck: TurnCheck;

  constructor(options: WaitCausesOptions) {
    this.#options = options;
    this.#feasibilityCheck = new FeasibilityCheck(options);
    this.#availabilityCheck = new NodeAvailabilityCheck(options);
    this.#turnCheck = new TurnCheck(options);
  }

  *of(request: WaitCauseRequest, budget: WorkBudget): Yielding<WaitCause> {
    const { profile, schedulingEntity, demand, plan, diagnosis, nodeSubsetOf } = request;
    if (failureIn(diagnosis) !== undefined) return { waitsFor: 'error' };
    const { extenders, rejections } = this.#options;
    const turn = yield* this.#turnCheck.of(profile, schedulingEntity, diagnosis, nodeSubsetOf, budget);
    if (turn !== undefined) return turn;
    const feasibility = plan.never
      ? 'never'
      : schedulingEntity.kind === 'gang'
        ? yield* this.#feasibilityCheck.of(profile, schedulingEntity, demand, diagnosis, budget)
        : isResolvable(diagnosis)
          ? 'capacity'
          : 'unknown';
    // Even if other pods go, the extender may reject the nodes that the plugins then accept.
    const isCertain = extenders?.mayReject(demand.members) !== true;
    if (feasibility === 'capacity') return { waitsFor: isCertain ? 'capacity' : 'unknown' };
    const cause = yield* this.#availabilityCheck.of(profile, schedulingEntity, demand, diagnosis, feasibility, budget);
    if (cause?.waitsFor === 'never') return cause;
    if (cause?.waitsFor === 'nodes') {
      // The node may be one that does not admit the pod.
      const isAdmitted = rejections.barredNamespace(demand.members) === undefined;
      return isCertain && isAdmitted ? cause : { waitsFor: 'unknown' };
    }
    if (feasibility === 'never') return cause ?? { waitsFor: 'never', note: neverFits };
    const { searchedPlacements } = plan;
    if (searchedPlacements === undefined) return { waitsFor: 'unknown' };
    const searchEnded = `The search ended after ${searchedPlacements} placements.`;
    return { waitsFor: 'unknown', note: searchEnded };
  }
}
