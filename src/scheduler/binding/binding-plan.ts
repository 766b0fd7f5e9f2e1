import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Profile } from '../../framework/profile.ts';
import type { Status } from '../../framework/status.ts';
import type { WaitingPod } from '../../framework/waiting-pods.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { NodeAssignment } from '../placement/planning/planner.ts';

export type { NodeAssignment } from '../placement/planning/planner.ts';

/** The output of a scheduling cycle for the binding cycle: members that are bound together or not at all. */
export interface BindingPlan {
  readonly profile: Profile;
  readonly entity: QueuedEntity;
  readonly gang: GangView | undefined;
  /** Spec of the pod's group when the plan was made, also for a member beyond the quorum; undefined: the pod has no group. */
  readonly groupSpec: GangSpec | undefined;
  /** The group had not started when the plan was made. The plan starts it. */
  readonly startsGang: boolean;
  readonly assignments: readonly NodeAssignment[];
  /** Name of the placement strategy that chose the nodes. Absent: another part of the scheduler did. */
  readonly strategy?: string;
  /** Members that wait on Permit. */
  readonly waiting: readonly WaitingPod[];
  /** Clock.monotonic() when the attempt began. */
  readonly startedAt: number;
}

/** A report of the binding cycle, which changes neither the cluster cache nor the queue itself. */
export type BindingResult =
  /** The first Binding of a plan that starts its group is sent. Other members may be planned now. */
  | { readonly kind: 'begun'; readonly plan: BindingPlan }
  | { readonly kind: 'bound'; readonly plan: BindingPlan; readonly assignment: NodeAssignment }
  /** Members that will not be bound, reported as soon as this is known. Other members may still be binding. */
  | { readonly kind: 'failed'; readonly plan: BindingPlan; readonly failures: readonly BindingFailure[] }
  /** The plan has ended. `failures` lists all failed members. */
  | { readonly kind: 'finished'; readonly plan: BindingPlan; readonly failures: readonly BindingFailure[] };

export interface BindingFailure {
  readonly assignment: NodeAssignment;
  readonly status: Status;
  /** The member failed because of a sibling; its node has not rejected it. */
  readonly isBySibling?: true;
}
