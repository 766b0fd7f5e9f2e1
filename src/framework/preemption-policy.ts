import type { Pod } from '../api/pod.ts';
import type { GangView } from '../cluster/gang-view.ts';
import type { SchedulingEntity } from './scheduling-entity.ts';

/**
 * Pods that may be evicted:
 * - a pod without a group, or
 * - the bound members of a group. Members beyond the quorum may go one by one; the others only together with all bound members, on all nodes.
 */
export interface EvictionUnit {
  /** Undefined for a pod without a group. */
  readonly gang: GangView | undefined;
  /** All pods that go together, the least important first. If not all may go together, those that may go without the others. */
  readonly pods: readonly Pod[];
  /** Highest priority of these pods. */
  readonly priority: number;
  /** pod -> start, in seconds since the epoch, that stands for its own one in comparisons with pods of other units. Absent: all keep theirs. */
  readonly starts?: ReadonlyMap<Pod, number> | undefined;
  /** How many pods may go without the others. */
  readonly surplus: number;
  /** Whether all pods may go together. */
  readonly mayGoWhole: boolean;
  /** True: the pods are planned but not bound yet, so that they are not evicted: their plan is given up. */
  readonly isPlanned?: true;
}

/** Why a pod must stay although its priority is lower. */
export interface PodProtection {
  /** Such as "that have run for less than 600s". Verdicts in any namespace say it, so it must name no object. */
  readonly why: string;
  /** When the pod may go without any other change, in milliseconds since the epoch. Absent: never. */
  readonly until?: number;
}

/** Decides which pods may be evicted for others. */
export interface PreemptionPolicy {
  /** Returns why the pod must stay although its priority is lower; undefined: it may go. */
  protects(pod: Pod): PodProtection | undefined;
  /**
   * Called after a search that found no victims, with what it treated as if it had to stay. `pods`: their Bindings are not confirmed yet, and their plans cannot be given up.
   * `groups`: some members must stay, so that others of lower priority stay as well. A change to a group may change that. `budgets`:
   * namespace/name of disruption budgets that kept pods -> the lowest priority of these pods.
   */
  skipped(pods: readonly Pod[], groups: readonly GangView[], budgets: ReadonlyMap<string, number>): void;
  /** False: no disruption budget exists, and `allowances` need not be called. */
  readonly hasBudgets: boolean;
  /** Returns the disruption budgets that match the pod. Victims that exceed them are chosen only if no others help, if at all. */
  allowances(pod: Pod): readonly DisruptionAllowance[];
  /** Returns why pods stay whose eviction would exceed this budget (namespace/name). Absent: they may go if no others help. */
  budgetProtects?(budget: string): PodProtection;
  /** Maximum number of plans in one search. */
  readonly maxPlans: number;
  /** Maximum number of pods to evict for one entity. Absent: no limit. */
  readonly maxVictims?: number | undefined;
  /** Maximum number of groups to evict whole for one entity. Absent: no limit. */
  readonly maxVictimGroups?: number | undefined;
  /** Returns a text for the verdict of an entity in this namespace. It must name nothing in other namespaces, and no node. */
  describe(outcome: PreemptionOutcome, of: SchedulingEntity['kind'], namespace: string): string;
}

/** How many evictions a disruption budget allows now. */
export interface DisruptionAllowance {
  /** namespace/name */
  readonly budget: string;
  readonly allowed: number;
}

/** The result of a search for victims. */
export type PreemptionOutcome =
  /** The entity fits once the victims are gone. */
  | {
      readonly kind: 'found';
      /** Pods to evict. */
      readonly victims: readonly Pod[];
      /** Number of pods that are planned but not bound yet, and whose plans are given up. */
      readonly recalled: number;
      /** The groups that are evicted whole, or lose members beyond their quorum. */
      readonly gangs: readonly GangView[];
      /** Number of members that get a node. */
      readonly members: number;
      /** Number of pods that are already terminating and for whose capacity the entity waits. */
      readonly terminating: number;
    }
  /** No pod of lower priority may be evicted, or it would not help. */
  | {
      readonly kind: 'notHelpful';
      /** How many members would fit without those pods. */
      readonly placed: number;
      readonly needed: number;
      /** Number of pods of lower priority. On nodes where evicting some of them would help a member, only those that may be evicted count. */
      readonly candidates: number;
      readonly nodes: NodeCounts;
    }
  /** Pods that must stay for this reason may be in the way. */
  | { readonly kind: 'protected'; readonly why: string }
  /** The cheapest victims that the search found are more than the policy allows. */
  | {
      readonly kind: 'tooMany';
      readonly victims: number;
      /** Number of groups that would be evicted whole. */
      readonly groups: number;
    }
  /** The search ended before it found an answer. */
  | { readonly kind: 'ended'; readonly plans: number };

/** Why preemption does not help on the nodes. */
export interface NodeCounts {
  readonly all: number;
  /** Nodes that would reject the members even without other pods. */
  readonly unsuitable: number;
  /** Of the others, nodes without pods of lower priority. On nodes where evicting some of them would help, only those that may be evicted count. */
  readonly withoutVictims: number;
}
