import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import { isLostTo } from '../../cluster/lost-node.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { BindingPlan, NodeAssignment } from './binding-plan.ts';

/**
 * Returns why an assignment no longer matches its plan, or undefined if it still does. The pod must exist and be assumed on its node, and its
 * group must be the one that it was planned for. A plan for a started group, and for a member beyond the quorum, holds only while the group is
 * started. A group that has not started needs at least minMember bound or planned members, so that no member is bound and left alone.
 * `failed`: failed assignments that the cluster cache may still count as planned.
 */
export function stillHolds(
  cluster: Cluster,
  {
    gang,
    groupSpec,
    startsGang,
    profile,
  }: Pick<BindingPlan, 'gang' | 'groupSpec' | 'startsGang'> & { readonly profile: Pick<Profile, 'gangPolicy'> },
  { pod, nodeName }: Pick<NodeAssignment, 'pod' | 'nodeName'>,
  failed: Iterable<Pick<NodeAssignment, 'pod'>> = [],
): Status | undefined {
  const known = cluster.pod(pod.uid);
  if (known === undefined || !cluster.isAssumed(pod.uid))
    return rejected(`pod ${pod.key} was deleted or bound elsewhere`);
  if (known.deleting) return rejected(`pod ${pod.key} is being deleted`);
  if (known.podGroupKey !== pod.podGroupKey) return rejected(`pod ${pod.key} has left its PodGroup`);
  const node = cluster.node(nodeName);
  if (node?.pods.has(pod.uid) !== true) return rejected('the chosen node is gone');
  if (node.isLost && isLostTo(pod, node.node)) return rejected('the chosen node is not ready');
  const key = known.podGroupKey;
  if (key === undefined || profile.gangPolicy === undefined) return undefined;
  // Also hides an unfinished plan of the gang.
  const current = cluster.gang(key);
  const group = gang ?? current;
  const { spec, started = false } = group ?? {};
  if (spec === undefined) return rejected(`PodGroup ${key} was deleted`);
  if (spec.uid !== groupSpec?.uid) return rejected(`PodGroup ${key} was deleted and recreated`);
  if (started) return undefined;
  // Otherwise another plan would count on this one, which does not wait for it.
  if (!startsGang) return rejected(`PodGroup ${key} starts over, and its minMember members start together`);
  const counted = (group?.counted ?? 0) - countPlanned(failed, group);
  if (counted >= spec.minMember) return undefined;
  return rejected(`PodGroup ${key} has only ${counted} of the ${spec.minMember} members it needs bound or planned`);
}

/** Counts the assignments that the group counts as planned. */
function countPlanned(failed: Iterable<Pick<NodeAssignment, 'pod'>>, group: GangView | undefined): number {
  let count = 0;
  for (const { pod } of failed) if (group?.stateOf(pod.uid) === 'planned') count++;
  return count;
}

function rejected(reason: string): Status {
  return new Status('Unschedulable', reason);
}
