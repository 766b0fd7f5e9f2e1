import type { Pod } from '../../api/pod.ts';
import { roomFreed } from '../../framework/cluster-event.ts';
import type { Intake } from '../intake/intake.ts';
import type { Recovery } from '../recovery/recovery.ts';
import type { BindingFailure, BindingPlan } from './binding-plan.ts';

export interface FailedBindingsOptions {
  readonly intake: Pick<Intake, 'clock' | 'cluster' | 'queue' | 'router' | 'verdicts'>;
  readonly recovery: Pick<Recovery, 'claims' | 'partial' | 'refusals'>;
  /** Once aborted, only `undo` runs: the scheduler has stopped, and nothing is queued again. */
  readonly signal: AbortSignal;
}

/** Members of one plan that could not be bound. Others of the plan may still be binding. */
interface Failed {
  readonly plan: BindingPlan;
  readonly failures: readonly BindingFailure[];
  /** The failed pods as the cache had them on their nodes. Their labels may have changed since the plan was made. */
  readonly onNodes: readonly Pod[];
}

/** How long capacity is reserved for a member that could not be bound. */
const repairClaimMs = 30_000;

/**
 * What follows when members of a plan cannot be bound: they give their capacity back, and their group is queued again. If other members of
 * the group are bound, the group goes before everything else of its priority.
 *
 * The steps run in this order, in one synchronous call:
 * 1. `undo` takes the members off their nodes. Every later step reads the cache, and must see it without them.
 * 2. `countRejections` and
 * 3. `reserve` come before the queue changes: an entity that the queue wakes must already find the nodes avoided and the capacity reserved.
 * 4. `requeue` puts the plan's own entity back, with its history. It comes before the router, which would otherwise create a new entity
 *    without that history.
 * 5. `route` brings the rest of the queue up to date, and wakes entities for the capacity that is really free.
 * 6. `report` comes last. It starts writes to the API, and they must describe a queue that is complete.
 */
export class FailedBindings {
  readonly #options: FailedBindingsOptions;

  constructor(options: FailedBindingsOptions) {
    this.#options = options;
  }

  handle(plan: BindingPlan, failures: readonly BindingFailure[]): void {
    const { cluster } = this.#options.intake;
    const onNodes = failures.map(({ placement: { pod } }) =>
      cluster.isAssumed(pod.uid) ? cluster.pod(pod.uid)! : pod,
    );
    const failed = { plan, failures, onNodes };
    this.#undo(failed);
    if (this.#options.signal.aborted) return;
    this.#countRejections(failed);
    this.#reserve(failed);
    this.#requeue(failed);
    this.#route(failed);
    this.#report(failed);
  }

  /** Also when the scheduler stops: what a plugin has reserved outside the process would outlive it. */
  #undo({ plan, failures }: Failed): void {
    const { cluster } = this.#options.intake;
    for (const { placement } of failures.toReversed()) {
      plan.profile.unreserve(placement.state, placement.pod, placement.nodeName);
      cluster.forget(placement.pod);
    }
  }

  #countRejections({ plan, failures }: Failed): void {
    for (const { placement, status, isBySibling = false } of failures) {
      if (status.code !== 'Error' || isBySibling) continue;
      this.#options.recovery.refusals.failed(placement.pod.uid, placement.nodeName, plannedTogether(plan));
    }
  }

  /**
   * Other members of the gang are bound and keep their nodes, so the capacity of the failed members is reserved while the gang backs off. The
   * reservation expires, because the node itself may be what rejects them.
   */
  #reserve({ plan: { gang }, failures }: Failed): void {
    if (gang?.incomplete !== true) return;
    const { cluster } = this.#options.intake;
    const { claims, partial } = this.#options.recovery;
    for (const { placement } of failures) {
      const claimant = cluster.openPod(placement.pod.uid);
      if (claimant?.podGroupKey !== gang.key || cluster.node(placement.nodeName)?.isLost !== false) continue;
      claims.keep([{ kind: 'repair', claimant, nodeName: placement.nodeName }], repairClaimMs);
    }
    partial.repairBegins(gang.key);
  }

  /**
   * The entity comes back as what it is now: other members may have completed the quorum in the meantime, or the group may have lost it.
   */
  #requeue({ plan: { entity, profile, placements }, failures }: Failed): void {
    const { cluster, queue } = this.#options.intake;
    const failure = { refusedBy: new Set([failures[0]!.status.plugin]), refusedPods: [], error: true };
    const { podGroupKey } = placements[0]!.pod;
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

  #route({ plan: { gang }, failures, onNodes }: Failed): void {
    const { clock, cluster, queue, router } = this.#options.intake;
    for (const [index, { placement }] of failures.entries()) {
      const { pod, nodeName } = placement;
      // A new label may name another group, which then has one more member to place.
      const current = cluster.pod(pod.uid) ?? pod;
      router.podChanged(current, 'BindingFailed', clock.now(), current.podGroupKey !== pod.podGroupKey);
      // Reserved capacity is free when the reservation ends.
      if (cluster.claimOf(pod.uid)?.nodeName !== nodeName) queue.moveOnEvent(roomFreed(onNodes[index]!, nodeName));
    }
    // Members that arrived in the meantime may start the group now, even if no member of the plan is left in it.
    if (gang !== undefined) router.groupChanged(gang.key, 'BindingFailed', clock.now());
  }

  /** While the group misses members, every waiting member gets the verdict: those beyond the quorum wait for it, too. */
  #report({ plan: { gang }, failures }: Failed): void {
    const { cluster, verdicts } = this.#options.intake;
    const { status } = failures[0]!;
    const failed = failures.flatMap(({ placement }) => cluster.openPod(placement.pod.uid) ?? []);
    const pods = failed.length > 0 && gang !== undefined && gang.missing > 0 ? [...gang.pending.values()] : failed;
    const isNamed = gang === undefined || status.message.startsWith(`PodGroup ${gang.key} `);
    const subject = isNamed ? '' : `PodGroup ${gang.key}: `;
    const isError = status.code === 'Error';
    verdicts.report(
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

/** uids of the pods for which nodes are chosen together after the failure: members that are still binding are planned again as well. */
function* plannedTogether({ placements, gang }: BindingPlan): Iterable<string> {
  for (const { pod } of placements) yield pod.uid;
  if (gang !== undefined) yield* gang.pending.keys();
}
