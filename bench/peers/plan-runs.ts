import type { Random } from '../../src/base/random.ts';
import type { Workload } from './workload.ts';

export interface PlannedRun<Contender> {
  readonly round: number;
  readonly workload: Workload;
  readonly contender: Contender;
}

/**
 * Every contender on every workload in every round. The order of the workloads is drawn anew for each round, and so is that of
 * the contenders on a workload; these follow one another directly, so that a ratio compares what was measured within
 * minutes on a machine in one mood.
 */
export function planRuns<Contender>(
  workloads: readonly Workload[],
  contenders: readonly Contender[],
  rounds: number,
  random: Random,
): readonly PlannedRun<Contender>[] {
  return Array.from({ length: rounds }, (_, index) =>
    shuffled(workloads, random).flatMap((workload) =>
      shuffled(contenders, random).map((contender) => ({ round: index + 1, workload, contender })),
    ),
  ).flat();
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}
