import type { ContenderName } from './contenders/contender.ts';

/** The runs of an execution and their order. The results contain it, so that the execution can be resumed. */
export interface Selection {
  readonly quick: boolean;
  /** Only arriving gangs, with five times as many pods. Not with `quick`. */
  readonly long: boolean;
  /** Only workloads that preempt. Not with `quick` or `long`. */
  readonly preemption: boolean;
  /** The workloads of `long`, of kube-scheduler and of Tutti with the PodGroups of either API. Not with the others. */
  readonly native: boolean;
  readonly rounds: number;
  readonly nodes: readonly number[];
  /** Seed of the order of the runs. */
  readonly seed: number;
  /** Regular expression that selects runs by `scheduler/workload`. */
  readonly only: string;
  /** Record CPU profiles of Tutti, which slows it down. */
  readonly profile: boolean;
}

/** Keys of the selection. Each has a flag with the same name. */
export const selectionKeys = [
  'quick',
  'long',
  'preemption',
  'native',
  'rounds',
  'nodes',
  'seed',
  'only',
  'profile',
] as const satisfies readonly (keyof Selection)[];

export function contendersOf({ native }: Pick<Selection, 'native'>): readonly ContenderName[] {
  return native ? ['tutti', 'tutti-native', 'kube-scheduler'] : ['tutti', 'kube-scheduler', 'scheduler-plugins'];
}

export function selectionOf(selection: Selection): Selection {
  const { quick, long, preemption, native, rounds, nodes, seed, only, profile } = selection;
  return { quick, long, preemption, native, rounds, nodes, seed, only, profile };
}
