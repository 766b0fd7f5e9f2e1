/**
 * The state of a pod:
 * - `queued`: the scheduler has not tried the pod yet, or will retry it at once.
 * - `rejected`: the pod waits for an event, the end of its backoff, or a PreEnqueue plugin. `plugins` rejected the pod or its group.
 * - `waiting`: the pod has a node, and `plugins` make it wait at Permit.
 * - `binding`: the pod has a node, and PreBind or Bind is running.
 * - `bound`: the pod is bound.
 * - `unknown`: the pod does not exist or belongs to another scheduler.
 */
export type PodState =
  | { readonly kind: 'queued' }
  | { readonly kind: 'rejected'; readonly plugins: readonly string[]; readonly message: string }
  | { readonly kind: 'waiting'; readonly nodeName: string; readonly plugins: readonly string[] }
  | { readonly kind: 'binding'; readonly nodeName: string }
  | { readonly kind: 'bound'; readonly nodeName: string }
  | { readonly kind: 'unknown' };

/** Returns the predicate of a sentence about the pod. */
export function describePodState(state: PodState): string {
  switch (state.kind) {
    case 'queued':
      return 'is queued';
    case 'rejected':
      return `is rejected by ${state.plugins.join(', ') || 'no plugin'}: ${state.message}`;
    case 'waiting':
      return `waits for ${state.plugins.join(', ')} at Permit on node ${state.nodeName}`;
    case 'binding':
      return `is being bound to ${state.nodeName}`;
    case 'bound':
      return `is bound to ${state.nodeName}`;
    case 'unknown':
      return 'does not exist, or has another schedulerName';
  }
}
