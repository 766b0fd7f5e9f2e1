import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { MemberCounts } from '../../api/timeline/transition.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { EntityKey, EntityState as QueueState } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';

/** Returns the state of a group. `queueKey`: its key in the queue, if the queue holds it as one entity. */
export function stateOfGroup(gang: Gang, queue: Pick<SchedulingQueue, 'get'>, queueKey: EntityKey): TimelineState {
  const { spec, countsByState: counts } = gang;
  const { planned } = counts;
  if (spec !== undefined && counts.bound + counts.stranded > 0) {
    if (!gang.started) return 'Partial';
    return gang.counted - planned >= spec.minMember ? 'Running' : 'Degraded';
  }
  if (planned > 0) return 'Starting';
  if (counts.pending + counts.gated > 0)
    return isWaiting(gang, queue.get(queueKey)?.state.kind) ? 'Waiting' : 'NotReady';
  return endOf(gang);
}

function isWaiting({ spec, counted, pending, isHeldBack }: Gang, queued: QueueState['kind'] | undefined): boolean {
  if (queued !== undefined) return queued !== 'gated';
  return spec !== undefined && pending.size > 0 && counted + pending.size >= spec.minMember && !isHeldBack;
}

/** No member is on a node or waits for one. */
function endOf(gang: Gang): TimelineState {
  const { succeeded, failed, leaving } = gang.countsByState;
  if (leaving > 0 || succeeded + failed === 0) return 'NotReady';
  return succeeded > 0 && (failed === 0 || succeeded >= (gang.spec?.minMember ?? 0)) ? 'Finished' : 'Failed';
}

/** Returns the state of a pod that is in no group, or is scheduled without regard to it. */
export function stateOfPod(pod: Pod, cluster: Pick<Cluster, 'isAssumed'>): TimelineState {
  if (isTerminal(pod)) return pod.phase === 'Succeeded' ? 'Finished' : 'Failed';
  if (pod.nodeName !== '') return 'Running';
  if (cluster.isAssumed(pod.uid)) return 'Starting';
  return pod.schedulingGates.length > 0 ? 'NotReady' : 'Waiting';
}

export function countsOf(gang: Gang): MemberCounts {
  const { members, spec, started, countsByState: counts } = gang;
  return {
    members: members.size,
    planned: counts.planned,
    bound: counts.bound + counts.stranded,
    ...(spec !== undefined && { minMember: spec.minMember }),
    started,
  };
}
