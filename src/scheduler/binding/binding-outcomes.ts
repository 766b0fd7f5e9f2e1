import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import { roomFreed } from '../../framework/cluster-event.ts';
import type { Status } from '../../framework/status.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { BindingFailure, BindingPlan, BindingResult } from './binding-plan.ts';
import type { EntityRouter } from '../intake/entity-router.ts';
import { groupScheduled, scheduled } from '../verdicts/events.ts';
import type { KeptClaims } from '../preemption/kept-claims.ts';
import type { NodeRefusals } from '../recovery/node-refusals.ts';
import type { PartialGroups } from '../recovery/partial-groups.ts';
import type { Placement } from '../placement/planning/planner.ts';
import type { EventSink } from '../ports.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';
import type { Verdicts } from '../verdicts/verdicts.ts';

export interface BindingOutcomesOptions {
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  readonly claims: KeptClaims;
  readonly refusals: Pick<NodeRefusals, 'failed'>;
  readonly verdicts: Verdicts;
  readonly events: EventSink;
  readonly metrics: Pick<SchedulerMetrics, 'attempts' | 'gangs'>;
  readonly partial: Pick<PartialGroups, 'repairBegins'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Once aborted nothing comes back: it is the scheduler that gave up. */
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
        this.#bound(result.plan, result.placement);
        return;
      case 'failed':
        this.#failed(result.plan, result.failures);
        return;
      case 'finished':
        this.#finished(result.plan, result.failures);
        return;
    }
  }

  #bound(plan: BindingPlan, { pod, nodeName, state }: Placement): void {
    const { profile, entity, gang } = plan;
    const { events, metrics, clock, logger } = this.#options;
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
    const { router, clock, signal } = this.#options;
    if (gang !== undefined && !signal.aborted) router.groupChanged(gang.key, 'PlanBegun', clock.now());
  }

  #finished(plan: BindingPlan, failures: readonly BindingFailure[]): void {
    if (plan.startsGang) this.#routeGroup(plan);
    const { metrics, clock, logger } = this.#options;
    const bound = plan.placements.length - failures.length;
    const seconds = (clock.monotonic() - plan.startedAt) / 1000;
    const bindings = this.#bindings.get(plan);
    if (bindings !== undefined) metrics.gangs.boundWithin(bindings.latest - bindings.first);
    const attempt = { candidate: plan.entity.candidate, profile: plan.profile.schedulerName, seconds };
    if (failures.length === 0) {
      metrics.attempts.attempted({ ...attempt, result: 'scheduled', pods: bound });
      const { readySince } = plan.entity;
      if (plan.startsGang && plan.gang?.missing === 0 && readySince !== undefined) {
        metrics.gangs.wholeAfter(clock.now() - readySince);
      }
      this.#tellScheduled(plan, seconds);
      return;
    }
    if (this.#options.signal.aborted) return;
    // Nobody of the group is on a node after all, so there is nothing that the room would complete.
    if (plan.gang?.started === false && !plan.gang.incomplete) {
      for (const { placement } of failures) this.#options.claims.drop(placement.pod.uid, 'repair');
    }
    const { status } = failures[0]!;
    logger.warn('could not bind', {
      entity: plan.entity.key,
      failed: failures.map(({ placement }) => placement.pod.name).join(','),
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
    const { cluster, clock, queue, refusals, router } = this.#options;
    const { status } = failures[0]!;
    // As they are where they are taken to be: labels may have changed since they were planned.
    const left = failures.map(({ placement: { pod } }) => (cluster.isAssumed(pod.uid) ? cluster.pod(pod.uid)! : pod));
    // Also when it is the scheduler that gives up: what a plugin has reserved outside would outlive it.
    for (const { placement } of failures.toReversed()) {
      plan.profile.unreserve(placement.state, placement.pod, placement.nodeName);
      cluster.forget(placement.pod);
    }
    if (this.#options.signal.aborted) return;
    for (const { placement, status: refused, isBySibling = false } of failures) {
      if (refused.code !== 'Error' || isBySibling) continue;
      refusals.failed(placement.pod.uid, placement.nodeName, plannedTogether(plan));
    }
    if (plan.gang?.incomplete === true) {
      this.#keepRoom(plan.gang, failures);
      this.#options.partial.repairBegins(plan.gang.key);
    }
    this.#comeBack(plan, failures);
    for (const [index, { placement }] of failures.entries()) {
      const { pod, nodeName } = placement;
      // As it is now: its label may name another group than when it was planned, which has one member more to place.
      const current = cluster.pod(pod.uid) ?? pod;
      router.podChanged(current, 'BindingFailed', clock.now(), current.podGroupKey !== pod.podGroupKey);
      // Room that is kept for it is free when it is no longer kept.
      if (cluster.claimOf(pod.uid)?.nodeName !== nodeName) queue.moveOnEvent(roomFreed(left[index]!, nodeName));
    }
    // Those that came meanwhile may start it now, also if none of the plan is left in it.
    if (plan.gang !== undefined) router.groupChanged(plan.gang.key, 'BindingFailed', clock.now());
    this.#tell(plan, failures, status);
  }

  #tellScheduled({ entity, gang, placements }: BindingPlan, seconds: number): void {
    const { events, logger } = this.#options;
    const nodes = new Set(placements.map(({ nodeName }) => nodeName));
    logger.info('scheduled', {
      entity: entity.key,
      attempts: entity.attempts,
      pods: placements.length,
      ...(nodes.size === 1 ? { node: placements[0]!.nodeName } : { nodes: nodes.size }),
      seconds: Math.round(seconds * 1000) / 1000,
    });
    const members = placements.map(({ pod }) => pod);
    const event = gang && groupScheduled(gang, members, nodes.size);
    if (event !== undefined) events.record(event);
  }

  /**
   * Others of the gang are bound and cannot be moved, so nobody may take the room of those that are not, while the gang
   * backs off. Not for ever: the node itself may be what refuses them.
   */
  #keepRoom({ key }: GangView, failures: readonly BindingFailure[]): void {
    const { cluster, claims } = this.#options;
    for (const { placement } of failures) {
      const claimant = cluster.openPod(placement.pod.uid);
      if (claimant?.podGroupKey !== key || cluster.node(placement.nodeName)?.isLost !== false) continue;
      claims.keep([{ kind: 'repair', claimant, nodeName: placement.nodeName }], repairClaimMs);
    }
  }

  /**
   * Queues again what the plan did not bind, with its history, as what it is queued now: others of its group may have made the quorum meanwhile,
   * or lost it.
   */
  #comeBack({ entity, profile, placements: [first] }: BindingPlan, failures: readonly BindingFailure[]): void {
    const { cluster, queue } = this.#options;
    const failure = { refusedBy: new Set([failures[0]!.status.plugin]), refusedPods: [], error: true };
    const { podGroupKey } = first!.pod;
    const gang = podGroupKey === undefined || profile.gangPolicy === undefined ? undefined : cluster.gang(podGroupKey);
    if (gang?.spec !== undefined && gang.missing > 0) {
      if (gang.pending.size > 0) queue.comeBack({ kind: 'gang', gang }, entity, failure);
      return;
    }
    for (const { placement } of failures) {
      const pod = cluster.openPod(placement.pod.uid);
      if (pod !== undefined && pod.podGroupKey === podGroupKey) queue.comeBack({ kind: 'pod', pod }, entity, failure);
    }
  }

  /** All members of a group that wait hear of it: those that are not needed for the quorum wait for it too. */
  #tell({ gang }: BindingPlan, failures: readonly BindingFailure[], status: Status): void {
    const failed = failures.flatMap(({ placement }) => this.#options.cluster.openPod(placement.pod.uid) ?? []);
    const pods = failed.length > 0 && gang !== undefined && gang.missing > 0 ? [...gang.pending.values()] : failed;
    const isNamed = gang === undefined || status.message.startsWith(`PodGroup ${gang.key} `);
    const subject = isNamed ? '' : `PodGroup ${gang.key}: `;
    const isError = status.code === 'Error';
    this.#options.verdicts.report(
      pods,
      {
        reason: isError ? 'SchedulerError' : 'Unschedulable',
        message: `${subject}${status.message}.`,
        waitsFor: isError ? 'error' : 'permit',
      },
      gang,
    );
  }
}

/** uids of those for whom nodes are chosen together when the plan has failed: members of it that are still under way are planned again as well. */
function* plannedTogether({ placements, gang }: BindingPlan): Iterable<string> {
  for (const { pod } of placements) yield pod.uid;
  if (gang !== undefined) yield* gang.pending.keys();
}
