import type { Pod } from '../../../api/pod.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import { failureIn } from '../../../framework/diagnosis.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { NodeSubsetOf } from '../cache/node-subset.ts';
import { UnschedulablePluginSet } from './unschedulable-plugin-set.ts';
import type { SignedMembers } from './signed-members.ts';

/** One member with the node on which it is assumed and reserved. */
export interface NodeAssignment {
  readonly pod: Pod;
  readonly nodeName: string;
  readonly state: CycleState;
}

/**
 * The assignments of members to nodes, in the order of placement. The plan is complete if it has as many assignments as were needed. If not, it
 * has those of the pass that placed most, and none of them is in effect.
 */
export interface Plan {
  readonly assignments: readonly NodeAssignment[];
  /** Number of members placed in the pass that `blocked` describes. */
  readonly placed: number;
  /** Why no node fits the hardest of the unplaced members; undefined if the plan is complete. */
  readonly blocked: Diagnosis | undefined;
  /**
   * Names of all plugins that rejected any member on any node, whether or not the member was placed later; empty if the plan is
   * complete. Siblings compete for capacity, so an event that helps one member may help another.
   */
  readonly unschedulablePlugins: ReadonlySet<string>;
  /** The unschedulable plugins that returned Pending for any member. */
  readonly pending: ReadonlySet<string>;
  /**
   * The plan can never be complete on these nodes: too many members are rejected by every node for reasons that removing other
   * pods cannot change. False proves nothing.
   */
  readonly never: boolean;
  /**
   * No other order or domain would have placed more members, because all members are identical and none depends on where the others are.
   */
  readonly isExhaustive: boolean;
  /** Name of the strategy that placed the members. */
  readonly strategy: string;
  /** How many placements were tried before the search for a complete plan ended without a proof. Absent: it did not. */
  readonly searchedPlacements?: number;
}

/** The input of one plan. */
export interface PlanRequest {
  readonly profile: Profile;
  readonly members: readonly Pod[];
  /** How many of the members must be placed. */
  readonly needed: number;
  /** The members' signatures, if already computed. */
  readonly signed?: SignedMembers | undefined;
  /** Shared by all members of a gang; undefined for a single pod. */
  readonly groupState: CycleState | undefined;
  /** Names of the nodes to check. Absent: all nodes. */
  readonly within?: ReadonlySet<string> | undefined;
  /** Returns whether the reservation of this owner, by uid, does not count. Absent: all count. */
  readonly ignoresReservationOf?: ((uid: string) => boolean) | undefined;
  /**
   * Returns the extenders' result for a pod, combined with the nodes that rejected it before. Absent: no restriction.
   */
  readonly nodeSubsetOf?: NodeSubsetOf | undefined;
  /** Which shortages `blocked` lists if the plan is incomplete: the one for the verdict, or all. Absent: none. */
  readonly shortages?: 'first' | 'all' | undefined;
  /** Called before each piece of work with its size in node checks; may throw to end the plan. */
  readonly spend?: ((steps: number) => void) | undefined;
}

const none: ReadonlySet<string> = new Set();

export function completePlan(strategy: string, assignments: readonly NodeAssignment[]): Plan {
  const placed = assignments.length;
  return {
    strategy,
    assignments,
    placed,
    blocked: undefined,
    unschedulablePlugins: none,
    pending: none,
    never: false,
    isExhaustive: true,
  };
}

/** Returns the plan of a pass that stopped because a plugin failed. */
export function stoppedPlan(strategy: string, assignments: readonly NodeAssignment[], blocked: Diagnosis): Plan {
  const rejectors = new UnschedulablePluginSet();
  rejectors.add(blocked);
  const { unschedulablePlugins, pending } = rejectors;
  return {
    strategy,
    assignments,
    placed: assignments.length,
    blocked,
    unschedulablePlugins,
    pending,
    never: false,
    isExhaustive: false,
  };
}

/** Returns the plan that placed more members, with the plugins that rejected members in either. */
export function better(best: Plan, plan: Plan): Plan {
  const searchedPlacements = plan.searchedPlacements ?? best.searchedPlacements;
  return {
    ...(plan.placed > best.placed ? plan : best),
    unschedulablePlugins: new Set([...best.unschedulablePlugins, ...plan.unschedulablePlugins]),
    pending: new Set([...best.pending, ...plan.pending]),
    ...(searchedPlacements !== undefined && { searchedPlacements }),
  };
}

/** Returns whether nothing is left to try: the plan is complete, or a plugin failed. */
export function isCompleteOrFailed({ blocked }: Plan): boolean {
  return blocked === undefined || failureIn(blocked) !== undefined;
}
