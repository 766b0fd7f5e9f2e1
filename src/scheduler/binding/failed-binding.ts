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
  readonly intake: Pick<Intake, 'clock' | 'cluster' | 'queue' | 'router' | 'verdicts'>;
  readonly recovery: Pick<Recovery, 'reservations' | 'partial' | 'rejections'>;
}

interface FailedBindingStep {
  readonly step: (failed: FailedBinding, parts: FailedBindingParts) => void;
  /** Also when the binding failed because the scheduler stops. */
  readonly evenWhenStopped?: boolean;
}

/**
 * What a failed binding leads to, in this order. Each step sees what the steps before it did:
 * 1. `undo`: the members leave their nodes. What a plugin has reserved outside would outlive a scheduler that stops.
 * 2. `countRejections`: the nodes that rejected count, before anything chooses a node for these members again.
 * 3. `keepCapacity`: a partially bound gang reserves the freed capacity, before step 5 or 6 can wake an entity that wants it.
 * 4. `requeue`: the queue takes back what was not bound, with its attempts and its error, before the router would add it as new.
 * 5. `wakeOthers`: the router looks at each pod again, and the queue wakes what waits for capacity that step 3 has not reserved.
 * 6. `rereadGroup`: the router looks at the group, because members that arrived meanwhile may start it.
 * 7. `report`: the verdict comes last, because steps 4 to 6 decide which members of the group still wait.
 */
export const failedBindingSteps: readonly FailedBindingStep[] = [
  { step: undo, evenWhenStopped: true },
  { step: countRejections },
  { step: keepCapacity },
  { step: requeue },
  { step: wakeOthers },
  { step: rereadGroup },
  { step: report },
];

/** How long capacity is reserved for a member that could not be bound. */
const repairReservationMs = 30_000;

function undo({ plan, failures }: FailedBinding, { intake: { cluster } }: FailedBindingParts): void {
  for (const { assignment } of failures.toReversed()) {
    plan.profile.unreserve(assignment.state, assignment.pod, assignment.nodeName);
    cluster.forget(assignment.pod);
  }
}

function countRejections({ plan, failures }: FailedBinding, { recovery: { rejections } }: FailedBindingParts): void {
  for (const { assignment, status, isBySibling = false } of failures) {
    if (status.code !== 'Error' || isBySibling) continue;
    rejections.failed(assignment.pod.uid, assignment.nodeName, plannedTogether(plan));
  }
}

/** uids of the pods that get nodes together after the plan has failed: members of it that are still being bound are planned again too. */
function* plannedTogether({ assignments, gang }: BindingPlan): Iterable<string> {
  for (const { pod } of assignments) yield pod.uid;
  if (gang !== undefined) yield* gang.pending.keys();
}

/**
 * The bound members of the gang cannot be moved, so the capacity that the others need is reserved while the gang backs off. The reservation
 * expires, because the node itself may be what rejects them.
 */
function keepCapacity({ plan, failures }: FailedBinding, { intake, recovery }: FailedBindingParts): void {
  const { cluster } = intake;
  const { reservations, partial } = recovery;
  if (plan.gang?.incomplete !== true) return;
  const { key } = plan.gang;
  for (const { assignment } of failures) {
    const owner = cluster.openPod(assignment.pod.uid);
    if (owner?.podGroupKey !== key || cluster.node(assignment.nodeName)?.isLost !== false) continue;
    reservations.keep([{ kind: 'repair', owner, nodeName: assignment.nodeName }], repairReservationMs);
  }
  partial.repairBegins(key);
}

/** As the entity that it belongs to now: other members may have completed the quorum meanwhile, or lost it. */
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
    // Its label may name another group than when it was planned. That group has one more member to place.
    const current = cluster.pod(pod.uid) ?? pod;
    router.podChanged(current, 'BindingFailed', clock.now(), current.podGroupKey !== pod.podGroupKey);
    if (cluster.reservationOf(pod.uid)?.nodeName !== nodeName)
      queue.moveOnEvent(capacityFreed(assumed[index]!, nodeName));
  }
}

function rereadGroup({ plan }: FailedBinding, { intake: { router, clock } }: FailedBindingParts): void {
  if (plan.gang !== undefined) router.groupChanged(plan.gang.key, 'BindingFailed', clock.now());
}

/** All waiting members of a group below its quorum get the verdict, also those that the quorum does not need. */
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
