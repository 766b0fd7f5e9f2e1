import type { ConditionState } from '../../api/condition.ts';
import { initiallyScheduled } from '../../api/native-pod-group.ts';
import type { NativePodGroup } from '../../api/native-pod-group.ts';
import { isBoundForAnother } from '../../api/pod.ts';
import type { MemberPod } from '../member-pod.ts';
import { firstUnbound, hasQuorum, tallyOf } from '../member-tally.ts';

/** Reasons of a member's verdict that the group repeats, those of kube-scheduler. The others mean that the member only waits. */
const failures: ReadonlySet<string> = new Set(['Unschedulable', 'SchedulerError']);

/**
 * Derives the condition PodGroupInitiallyScheduled from the pods that name the group in spec.schedulingGroup:
 * - True, Scheduled: the quorum of a gang, or one pod of a basic group, is bound or has succeeded.
 * - False, Unschedulable or SchedulerError: the verbatim verdict of the unbound member with the lowest uid.
 * - False, Unschedulable: some members are bound, fewer than the quorum, and no Binding is recent. This shows a new scheduler that the gang
 *   has not started, so that it may release those members.
 *
 * Undefined, so nothing is to be written: the members only wait, as kube-scheduler then writes nothing; there is no pod; or a pod has
 * another schedulerName, so the group is not, or not only, Tutti's. `isBinding`: a Binding is so recent that more may follow.
 */
export function deriveInitiallyScheduled(
  group: NativePodGroup,
  pods: readonly MemberPod[],
  schedulerNames: ReadonlySet<string>,
  isBinding: boolean,
): ConditionState | undefined {
  if (pods.length === 0 || pods.some(({ schedulerName }) => !schedulerNames.has(schedulerName!))) return undefined;
  // kube-apiserver 1.37 gives these groups no generation.
  const { generation } = group;
  const state = { type: initiallyScheduled, ...(generation > 0 && { observedGeneration: generation }) };
  const members = pods.filter((pod) => isMember(pod, group));
  const tally = tallyOf(members);
  const { minCount = 1 } = group;
  if (hasQuorum(members, tally, minCount)) return { ...state, status: 'True', reason: 'Scheduled', message: '' };
  const verdict = firstUnbound(members)?.podScheduled;
  if (verdict?.status === 'False' && failures.has(verdict.reason)) {
    return { ...state, status: 'False', reason: verdict.reason, message: verdict.message };
  }
  if (tally.bound === 0 || isBinding) return undefined;
  const message = `${tally.bound} of the ${minCount} pods that it needs are bound`;
  return { ...state, status: 'False', reason: 'Unschedulable', message };
}

/** A pod that is in another group by its label is bound for that group. It may be in a basic group too, but in no second gang. */
function isMember(pod: MemberPod, { uid, minCount }: NativePodGroup): boolean {
  return pod.groupKey === undefined ? !isBoundForAnother(pod, uid) : minCount === undefined;
}
