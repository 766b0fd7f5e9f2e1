import type { Random } from '../../src/base/random.ts';
import type { Workload } from './workload.ts';

export interface PlannedRun<Contender> {
  readonly round: number;
  readonly workload: Workload;
  readonly contender: Contender;
}

/**
 * Plans each contender on each workload in each round. Shuffles the workloads in each round, and the contenders of each workload. The
 * contenders of a workload run in sequence, so that a ratio compares measurements from the same minutes.
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
