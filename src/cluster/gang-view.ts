import type { Pod } from '../api/pod.ts';
import type { GangSpec } from './gang-spec.ts';
import type { Misfits } from './misfits.ts';

/**
 * State of a member:
 * - `pending`: can be scheduled now. `gated`: has scheduling gates.
 * - `planned`: assumed on a node, not confirmed yet. `bound`: runs or will run on its node.
 * - `stranded`: on a node that is gone or does not run pods.
 * - `succeeded`, `failed`: terminal. A member that had to leave its node has failed, whatever its exit code. `leaving`: being deleted.
 * - `former`: planned, bound or succeeded for another group object than the current one, or planned while in no group. Does not
 *   count for the current group.
 */
export type MemberState = (typeof memberStates)[number];

export const memberStates = [
  'pending',
  'gated',
  'planned',
  'bound',
  'stranded',
  'succeeded',
  'failed',
  'leaving',
  'former',
] as const;

/** A pod group as plugins see it. */
export interface GangView {
  /** See `groupKeyOf`. */
  readonly key: string;
  /** Undefined while the group object does not exist. */
  readonly spec: GangSpec | undefined;
  /** uid -> member, in order of arrival */
  readonly members: ReadonlyMap<string, Pod>;
  /** uid -> member that can be scheduled now, in arbitrary order */
  readonly pending: ReadonlyMap<string, Pod>;
  /** schedulerName -> number of pending members with it */
  readonly pendingBySchedulerName: ReadonlyMap<string, number>;
  /** The members, pending or on a node, that keep the group from being ready. */
  readonly misfits: Pick<Misfits, 'size' | 'first' | 'get'>;
  /**
   * True if no member can be scheduled, whatever their number: the spec is unsupported, or a member keeps the group from being ready. A misfit in a
   * group without a quorum keeps back only itself.
   */
  readonly isHeldBack: boolean;
  /**
   * True once the quorum has been bound, until the group's life ends: no member is bound, stranded or succeeded any more. The group then
   * starts over, with its quorum. Only the API ends a life, neither a plan nor a dry run. Always true for a group without a quorum.
   */
  readonly started: boolean;
  /** True if a life of this group object has ended. */
  readonly startsAnew: boolean;
  /**
   * Number of members that count toward the quorum: bound and planned ones, and once the group has started also succeeded and stranded
   * ones. Giving up stranded members is Kubernetes' task. Members with the mark of a preemption do not count, because they are about to be
   * deleted: no replacement may rely on them. If the mark is taken back, they count again.
   */
  readonly counted: number;
  /** `counted`, and the members that do not count only because of a mark. They are on their nodes until they are deleted. */
  readonly present: number;
  /** Number of further members that must be placed together; 0 once the quorum is reached. */
  readonly missing: number;
  /**
   * True if some members are on nodes although the group never started. It does not matter which component bound them. Planned members
   * count, because the scheduler may learn of one member's failed Binding before the watch delivers another's Binding.
   */
  readonly incomplete: boolean;
  /**
   * True if the group is incomplete because of our own Bindings. The scheduler completes it before it starts other entities of its priority.
   * A member that was created with a nodeName, or bound by another component, does not make it true. False once `endRank` was called.
   */
  readonly comesFirst: boolean;
  /** Returns the number of members in a state. */
  count(state: MemberState): number;
  /** Returns how many of the members in a state have the mark of a preemption. */
  countMarked(state: 'bound' | 'stranded'): number;
  /** Returns the state of a member; undefined for a pod that is not a member. */
  stateOf(uid: string): MemberState | undefined;
  /** Returns whether the member is included in `counted`. */
  counts(uid: string): boolean;
  /** Returns whether the member is included in `present`. */
  isPresent(uid: string): boolean;
}

/** Returns whether this number of members is a quorum. */
export function isQuorum(count: number, { spec }: GangView): boolean {
  return count >= (spec?.minMember ?? 0);
}

/** Returns whether evictions may leave this number of members running: they are a quorum, and the group need not go as a whole. */
export function mayRunWith(left: number, gang: GangView): boolean {
  return gang.spec?.evictedWhole !== true && isQuorum(left, gang);
}

/** Returns whether preemption treats the members like pods without a group: any of them may go. */
export function goSingly({ spec }: GangView): boolean {
  return spec === undefined || (spec.minMember === 0 && spec.evictedWhole !== true);
}

/** Returns whether only scheduling gates of members keep the group from being ready. */
export function onlyGatesAreShut(gang: GangView): boolean {
  const gated = gang.count('gated');
  const available = gang.counted + gang.pending.size;
  const { minMember, waitsForGates = false } = gang.spec ?? { minMember: Infinity };
  const areShut = available < minMember || (waitsForGates && gated > 0);
  return areShut && available + gated >= minMember;
}
