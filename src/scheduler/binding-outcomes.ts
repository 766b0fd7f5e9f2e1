import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Status } from '../framework/status.ts';
import type { Logger } from '../observability/logger.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { BindingFailure, BindingPlan, BindingResult } from './binding-plan.ts';
import type { EntityRouter } from './entity-router.ts';
import type { Placement } from './placement/planner.ts';
import { regardingPod } from './pod-events.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';
import type { VerdictWriter } from './verdict-writer.ts';

export interface BindingOutcomesOptions {
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  readonly verdicts: VerdictWriter;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: SchedulerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly openPod: (uid: string) => Pod | undefined;
  /** Once aborted failures mean nothing: it is the scheduler that gave up. */
  readonly signal: AbortSignal;
}

/** How long room is kept for a member that could not be bound. */
const repairClaimMs = 30_000;

/**
 * What follows from a binding cycle. A member that could not be bound gives its room back and its group is queued again,
 * ahead of everything else when others of it are bound already.
 */
export class BindingOutcomes {
  readonly #options: BindingOutcomesOptions;

  constructor(options: BindingOutcomesOptions) {
    this.#options = options;
  }

  handle(result: BindingResult): void {
    switch (result.kind) {
      case 'bound':
        this.#bound(result.plan, result.placement);
        return;
      case 'finished':
        this.#finished(result.plan, result.failures);
        return;
    }
  }

  #bound({ profile, entity }: BindingPlan, { pod, nodeName, state }: Placement): void {
    const { events, metrics, clock } = this.#options;
    profile.postBind(state, pod, nodeName);
    metrics.podBound(entity.attempts, clock.now() - (entity.readySince ?? clock.now()));
    events.record({
      regarding: regardingPod(pod),
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: `Successfully assigned ${pod.key} to ${nodeName}`,
    });
  }

  #finished(plan: BindingPlan, failures: readonly BindingFailure[]): void {
    const { metrics, clock, logger, queue, router } = this.#options;
    const bound = plan.placements.length - failures.length;
    const seconds = (clock.monotonic() - plan.startedAt) / 1000;
    const attempt = { candidate: plan.entity.candidate, profile: plan.profile.schedulerName, seconds };
    if (failures.length === 0) {
      metrics.attempted({ ...attempt, result: 'scheduled', pods: bound });
      return;
    }
    if (this.#options.signal.aborted) return;
    const { status } = failures[0]!;
    logger.warn('could not bind', {
      entity: plan.entity.key,
      failed: failures.map(({ placement }) => placement.pod.name).join(','),
      bound,
      reason: status.reason,
    });
    metrics.attempted({
      ...attempt,
      result: status.code === 'Error' ? 'error' : 'unschedulable',
      pods: failures.length,
    });
    for (const { placement } of failures.toReversed()) {
      plan.profile.unreserve(placement.state, placement.pod, placement.nodeName);
      this.#options.cluster.forget(placement.pod);
    }
    if (plan.gang?.incomplete === true) this.#keepRoom(failures);
    this.#comeBack(plan, status);
    for (const { placement } of failures) {
      router.podChanged(placement.pod, 'BindingFailed', clock.now());
      queue.moveOnEvent({ resource: 'AssignedPod', action: 'Delete', pod: placement.pod });
    }
    this.#tell(plan, failures, status);
  }

  /**
   * Others of the gang are bound and cannot be moved, so nobody may take the room of those that are not, while the gang
   * backs off. Not for ever: the node itself may be what refuses them.
   */
  #keepRoom(failures: readonly BindingFailure[]): void {
    const { cluster, queue, clock, openPod } = this.#options;
    for (const { placement } of failures) {
      const claimant = openPod(placement.pod.uid);
      if (claimant === undefined || cluster.node(placement.nodeName) === undefined) continue;
      cluster.claim({ kind: 'repair', claimant, nodeName: placement.nodeName });
      clock.setTimer(repairClaimMs, () => {
        if (!cluster.releaseClaim(claimant.uid)) return;
        queue.moveOnEvent({ resource: 'AssignedPod', action: 'Delete', pod: claimant });
      });
    }
  }

  /** Queues again what the plan did not bind. */
  #comeBack({ entity, gang, placements }: BindingPlan, status: Status): void {
    const { queue, openPod } = this.#options;
    const failure = { refusedBy: new Set([status.plugin]), refusedPods: [], error: true };
    if (gang !== undefined) {
      if (gang.missing > 0 && gang.pending.size > 0) queue.comeBack({ kind: 'gang', gang }, entity, failure);
      return;
    }
    const pod = openPod(placements[0]!.pod.uid);
    if (pod !== undefined) queue.comeBack({ kind: 'pod', pod }, entity, failure);
  }

  #tell({ gang }: BindingPlan, failures: readonly BindingFailure[], status: Status): void {
    const pods = failures.flatMap(({ placement }) => this.#options.openPod(placement.pod.uid) ?? []);
    const subject = gang === undefined ? '' : `PodGroup ${gang.key}: `;
    this.#options.verdicts.report(pods, {
      reason: status.code === 'Error' ? 'SchedulerError' : 'Unschedulable',
      message: `${subject}${status.reason}.`,
    });
  }
}
