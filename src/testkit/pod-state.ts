/**
 * What has become of a pod:
 * - `queued`: it has not been tried, or is to be tried again at once.
 * - `rejected`: it waits for an event, a back-off, or whatever a PreEnqueue wants. `plugins` rejected it, or its group.
 * - `waiting`: it has a node, and `plugins` hold it at Permit.
 * - `binding`: it has a node, and PreBind or Bind have not ended.
 * - `bound`.
 * - `unknown`: there is no such pod, or it is not this scheduler's.
 */
export type PodState =
  | { readonly kind: 'queued' }
  | { readonly kind: 'rejected'; readonly plugins: readonly string[]; readonly message: string }
  | { readonly kind: 'waiting'; readonly nodeName: string; readonly plugins: readonly string[] }
  | { readonly kind: 'binding'; readonly nodeName: string }
  | { readonly kind: 'bound'; readonly nodeName: string }
  | { readonly kind: 'unknown' };

/** As it follows "the pod". */
export function describePodState(state: PodState): string {
  switch (state.kind) {
    case 'queued':
      return 'is queued';
    case 'rejected':
      return `is rejected by ${state.plugins.join(', ') || 'no plugin'}: ${state.message}`;
    case 'waiting':
      return `waits for ${state.plugins.join(', ')} at Permit, on node ${state.nodeName}`;
    case 'binding':
      return `is being bound to ${state.nodeName}`;
    case 'bound':
      return `is bound to ${state.nodeName}`;
    case 'unknown':
      return 'is not there, or names another scheduler';
  }
}
