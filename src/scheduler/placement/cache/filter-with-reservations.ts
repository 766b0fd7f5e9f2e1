import type { Pod } from '../../../api/pod.ts';
import { mustRespect } from '../../../cluster/reservation.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { FilterPlugin, Profile } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';

/**
 * Filter on a node where others keep room: the pod must fit both as things are and with the claimants that it has to respect
 * already there, because they may come or not (kube-scheduler's rule for nominated pods).
 */
export function filterWithReservations(
  profile: Profile,
  filters: readonly FilterPlugin[],
  state: CycleState,
  pod: Pod,
  node: NodeInfo,
  hasNoReservation: (uid: string) => boolean,
): Status | undefined {
  const status = profile.filter(filters, state, pod, node);
  if (status !== undefined || node.reservations.size === 0) return status;
  const owners = [...node.reservations.values()]
    .filter((reservation) => mustRespect(pod, reservation) && !hasNoReservation(reservation.owner.uid))
    .map(({ owner }) => owner);
  if (owners.length === 0) return undefined;
  let failure: Status | undefined;
  const there: Pod[] = [];
  for (const owner of owners) {
    if (failure !== undefined) break;
    node.addPod(owner);
    there.push(owner);
    failure = profile.preFilters.addPod(state, pod, owner, node);
  }
  const besides = failure ?? profile.filter(filters, state, pod, node);
  for (const owner of there.reverse()) {
    node.removePod(owner);
    failure ??= profile.preFilters.removePod(state, pod, owner, node);
  }
  return failure ?? besides;
}
