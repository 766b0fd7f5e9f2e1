import type { QueueItem } from '../../../api/explain/lists.ts';
import type { Subject } from '../../../api/explain/basis.ts';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import type { QueuedEntity } from '../../../queue/queued-entity.ts';
import { podSubject, subjectOfGroup } from '../../../scheduler/explain/subjects.ts';
import type { SchedulerCore } from '../../../scheduler/scheduler-core.ts';

/**
 * Returns the entities of a core that has begun, but has attempted none: those that are ready in the order of QueueSort, then the others. Whether
 * the last attempt of the real scheduler failed is read from the condition of a pod.
 */
export function queueOfCore({ queue }: Pick<SchedulerCore, 'queue'>): readonly QueueItem[] {
  const gated = [...queue.entities()].filter(({ state }) => state.kind === 'gated');
  return [
    ...queue.inOrder().map((entity, index) => ({ position: index + 1, ...itemOf(entity) })),
    ...gated.map(itemOf),
  ];
}

function itemOf({ schedulingEntity, state, sortKey }: QueuedEntity): QueueItem {
  const condition = firstPodOf(schedulingEntity)?.podScheduled;
  const verdict = condition?.status === 'False' ? condition : undefined;
  const message = verdict?.message ?? (state.kind === 'gated' ? state.status.message : '');
  return {
    subject: subjectOf(schedulingEntity),
    state: state.kind === 'gated' ? 'gated' : verdict?.reason === 'Unschedulable' ? 'unschedulable' : 'active',
    priority: sortKey.priority,
    rejectedBy: [],
    ...(message !== '' && { message }),
  };
}

function subjectOf(schedulingEntity: SchedulingEntity): Subject {
  if (schedulingEntity.kind === 'pod') return podSubject(schedulingEntity.pod);
  const { key, spec } = schedulingEntity.gang;
  return subjectOfGroup(key, spec?.uid);
}

function firstPodOf(
  schedulingEntity: SchedulingEntity,
): { readonly podScheduled: QueuedCondition | undefined } | undefined {
  return schedulingEntity.kind === 'pod' ? schedulingEntity.pod : schedulingEntity.gang.pending.values().next().value;
}

interface QueuedCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
