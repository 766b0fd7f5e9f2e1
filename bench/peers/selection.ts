/** What an execution runs, and in which order. Kept with its results, so that it can be resumed. */
export interface Selection {
  readonly quick: boolean;
  /** Five times as many pods, in gangs that arrive; no other workloads. Not with `quick`. */
  readonly long: boolean;
  readonly rounds: number;
  readonly nodes: readonly number[];
  /** Of the order in which things run. */
  readonly seed: number;
  /** A regular expression: only runs whose `scheduler/workload` it matches. */
  readonly only: string;
  /** CPU profiles of Tutti are taken, which costs it time. */
  readonly profile: boolean;
}

/** Each is a flag of the same name. */
export const selectionKeys = [
  'quick',
  'long',
  'rounds',
  'nodes',
  'seed',
  'only',
  'profile',
] as const satisfies readonly (keyof Selection)[];

export function selectionOf({ quick, long, rounds, nodes, seed, only, profile }: Selection): Selection {
  return { quick, long, rounds, nodes, seed, only, profile };
}
