import type { EntityState, GangCounts } from '../../api/explain/explanation.ts';
import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { Verdict, VerdictReason } from '../../api/verdict.ts';
import type { GangView } from '../../cluster/gang-view.ts';

/** Returns the state of a group as its members show it. */
export function stateOfGang(gang: GangView): EntityState {
  const { started, spec } = gang;
  const live = gang.count('bound') + gang.count('stranded');
  const waiting = gang.count('pending') + gang.count('gated');
  if (started) {
    if (live + waiting + gang.count('planned') === 0) return gang.count('succeeded') > 0 ? 'Finished' : 'Waiting';
    return gang.counted >= (spec?.minMember ?? 0) ? 'Running' : 'Degraded';
  }
  if (live > 0) return 'Partial';
  return gang.count('planned') > 0 ? 'Starting' : 'Waiting';
}

export function stateOfPod(pod: Pod, isAssumed: boolean): EntityState {
  if (isTerminal(pod)) return 'Finished';
  if (pod.nodeName !== '') return 'Running';
  return isAssumed ? 'Starting' : 'Waiting';
}

export function countsOf(gang: GangView): GangCounts {
  return {
    minMember: gang.spec?.minMember ?? 0,
    existing: gang.members.size,
    gated: gang.count('gated'),
    bound: gang.count('bound') + gang.count('stranded'),
    ended: gang.count('succeeded') + gang.count('failed'),
  };
}

const reasons: readonly string[] = [
  'WaitingForGang',
  'WaitingForTurn',
  'Unschedulable',
  'SchedulerError',
] satisfies VerdictReason[];

/** Returns the verdict that the pod's condition shows; undefined: it shows none of a scheduler like this one. */
export function shownVerdict({ podScheduled }: Pod): Pick<Verdict, 'reason' | 'message'> | undefined {
  if (podScheduled?.status !== 'False' || !reasons.includes(podScheduled.reason)) return undefined;
  return { reason: podScheduled.reason as VerdictReason, message: podScheduled.message };
}
