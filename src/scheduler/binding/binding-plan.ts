import type { GangSpec, GangView } from '../../cluster/gang.ts';
import type { Profile } from '../../framework/profile.ts';
import type { Status } from '../../framework/status.ts';
import type { WaitingPod } from '../../framework/waiting-pods.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { NodeAssignment } from '../placement/planning/planner.ts';

export type { NodeAssignment } from '../placement/planning/planner.ts';

/** What a scheduling cycle hands to the binding cycle: members that are bound together or not at all. */
export interface BindingPlan {
  readonly profile: Profile;
  readonly entity: QueuedEntity;
  readonly gang: GangView | undefined;
  /** The group, of a lone member too, as it was when this was planned; undefined: there is none. */
  readonly groupSpec: GangSpec | undefined;
  /** The group had not started when it was planned: with this plan it does. */
  readonly startsGang: boolean;
  readonly assignments: readonly NodeAssignment[];
  /** The members that a Permit plugin still holds. */
  readonly waiting: readonly WaitingPod[];
  /** Clock.monotonic() when the attempt began. */
  readonly startedAt: number;
}

/** What the binding cycle reports; it touches neither the picture nor the queue itself. */
export type BindingResult =
  /** A Binding of a plan with which its group starts is sent: others of the group may be planned. */
  | { readonly kind: 'begun'; readonly plan: BindingPlan }
  | { readonly kind: 'bound'; readonly plan: BindingPlan; readonly assignment: NodeAssignment }
  /** Members that are not bound, told as soon as that is known: all of them, or some while others still are being bound. */
  | { readonly kind: 'failed'; readonly plan: BindingPlan; readonly failures: readonly BindingFailure[] }
  /** The plan is done with; `failures` are all that have failed. */
  | { readonly kind: 'finished'; readonly plan: BindingPlan; readonly failures: readonly BindingFailure[] };

export interface BindingFailure {
  readonly assignment: NodeAssignment;
  readonly status: Status;
  /** It is a sibling that failed, nothing of its own: its node has not rejected it. */
  readonly isBySibling?: true;
}
