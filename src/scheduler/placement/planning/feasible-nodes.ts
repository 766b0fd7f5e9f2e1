import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Profile } from '../../../framework/profile.ts';
import { filterWithReservations } from '../cache/filter-with-reservations.ts';

/**
 * Returns the nodes where a pod can run in the current cluster state: PreFilter and Filter, no ranking. For a gang member this
 * runs before any sibling is placed. It then ignores plugins that read other pods and nodes, because siblings may change their
 * verdict. Returns an empty list if no node is possible. Throws the failure of a plugin.
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
