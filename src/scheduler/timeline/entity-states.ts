import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { MemberCounts } from '../../api/timeline/transition.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { EntityState as QueueState } from '../../queue/queued-entity.ts';

/** Returns the state of a group. `queued`: returns how the queue holds it as one entity; undefined: it does not. Only called if that matters. */
export function stateOfGroup(gang: GangView, queued: () => QueueState['kind'] | undefined): TimelineState {
  const { spec, started, counted } = gang;
  const live = gang.count('bound') + gang.count('stranded');
  const planned = gang.count('planned');
  const waiting = gang.pending.size + gang.count('gated');
  if (spec !== undefined && live > 0) {
    if (!started) return 'Partial';
    return counted - planned >= spec.minMember ? 'Running' : 'Degraded';
  }
  if (planned > 0) return 'Starting';
  if (waiting > 0) return isWaiting(gang, queued()) ? 'Waiting' : 'NotReady';
  return endOf(gang);
}

function isWaiting({ spec, counted, pending, isHeldBack }: GangView, queued: QueueState['kind'] | undefined): boolean {
  if (queued !== undefined) return queued !== 'gated';
  return spec !== undefined && pending.size > 0 && counted + pending.size >= spec.minMember && !isHeldBack;
}

/** No member is on a node or waits for one. */
function endOf(gang: GangView): TimelineState {
  const succeeded = gang.count('succeeded');
  const failed = gang.count('failed');
  if (gang.count('leaving') > 0 || succeeded + failed === 0) return 'NotReady';
  return succeeded > 0 && (failed === 0 || succeeded >= (gang.spec?.minMember ?? 0)) ? 'Finished' : 'Failed';
}

/** Returns the state of a pod that is in no group, or is scheduled without regard to it. */
export function stateOfPod(pod: Pod, isAssumed: boolean): TimelineState {
  if (isTerminal(pod)) return pod.phase === 'Succeeded' ? 'Finished' : 'Failed';
  if (pod.nodeName !== '') return 'Running';
  if (isAssumed) return 'Starting';
  return pod.schedulingGates.length > 0 ? 'NotReady' : 'Waiting';
}

export function countsOf(gang: GangView): MemberCounts {
  const { members, spec, started } = gang;
  return {
    members: members.size,
    planned: gang.count('planned'),
    bound: gang.count('bound') + gang.count('stranded'),
    ...(spec !== undefined && { minMember: spec.minMember }),
    started,
  };
}
