import type { Pod } from '../../api/pod.ts';
import { capacityFreed } from '../../framework/cluster-event.ts';
import type { Intake } from '../intake/intake.ts';
import type { Recovery } from '../recovery/recovery.ts';
import type { BindingFailure, BindingPlan } from './binding-plan.ts';

/** The result of a binding cycle that could not bind some members of its plan. */
export interface FailedBinding {
  readonly plan: BindingPlan;
  /** At least one. */
  readonly failures: readonly BindingFailure[];
  /** The pod of each failure, as the cluster cache had it before the first step. */
  readonly assumed: readonly Pod[];
}

/** The parts of the scheduler that handle a failed binding. */
export interface FailedBindingParts {
  readonly intake: Pick<Intake, 'clock' | 'cluster' | 'groupSeen' | 'queue' | 'router' | 'timeline' | 'verdicts'>;
  readonly recovery: Pick<Recovery, 'memberLosses' | 'reservations' | 'partial' | 'rejections'>;
}

interface FailedBindingStep {
  readonly step: (failed: FailedBinding, parts: FailedBindingParts) => void;
  /** Whether the step also runs if the binding failed because the scheduler stops. */
  readonly evenWhenStopped?: boolean;
}

/**
 * The steps after a failed binding, in order. Each step sees the effects of the earlier ones:
 * 1. `undo`: releases the members from their nodes. Plugins may have reserved external resources, which would outlive a stopping scheduler.
 * 2. `recordInTimeline`: records the failure, before what the next steps do because of it.
 * 3. `countRejections`: counts the nodes that rejected a member, before any attempt chooses a node for these members again.
 * 4. `keepCapacity`: reserves the freed capacity for a partially bound gang, before step 6 or 7 can wake an entity that wants it.
 * 5. `requeue`: returns the failed members to the queue with their attempts and their error, before the router would add them as new.
 * 6. `wakeOthers`: routes each pod again and wakes entities that wait for capacity which step 4 has not reserved.
 * 7. `rereadGroup`: routes the group again, because members that arrived in the meantime may start it, and reports that it has changed.
 * 8. `report`: reports the verdict last, because steps 5 to 7 decide which members still wait.
 */
export const failedBindingSteps: readonly FailedBindingStep[] = [
  { step: undo, evenWhenStopped: true },
  { step: recordInTimeline },
  { step: countRejections },
  { step: keepCapacity },
  { step: requeue },
  { step: wakeOthers },
  { step: rereadGroup },
  { step: report },
];

function undo({ plan, failures }: FailedBinding, { intake: { cluster } }: FailedBindingParts): void {
  for (const { assignment } of failures.toReversed()) {
    plan.profile.unreserve(assignment.state, assignment.pod, assignment.nodeName);
    cluster.forget(assignment.pod);
  }
}

function recordInTimeline({ failures }: FailedBinding, { intake: { timeline } }: FailedBindingParts): void {
  timeline.bindingFailed(
    failures.map(({ assignment }) => assignment.pod),
    failures[0]!.status.message,
  );
}

function countRejections({ plan, failures }: FailedBinding, { recovery: { rejections } }: FailedBindingParts): void {
  for (const { assignment, status, isBySibling = false } of failures) {
    if (status.code !== 'Error' || isBySibling) continue;
    rejections.failed(assignment.pod.uid, assignment.nodeName, plannedTogether(plan));
  }
}

/** uids of the pods that will be planned together next: all members of the plan, including those still binding, and all pending members. */
function* plannedTogether({ assignments, gang }: BindingPlan): Iterable<string> {
  for (const { pod } of assignments) yield pod.uid;
  if (gang !== undefined) yield* gang.pending.keys();
}

/** Reserves the capacity of the failed members while the gang backs off, because its bound members cannot move. */
function keepCapacity({ plan, failures }: FailedBinding, { intake, recovery }: FailedBindingParts): void {
  const { cluster } = intake;
  const { gang } = plan;
  if (gang?.comesFirst !== true) return;
  for (const { assignment } of failures) {
    const owner = cluster.openPod(assignment.pod.uid);
    if (owner?.podGroupKey !== gang.key || cluster.node(assignment.nodeName)?.isLost !== false) continue;
    recovery.memberLosses.bindingFailed(gang, owner, assignment.nodeName);
  }
  recovery.partial.repairBegins(gang.key);
}

/** Requeues the entity that the members belong to now. The quorum may have been completed or lost in the meantime. */
function requeue({ plan, failures }: FailedBinding, { intake: { cluster, queue } }: FailedBindingParts): void {
  const { entity, profile, assignments } = plan;
  const failure = { unschedulablePlugins: new Set([failures[0]!.status.plugin]), rejectedPods: [], error: true };
  const { podGroupKey } = assignments[0]!.pod;
  const gang = podGroupKey === undefined || profile.gangPolicy === undefined ? undefined : cluster.gang(podGroupKey);
  if (gang?.spec !== undefined && gang.missing > 0) {
    if (gang.pending.size > 0) queue.comeBack({ kind: 'gang', gang }, entity, failure);
    return;
  }
  for (const { assignment } of failures) {
    const pod = cluster.openPod(assignment.pod.uid);
    if (pod !== undefined && pod.podGroupKey === podGroupKey) queue.comeBack({ kind: 'pod', pod }, entity, failure);
  }
}

function wakeOthers({ failures, assumed }: FailedBinding, { intake }: FailedBindingParts): void {
  const { cluster, queue, router, clock } = intake;
  for (const [index, { assignment }] of failures.entries()) {
    const { pod, nodeName } = assignment;
    // The pod's label may name another group since it was planned. That group has one more member to schedule.
    const current = cluster.pod(pod.uid) ?? pod;
    router.podChanged(current, 'BindingFailed', clock.now(), current.podGroupKey !== pod.podGroupKey);
    if (cluster.reservationOf(pod.uid)?.nodeName !== nodeName)
      queue.moveOnEvent(capacityFreed(assumed[index]!, nodeName));
  }
}

function rereadGroup({ plan }: FailedBinding, { intake: { router, clock, groupSeen } }: FailedBindingParts): void {
  if (plan.gang === undefined) return;
  router.groupChanged(plan.gang.key, 'BindingFailed', clock.now());
  groupSeen.emit(plan.gang.key);
}

/** Reports to all waiting members of a group below its quorum, including those beyond minMember. */
function report(
  { plan: { gang }, failures }: FailedBinding,
  { intake: { cluster, verdicts } }: FailedBindingParts,
): void {
  const { status } = failures[0]!;
  const failed = failures.flatMap(({ assignment }) => cluster.openPod(assignment.pod.uid) ?? []);
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
