import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import { isLostTo } from '../../cluster/lost-node.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { BindingPlan, NodeAssignment } from './binding-plan.ts';

/**
 * Is a placement still what its plan meant? The pod is there and assumed on its node; its group is the one that it was planned for, of a
 * member beyond the quorum too; and of a group that has not started as many members are bound or planned as it needs, so that none is bound
 * that may stay alone. `lost`: placements that have failed although the picture may still say that they are planned. Undefined: yes; else why not.
 */
export function stillHolds(
  cluster: Cluster,
  {
    gang,
    groupSpec,
    profile,
  }: Pick<BindingPlan, 'gang' | 'groupSpec'> & { readonly profile: Pick<Profile, 'gangPolicy'> },
  { pod, nodeName }: Pick<NodeAssignment, 'pod' | 'nodeName'>,
  lost: Iterable<Pick<NodeAssignment, 'pod'>> = [],
): Status | undefined {
  const known = cluster.pod(pod.uid);
  if (known === undefined || !cluster.isAssumed(pod.uid))
    return rejected(`pod ${pod.key} was deleted or bound elsewhere`);
  if (known.deleting) return rejected(`pod ${pod.key} is being deleted`);
  if (known.podGroupKey !== pod.podGroupKey) return rejected(`pod ${pod.key} has left its PodGroup`);
  const node = cluster.node(nodeName);
  if (node?.pods.has(pod.uid) !== true) return rejected(`node ${nodeName} is gone`);
  if (node.isLost && isLostTo(pod, node.node)) return rejected(`node ${nodeName} is not ready`);
  const key = known.podGroupKey;
  if (key === undefined || profile.gangPolicy === undefined) return undefined;
  const group = gang ?? cluster.gang(key);
  const { spec, started = false } = group ?? {};
  if (spec === undefined) return rejected(`PodGroup ${key} was deleted`);
  if (spec.uid !== groupSpec?.uid) return rejected(`PodGroup ${key} was deleted and made again`);
  const counted = (group?.counted ?? 0) - countOf(lost, group);
  if (started || counted >= spec.minMember) return undefined;
  return rejected(`PodGroup ${key} has only ${counted} of the ${spec.minMember} members it needs bound or planned`);
}

/** How many of them the group counts, because they are said to be planned. */
function countOf(lost: Iterable<Pick<NodeAssignment, 'pod'>>, group: GangView | undefined): number {
  let count = 0;
  for (const { pod } of lost) if (group?.stateOf(pod.uid) === 'planned') count++;
  return count;
}

function rejected(reason: string): Status {
  return new Status('Unschedulable', reason);
}
