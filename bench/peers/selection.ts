/** The runs of an execution and their order. The results contain it, so that the execution can be resumed. */
export interface Selection {
  readonly quick: boolean;
  /** Only arriving gangs, with five times as many pods. Not with `quick`. */
  readonly long: boolean;
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
  'rounds',
  'nodes',
  'seed',
  'only',
  'profile',
] as const satisfies readonly (keyof Selection)[];

export function selectionOf({ quick, long, rounds, nodes, seed, only, profile }: Selection): Selection {
  return { quick, long, rounds, nodes, seed, only, profile };
}
