import type { Subject } from '../../api/explain/basis.ts';
import { groupKeyOf } from '../../api/group-key.ts';
import type { Pod } from '../../api/pod.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import { podSubject, subjectOfGroup } from './subjects.ts';

/** Names a group or a pod. Without a kind, a group is meant before a pod. */
export interface SubjectName {
  readonly kind?: Subject['kind'] | undefined;
  readonly source?: Subject['source'] | undefined;
  readonly namespace: string;
  readonly name: string;
}

/** What a name stands for. */
export interface Found {
  readonly subject: Subject;
  /** What the queue decides as one. */
  readonly schedulingEntity: SchedulingEntity;
  readonly gang: GangView | undefined;
  /** Undefined: the group was asked for. */
  readonly pod: Pod | undefined;
}

/** Returns undefined if the cluster cache knows neither a group nor a pod of this name. Looks at every pod if no group has it. */
export function findSubject(
  { kind, source, namespace, name }: SubjectName,
  { cluster, queue }: { readonly cluster: Cluster; readonly queue: Pick<SchedulingQueue, 'get'> },
): Found | undefined {
  if (kind !== 'Pod') {
    const sources = source === undefined ? (['scheduling.x-k8s.io', 'scheduling.k8s.io'] as const) : [source];
    for (const each of sources) {
      const key = groupKeyOf(each, namespace, name);
      const gang = cluster.gang(key);
      if (gang === undefined || (gang.spec === undefined && gang.members.size === 0)) continue;
      const schedulingEntity = { kind: 'gang' as const, gang };
      return { subject: subjectOfGroup(key, gang.spec?.uid), schedulingEntity, gang, pod: undefined };
    }
  }
  if (kind === 'PodGroup') return undefined;
  for (const pod of cluster.pods()) {
    if (pod.name !== name || pod.namespace !== namespace) continue;
    const gang = pod.podGroupKey === undefined ? undefined : cluster.gang(pod.podGroupKey);
    const isAlone = gang === undefined || queue.get(`pod/${pod.uid}`) !== undefined;
    const schedulingEntity = isAlone ? { kind: 'pod' as const, pod } : { kind: 'gang' as const, gang };
    return { subject: podSubject(pod), schedulingEntity, gang, pod };
  }
  return undefined;
}
