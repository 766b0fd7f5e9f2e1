import type { Pod } from '../../../api/pod.ts';
import { mustRespect } from '../../../cluster/claim.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { FilterPlugin, Profile } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';

/**
 * Filter on a node where others keep room: the pod must fit both as things are and with the claimants that it has to respect
 * already there, because they may come or not (kube-scheduler's rule for nominated pods).
 */
export function filterBesideClaims(
  profile: Profile,
  filters: readonly FilterPlugin[],
  state: CycleState,
  pod: Pod,
  node: NodeInfo,
  hasNoClaim: (uid: string) => boolean,
): Status | undefined {
  const status = profile.filter(filters, state, pod, node);
  if (status !== undefined || node.claims.size === 0) return status;
  const claimants = [...node.claims.values()]
    .filter((claim) => mustRespect(pod, claim) && !hasNoClaim(claim.claimant.uid))
    .map(({ claimant }) => claimant);
  if (claimants.length === 0) return undefined;
  let failure: Status | undefined;
  const there: Pod[] = [];
  for (const claimant of claimants) {
    if (failure !== undefined) break;
    node.addPod(claimant);
    there.push(claimant);
    failure = profile.preFilters.addPod(state, pod, claimant, node);
  }
  const besides = failure ?? profile.filter(filters, state, pod, node);
  for (const claimant of there.reverse()) {
    node.removePod(claimant);
    failure ??= profile.preFilters.removePod(state, pod, claimant, node);
  }
  return failure ?? besides;
}
