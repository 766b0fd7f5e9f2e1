import type { Pod } from '../../../api/pod.ts';
import { mustRespect } from '../../../cluster/reservation.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { FilterPlugin, Profile } from '../../../framework/profile.ts';
import { Status } from '../../../framework/status.ts';

const none: readonly Pod[] = [];

/** End of a reason that holds only because of reservations. */
const reservedMark = ' (capacity reserved for other pods)';

/**
 * Runs Filter on a node that may have reservations of other owners. The pod must fit both with and without the owners whose
 * reservations it must respect, because those pods may or may not arrive. kube-scheduler has the same rule for nominated pods.
 */
export function filterWithReservations(
  profile: Profile,
  filters: readonly FilterPlugin[],
  state: CycleState,
  pod: Pod,
  node: NodeInfo,
  hasNoReservation: (uid: string) => boolean,
): Status | undefined {
  return (
    profile.filter(filters, state, pod, node) ??
    filterWithOwners(profile, filters, state, pod, node, ownersOn(node, pod, hasNoReservation))
  );
}

/** Returns the owners of the reservations on the node that the pod must respect. */
export function ownersOn(node: NodeInfo, pod: Pod, hasNoReservation: (uid: string) => boolean): readonly Pod[] {
  if (node.reservations.size === 0) return none;
  return [...node.reservations.values()]
    .filter((reservation) => mustRespect(pod, reservation) && !hasNoReservation(reservation.owner.uid))
    .map(({ owner }) => owner);
}

/**
 * Runs Filter as if these owners of reservations ran on the node. If only they keep the pod off the node, the reasons say so. Returns
 * undefined at once if there are none.
 */
export function filterWithOwners(
  profile: Profile,
  filters: readonly FilterPlugin[],
  state: CycleState,
  pod: Pod,
  node: NodeInfo,
  owners: readonly Pod[],
): Status | undefined {
  if (owners.length === 0) return undefined;
  // The state of other plugins stays as it is, whether or not a cached result makes this call unnecessary.
  const names = new Set(filters.map(({ name }) => name));
  let failure: Status | undefined;
  const added: Pod[] = [];
  for (const owner of owners) {
    if (failure !== undefined) break;
    node.addPod(owner);
    added.push(owner);
    failure = profile.preFilters.addPod(state, pod, owner, node, names);
  }
  const withOwners = failure ?? profile.filter(filters, state, pod, node);
  for (const owner of added.reverse()) {
    node.removePod(owner);
    failure ??= profile.preFilters.removePod(state, pod, owner, node, names);
  }
  if (failure !== undefined || withOwners === undefined) return failure;
  const { code, details, plugin, cause } = withOwners;
  const because =
    code === 'Error'
      ? details
      : details.map((reason) => ({
          ...reason,
          text: `${reason.text}${reservedMark}`,
          code: 'ReservedForOther' as const,
        }));
  return new Status(code, because, plugin, cause);
}
