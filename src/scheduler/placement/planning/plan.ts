import type { Pod } from '../../../api/pod.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { NodeSubsetOf } from '../cache/node-subset.ts';
import { UnschedulablePluginSet } from './unschedulable-plugin-set.ts';
import type { SignedMembers } from './signed-members.ts';

/** One member with the node it is assumed and reserved on. */
export interface NodeAssignment {
  readonly pod: Pod;
  readonly nodeName: string;
  readonly state: CycleState;
}

/** A plan: member -> node, in the order of placement. It is complete when `placements` has as many as were needed. */
export interface Plan {
  readonly assignments: readonly NodeAssignment[];
  /** How many were placed by the way of placing them that `blocked` is about. */
  readonly placed: number;
  /** Why the hardest member that found no node found none; undefined when the plan is complete. */
  readonly blocked: Diagnosis | undefined;
  /**
   * Names of all plugins that rejected any member, placed or not, any node; empty when the plan is complete. Siblings
   * compete for room, so what helps one member may help another.
   */
  readonly unschedulablePlugins: ReadonlySet<string>;
  /** Of these, those that answered Pending to any. */
  readonly pending: ReadonlySet<string>;
  /**
   * So many members are rejected by every node in a way that taking other pods away cannot change that the plan can never be
   * complete on these nodes. False proves nothing.
   */
  readonly never: boolean;
  /**
   * No other way of placing the members would have placed more of them: they are alike, and it is all the same to each where the
   * others are.
   */
  readonly isExhaustive: boolean;
}

/** What is to be placed. */
export interface PlanRequest {
  readonly profile: Profile;
  readonly members: readonly Pod[];
  /** How many of them. */
  readonly needed: number;
  /** What makes the members alike, where somebody has asked already; absent: nobody has. */
  readonly signed?: SignedMembers | undefined;
  /** Shared by all members of a gang; undefined for a lone pod. */
  readonly groupState: CycleState | undefined;
  /** Names of the only nodes to look at; absent: all. */
  readonly within?: ReadonlySet<string> | undefined;
  /** Pods that count as gone: room kept for them is free. Absent: none. */
  readonly isGone?: ((uid: string) => boolean) | undefined;
  /** What extenders said of the nodes for a pod, and nodes that have rejected it before. Absent: nothing about any. */
  readonly nodeSubsetOf?: NodeSubsetOf | undefined;
  /** Told of the work before it is done, in looks at a node; may throw to end the plan. */
  readonly spend?: ((steps: number) => void) | undefined;
}

const nobody: ReadonlySet<string> = new Set();

export function complete(assignments: readonly NodeAssignment[]): Plan {
  const placed = assignments.length;
  return {
    assignments,
    placed,
    blocked: undefined,
    unschedulablePlugins: nobody,
    pending: nobody,
    never: false,
    isExhaustive: true,
  };
}

/** The plan of which a plugin failed. */
export function stopped(assignments: readonly NodeAssignment[], blocked: Diagnosis): Plan {
  const rejectors = new UnschedulablePluginSet();
  rejectors.add(blocked);
  const { unschedulablePlugins, pending } = rejectors;
  return {
    assignments,
    placed: assignments.length,
    blocked,
    unschedulablePlugins,
    pending,
    never: false,
    isExhaustive: false,
  };
}
