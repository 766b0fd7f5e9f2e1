import type { WorkBudget } from '../../base/work-budget.ts';
import type { Clock } from '../../base/clock.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { isResolvable } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { DryRunOptions } from '../../framework/dry-run.ts';
import type { Profile } from '../../framework/profile.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { DryRun, DryRuns } from '../placement/planning/dry-runs.ts';
import { FeasibilityCheck, WorkLimitError } from './feasibility-check.ts';
import type { WaitCause } from './wait-cause.ts';
import { describeUnavailable, TolerantPods, unavailableNodes } from './unavailable-nodes.ts';

/** Maximum number of node checks, besides one pass over the nodes, to find out whether a gang would fit beside all other pods. */
const workLimit = 20_000;

/**
 * Determines what an entity waits for that would not fit on the available nodes even without other pods: perhaps for nodes that are
 * cordoned, not ready, unreachable or under pressure. Uses dry runs with members that tolerate the taints of such nodes.
 */
export class NodeAvailabilityCheck {
  readonly #cluster: Cluster;
  readonly #dryRuns: Pick<DryRuns, 'steps'>;
  readonly #feasibilityCheck: FeasibilityCheck;

  constructor({ cluster, dryRuns, clock }: { cluster: Cluster; dryRuns: DryRuns; clock: Clock }) {
    const tolerantPods = new TolerantPods();
    this.#cluster = cluster;
    this.#dryRuns = {
      steps: (profile, schedulingEntity, options, ...rest) =>
        dryRuns.steps(profile, schedulingEntity, { ...options, asIf: (pod) => tolerantPods.of(pod) }, ...rest),
    };
    this.#feasibilityCheck = new FeasibilityCheck({ cluster, dryRuns: this.#dryRuns, clock });
  }

  /** Returns what the entity waits for, given its `feasibility` on the available nodes; undefined if all nodes are available to it. */
  *of(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    demand: Demand,
    diagnosis: Diagnosis,
    feasibility: 'never' | 'unknown',
    budget: WorkBudget,
  ): Yielding<WaitCause | undefined> {
    const nodes = unavailableNodes(this.#cluster.nodes, demand.members);
    if (nodes.names.size === 0) return undefined;
    if (schedulingEntity.kind === 'pod') {
      // The available nodes have rejected the pod already.
      const now = yield* this.#now(profile, schedulingEntity, budget, { within: nodes.names });
      if (now?.fits === true || (now?.blocked !== undefined && isResolvable(now.blocked))) return { waitsFor: 'nodes' };
      return { waitsFor: now?.never === true ? feasibility : 'unknown' };
    }
    const unavailable = describeUnavailable(nodes);
    const unknown: WaitCause =
      feasibility === 'never' ? { waitsFor: 'unknown', note: unavailable } : { waitsFor: 'unknown' };
    switch (yield* this.#feasibilityCheck.of(profile, schedulingEntity, demand, diagnosis, budget)) {
      case 'never': {
        const { gang } = demand;
        // Members bound to nodes that run no pods now count once these nodes are back, so fewer may be needed.
        if (gang !== undefined && !gang.started && gang.count('stranded') > 0) return unknown;
        const neverFits = 'It would not fit even if all nodes were available and all other pods were gone.';
        return { waitsFor: 'never', note: neverFits };
      }
      case 'unknown':
        return unknown;
      case 'capacity': {
        const now = yield* this.#now(profile, schedulingEntity, budget);
        const condition =
          now?.fits === true ? 'all nodes were available' : 'all nodes were available and all other pods were gone';
        const waitsForNodes = `${unavailable} The group would fit if ${condition}.`;
        return { waitsFor: 'nodes', note: waitsForNodes };
      }
    }
  }

  /** Returns the result of a dry run with all pods where they are; undefined if it takes too much work. */
  *#now(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    budget: WorkBudget,
    options: DryRunOptions = {},
  ): Yielding<DryRun | undefined> {
    let left = workLimit + this.#cluster.nodes.length;
    const spend = (steps: number): void => {
      left -= steps;
      if (left < 0) throw new WorkLimitError();
    };
    try {
      return yield* this.#dryRuns.steps(profile, schedulingEntity, options, budget, spend);
    } catch (error) {
      if (error instanceof WorkLimitError) return undefined;
      throw error;
    }
  }
}
