import type { PodSpec } from './pod-manifest.ts';

/** A PodGroup of `scheduling.k8s.io`. */
export interface NativeGroup {
  /** Absent: the policy is Basic. */
  readonly minCount?: number;
  /** Name of a PriorityClass. Default: low. */
  readonly priority?: PodSpec['priority'];
  /** Default: single. */
  readonly disruptionMode?: 'single' | 'all';
  readonly topologyKey?: string;
  /** Needs the gate PodGroupPreemptionPolicy. */
  readonly preemptionPolicy?: 'Never' | 'PreemptLowerPriority';
}

export type NativePod = Omit<PodSpec, 'group' | 'groupAnnotation'> & {
  /** The PodGroup of `scheduling.k8s.io` that it names. */
  readonly group?: string;
};

/** One step of a case. All names are those in the case, without the suffixes of a stage. */
export type UpstreamStep =
  // What the case does
  | { readonly do: 'add nodes'; readonly nodes: readonly string[] }
  | { readonly do: 'create group'; readonly group: string }
  | { readonly do: 'set minCount'; readonly group: string; readonly to: number }
  /** Removes the finalizer that protects a group with pods. */
  | { readonly do: 'delete group'; readonly group: string }
  | { readonly do: 'create pods' | 'delete pods' | 'ungate pods'; readonly pods: readonly string[] }
  /** The server rejects the next Binding of the pod. */
  | { readonly do: 'fail a Binding'; readonly pod: string }
  // What it expects
  | { readonly expect: 'bound' | 'unschedulable' | 'removed'; readonly pods: readonly string[] }
  /** The scheduler has not tried them: they are neither bound nor Unschedulable once it has nothing left to do. */
  | { readonly expect: 'not tried'; readonly pods: readonly string[] }
  /** They are not bound once the scheduler has nothing left to do. */
  | { readonly expect: 'held'; readonly pods: readonly string[] }
  /** Exactly `bound` of them are bound, and the others are Unschedulable. */
  | { readonly expect: 'some bound'; readonly pods: readonly string[]; readonly bound: number }
  | { readonly expect: 'node'; readonly pods: readonly string[]; readonly node: string }
  /** Some of the pods has the Event of a victim of preemption. */
  | { readonly expect: 'preempted'; readonly pods: readonly string[] }
  /** The condition PodGroupInitiallyScheduled of the group. */
  | {
      readonly expect: 'condition';
      readonly group: string;
      readonly status: 'True' | 'False';
      readonly reason: string;
    };

/** A case of Kubernetes' integration tests of PodGroups, test/integration/scheduler/podgroup. */
export interface UpstreamCase {
  /** Its name there. */
  readonly name: string;
  /** Feature gates, besides GenericWorkload, that it needs to be on. */
  readonly gates?: readonly string[];
  /** Feature gates that it needs to be off. */
  readonly withoutGates?: readonly string[];
  /** Names of ReadWriteOncePod claims that exist from the beginning, each with a bound volume. */
  readonly claims?: readonly string[];
  readonly steps: readonly UpstreamStep[];
  /** Tutti does the same with `surplusPreempts` of DefaultPreemption: by default, members beyond minCount preempt nothing. */
  readonly surplusPreempts?: true;
  /** What Tutti does instead on purpose, and why. Absent: it does the same. */
  readonly inTutti?: { readonly steps: readonly UpstreamStep[]; readonly why: string };
}

/**
 * The cases of one test function, and the objects that they use. What follows an @ in the name of a group or pod distinguishes those that
 * have the same name upstream, and is not part of the name of the object.
 */
export interface UpstreamTest {
  /** Name of the Go function. */
  readonly test: string;
  /** name -> CPUs and labels */
  readonly nodes: Readonly<
    Record<string, { readonly cpu: number; readonly labels?: Readonly<Record<string, string>> }>
  >;
  /** Names of the nodes that exist from the beginning. */
  readonly firstNodes: readonly string[];
  readonly groups: Readonly<Record<string, NativeGroup>>;
  readonly pods: Readonly<Record<string, NativePod>>;
  readonly cases: readonly UpstreamCase[];
}

export const addNodes = (...nodes: string[]): UpstreamStep => ({ do: 'add nodes', nodes });
export const createGroup = (group: string): UpstreamStep => ({ do: 'create group', group });
export const createPods = (...pods: string[]): UpstreamStep => ({ do: 'create pods', pods });
export const deletePods = (...pods: string[]): UpstreamStep => ({ do: 'delete pods', pods });
export const bound = (...pods: string[]): UpstreamStep => ({ expect: 'bound', pods });
export const unschedulable = (...pods: string[]): UpstreamStep => ({ expect: 'unschedulable', pods });
export const notTried = (...pods: string[]): UpstreamStep => ({ expect: 'not tried', pods });
export const held = (...pods: string[]): UpstreamStep => ({ expect: 'held', pods });
export const removed = (...pods: string[]): UpstreamStep => ({ expect: 'removed', pods });
export const isScheduled = (group: string): UpstreamStep => ({
  expect: 'condition',
  group,
  status: 'True',
  reason: 'Scheduled',
});
export const isUnschedulable = (group: string): UpstreamStep => ({
  expect: 'condition',
  group,
  status: 'False',
  reason: 'Unschedulable',
});
