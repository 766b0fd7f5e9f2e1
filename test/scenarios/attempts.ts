import type { RunningProcess } from '../../src/compose/running-process.ts';

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

/** Returns how many attempts of whole groups, and of pods, had this result, from the scheduler's metrics. */
export async function attemptsOf(
  { url }: RunningProcess,
  result: AttemptResult,
): Promise<{ readonly groups: number; readonly pods: number }> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  const total = (metric: string): number =>
    lines
      .filter((line) => line.startsWith(`${metric}{`) && line.includes(`result="${result}"`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  return {
    groups: total('scheduler_podgroup_schedule_attempts_total'),
    pods: total('scheduler_schedule_attempts_total'),
  };
}
