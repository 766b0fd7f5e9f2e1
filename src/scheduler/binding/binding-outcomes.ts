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
  /** Once aborted nothing comes back: it is the scheduler that gave up. */
  readonly signal: AbortSignal;
}

/**
 * What follows from a binding cycle. A member that could not be bound gives its room back and its group is queued again,
 * ahead of everything else when others of it are bound already.
 */
export class BindingOutcomes {
  readonly #options: BindingOutcomesOptions;
  /** plan of a group -> when its first and its latest Binding succeeded, as Clock.monotonic() */
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
    const { intake, events, metrics, logger } = this.#options;
    const { clock } = intake;
    profile.postBind(state, pod, nodeName);
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

  /** Members that came while the group was about to start with this plan have waited for it, also where those of the plan have left the group. */
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
    // Nobody of the group is on a node after all, so there is nothing that the room would complete.
    if (plan.gang?.started === false && !plan.gang.incomplete) {
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

  /** The others of the plan may still be being bound: what has failed need not wait for them. */
  #failed(plan: BindingPlan, failures: readonly BindingFailure[]): void {
    const { intake, signal } = this.#options;
    const { cluster } = intake;
    // As they are on the nodes that they are assumed on: labels may have changed since they were planned.
    const assumed = failures.map(({ assignment: { pod } }) =>
      cluster.isAssumed(pod.uid) ? cluster.pod(pod.uid)! : pod,
    );
    const failed = { plan, failures, assumed };
    for (const { step, evenWhenStopped = false } of failedBindingSteps) {
      if (evenWhenStopped || !signal.aborted) step(failed, this.#options);
    }
  }

  #notifyScheduled({ entity, gang, assignments }: BindingPlan, seconds: number): void {
    const { events, logger } = this.#options;
    const nodes = new Set(assignments.map(({ nodeName }) => nodeName));
    logger.info('scheduled', {
      entity: entity.key,
      attempts: entity.attempts,
      pods: assignments.length,
      ...(nodes.size === 1 ? { node: assignments[0]!.nodeName } : { nodes: nodes.size }),
      seconds: Math.round(seconds * 1000) / 1000,
    });
    const members = assignments.map(({ pod }) => pod);
    const event = gang && groupScheduled(gang, members, nodes.size);
    if (event !== undefined) events.record(event);
  }
}
