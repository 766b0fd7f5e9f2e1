import type { Logger } from '../../observability/logger.ts';
import type { BindingFailure, BindingPlan, BindingResult, NodeAssignment } from './binding-plan.ts';
import { failedBindingSteps } from './failed-binding.ts';
import type { FailedBindingParts } from './failed-binding.ts';
import { groupScheduled, scheduled } from '../verdicts/events.ts';
import type { EventSink } from '../ports.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';

export interface BindingOutcomesOptions extends FailedBindingParts {
  readonly events: EventSink;
  readonly metrics: Pick<SchedulerMetrics, 'attempts' | 'gangs'>;
  readonly logger: Logger;
  /** Once aborted, failed entities are not requeued: the scheduler itself has given them up. */
  readonly signal: AbortSignal;
}

/**
 * Handles the results of the binding cycle. A member that could not be bound frees its capacity and its group is requeued, ahead of
 * everything else if other members are bound.
 */
export class BindingOutcomes {
  readonly #options: BindingOutcomesOptions;
  /** plan of a gang -> Clock.monotonic() of its first and its latest successful Binding */
  readonly #bindings = new WeakMap<BindingPlan, { readonly first: number; latest: number }>();

  constructor(options: BindingOutcomesOptions) {
    this.#options = options;
  }

  handle(result: BindingResult): void {
    switch (result.kind) {
      case 'begun':
        this.#routeGroup(result.plan);
        return;
      case 'bound':
        this.#bound(result.plan, result.assignment);
        return;
      case 'failed':
        this.#failed(result.plan, result.failures);
        return;
      case 'finished':
        this.#finished(result.plan, result.failures);
        return;
    }
  }

  #bound(plan: BindingPlan, { pod, nodeName, state }: NodeAssignment): void {
    const { profile, entity, gang } = plan;
    const { intake, recovery, events, metrics, logger } = this.#options;
    const { clock } = intake;
    profile.postBind(state, pod, nodeName);
    recovery.memberLosses.bound(pod, nodeName);
    if (gang !== undefined) {
      const now = clock.monotonic();
      const bindings = this.#bindings.get(plan);
      if (bindings === undefined) this.#bindings.set(plan, { first: now, latest: now });
      else bindings.latest = now;
    }
    metrics.attempts.podBound(entity.attempts, clock.now() - (entity.readySince ?? clock.now()));
    events.record(scheduled(pod, nodeName));
    logger.debug('bound', { entity: entity.key, pod: pod.key, node: nodeName });
  }

  /** Routes members that arrived while the plan was about to start the group, even if the plan's members have left it. */
  #routeGroup({ gang }: BindingPlan): void {
    const { intake, signal } = this.#options;
    const { router, clock } = intake;
    if (gang !== undefined && !signal.aborted) router.groupChanged(gang.key, 'PlanBegun', clock.now());
  }

  #finished(plan: BindingPlan, failures: readonly BindingFailure[]): void {
    if (plan.startsGang) this.#routeGroup(plan);
    const { intake, recovery, metrics, logger } = this.#options;
    const { clock } = intake;
    const bound = plan.assignments.length - failures.length;
    const seconds = (clock.monotonic() - plan.startedAt) / 1000;
    const bindings = this.#bindings.get(plan);
    if (bindings !== undefined) metrics.gangs.boundWithin(bindings.latest - bindings.first);
    const attempt = { schedulingEntity: plan.entity.schedulingEntity, profile: plan.profile.schedulerName, seconds };
    if (failures.length === 0) {
      metrics.attempts.attempted({ ...attempt, result: 'scheduled', pods: bound });
      const { readySince } = plan.entity;
      if (plan.startsGang && plan.gang?.missing === 0 && readySince !== undefined) {
        metrics.gangs.wholeAfter(clock.now() - readySince);
      }
      this.#notifyScheduled(plan, seconds);
      return;
    }
    if (this.#options.signal.aborted) return;
    // No member of the group is bound after all, so there is no gang to complete with the reserved capacity.
    if (plan.gang?.started === false && !plan.gang.comesFirst) {
      for (const { assignment } of failures) recovery.reservations.drop(assignment.pod.uid, 'repair');
    }
    const { status } = failures[0]!;
    logger.warn('could not bind', {
      entity: plan.entity.key,
      failed: failures.map(({ assignment }) => assignment.pod.name).join(','),
      bound,
      reason: status.message,
    });
    metrics.attempts.attempted({
      ...attempt,
      result: status.code === 'Error' ? 'error' : 'unschedulable',
      pods: failures.length,
    });
  }

  /** Handles failed members at once. Other members of the plan may still be binding. */
  #failed(plan: BindingPlan, failures: readonly BindingFailure[]): void {
    const { intake, signal } = this.#options;
    const { cluster } = intake;
    // The pods as assumed on their nodes: their labels may have changed since the plan was made.
    const assumed = failures.map(({ assignment: { pod } }) =>
      cluster.isAssumed(pod.uid) ? cluster.pod(pod.uid)! : pod,
    );
    const failed = { plan, failures, assumed };
    for (const { step, evenWhenStopped = false } of failedBindingSteps) {
      if (evenWhenStopped || !signal.aborted) step(failed, this.#options);
    }
  }

  #notifyScheduled({ entity, gang, assignments, strategy }: BindingPlan, seconds: number): void {
    const { events, logger } = this.#options;
    const nodes = new Set(assignments.map(({ nodeName }) => nodeName));
    const { nodeName: node } = assignments[0]!;
    logger.info('scheduled', {
      entity: entity.key,
      attempts: entity.attempts,
      pods: assignments.length,
      ...(nodes.size === 1 ? { node } : { nodes: nodes.size }),
      ...(gang !== undefined && { strategy }),
      seconds: Math.round(seconds * 1000) / 1000,
    });
    const members = assignments.map(({ pod }) => pod);
    const event = gang && groupScheduled(gang, members, nodes.size);
    if (event !== undefined) events.record(event);
  }
}
