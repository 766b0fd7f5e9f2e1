import type { RunningProcess } from '../../src/compose/running-process.ts';

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

/** Returns how many attempts of whole groups had this result, from the scheduler's metrics. */
export async function attemptsOf({ url }: RunningProcess, result: AttemptResult): Promise<{ readonly groups: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  let groups = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith('scheduler_podgroup_schedule_attempts_total{') || !line.includes(`result="${result}"`))
      continue;
    groups += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return { groups };
}
