/**
 * What happened to a pod group or a pod. A kind tells the cause; the state that follows stands beside it (`Transition.state`).
 *
 * As the API shows it:
 * - `Added`: the group, or a pod, was created; or a pod joined the group. `Removed`: the same, deleted, or left. With the state `Gone`, nothing is left.
 * - `Changed`: the group or a pod of it has changed in a way that no other kind names: another minMember, gates, a node that is lost or back.
 * - `Ready`: with this change, the entity can be scheduled: enough members exist, and no gate keeps them back.
 * - `Bound`: a pod was bound to `node`. `Started`: the same, and with it the quorum is bound. `Repaired`: the same, and a group that had started has
 *   its quorum again.
 * - `Terminating`: a pod on a node is being deleted. `Succeeded`, `Failed`: a pod has ended.
 * - `Lost`: a member has left its node without having succeeded: it failed, or is gone.
 *
 * As the scheduler decides it:
 * - `Rejected`: an attempt found no nodes. `waitsFor` and `reason` say why.
 * - `Planned`: an attempt found nodes for all members that it needs; they are being bound. `node` is set if there is only one.
 * - `BindingFailed`: planned members are not bound after all: a plugin rejected them, the API server did, or the plan was given up. Nothing of
 *   them was bound, also if that became known only by reading the pods again.
 * - `Reserved`: capacity is kept for it; `reason` is the kind of the reservation. `ReservationEnded`: no longer.
 * - `Preempted`: a pod of it is evicted for the entity `by`.
 * - `Released`: the scheduler evicts the bound members of a partially bound group that it cannot complete.
 *
 * - `Unknown`: the server is newer than the client and gave a kind that is not in this list.
 */
export const transitionKinds = [
  'Added',
  'Changed',
  'Ready',
  'Rejected',
  'Planned',
  'BindingFailed',
  'Bound',
  'Started',
  'Repaired',
  'Terminating',
  'Succeeded',
  'Failed',
  'Lost',
  'Reserved',
  'ReservationEnded',
  'Preempted',
  'Released',
  'Removed',
  'Unknown',
] as const;

export type TransitionKind = (typeof transitionKinds)[number];
