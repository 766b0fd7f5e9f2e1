import { HiddenClusterError } from '../../compose/cluster-state/hidden-cluster-error.ts';
import { loadClusterState } from '../../compose/cluster-state/load-cluster-state.ts';
import type { ClusterState, ClusterStateOptions } from '../../compose/cluster-state/load-cluster-state.ts';

/** What an answer can rest on without the scheduler. */
export type ClusterSource =
  | ({ readonly kind: 'api' } & ClusterState)
  /** `why`: a sentence that says why it is not the cluster state; absent if the user has chosen it. */
  | { readonly kind: 'conditions'; readonly why?: string };

/**
 * Loads the cluster state, or falls back to the conditions of the objects if the caller may not list nodes and pods. With `api` it rejects
 * with HiddenClusterError instead.
 */
export async function openClusterSource(
  source: 'auto' | 'api' | 'conditions',
  options: ClusterStateOptions,
): Promise<ClusterSource> {
  if (source === 'conditions') return { kind: 'conditions' };
  try {
    return { kind: 'api', ...(await loadClusterState(options)) };
  } catch (error) {
    if (source === 'api' || !(error instanceof HiddenClusterError)) throw error;
    return { kind: 'conditions', why: `Only the conditions of the objects are known: ${error.message}.` };
  }
}
