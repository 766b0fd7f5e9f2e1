/**
 * State of a pod group or a pod in the timeline: those of `tutti status`, and what a picture over time needs besides.
 * - `NotReady`: it waits for members, for its PodGroup, or for scheduling gates to be removed. The scheduler does not try it.
 * - `Waiting`: it is ready, and nothing of it is planned or bound. It waits for an attempt, or for what its last rejection names.
 * - `Starting`: members are planned and are being bound. The API shows none of them bound yet.
 * - `Partial`: some members are bound, fewer than minMember, and the group never started. A group that is being bound member by member has this
 *   state for moments.
 * - `Running`: the quorum has been bound, or the pod is. `Degraded`: the group has started, but has fewer members than minMember now.
 * - `Finished`: no pod of it will run any more, and enough of them have succeeded. `Failed`: the same, and too few have.
 * - `Gone`: neither the group nor a member of it exists any more.
 * - `Unknown`: the server is newer than the client and gave a state that is not in this list.
 */
export const timelineStates = [
  'NotReady',
  'Waiting',
  'Starting',
  'Partial',
  'Running',
  'Degraded',
  'Finished',
  'Failed',
  'Gone',
  'Unknown',
] as const;

export type TimelineState = (typeof timelineStates)[number];
