import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Profile } from '../../../framework/profile.ts';
import { filterWithReservations } from '../cache/filter-with-reservations.ts';

/**
 * The nodes that a pod may come to run on as things are: PreFilter and Filter, no ranking. For a member of a gang this is asked
 * before any of them is placed, so where plugins read other pods and nodes their word is left aside: siblings may change it. Empty
 * when nothing is to be had. Throws what a plugin fails with.
 */
export function feasibleNodes(
  cluster: Cluster,
  profile: Profile,
  pod: Pod,
  groupState: CycleState | undefined,
): readonly NodeInfo[] {
  const state = new CycleState(groupState);
  const answer = profile.preFilter(state, pod);
  if (answer.status !== undefined && !answer.mayChange) return [];
  const nodeNames = answer.status !== undefined || answer.mayChange ? undefined : answer.nodeNames;
  const isAlone = groupState === undefined;
  const { localFilters, otherFilters } = profile;
  const hasNoReservation = (uid: string): boolean => cluster.isAssumed(uid);
  return cluster.nodes.filter(
    (node) =>
      nodeNames?.has(node.name) !== false &&
      filterWithReservations(profile, localFilters, state, pod, node, hasNoReservation) === undefined &&
      (!isAlone || filterWithReservations(profile, otherFilters, state, pod, node, hasNoReservation) === undefined),
  );
}
