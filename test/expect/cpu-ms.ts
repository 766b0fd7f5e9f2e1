import process from 'node:process';

/**
 * Milliseconds of processor time that the work took of this process: what it costs, however much of the machine others take
 * meanwhile. Other work of the process in the same time is counted as well.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return msSince(before);
}

/** The most processor time that passed between two turns of the event loop while the work ran. */
export async function longestTurnMsOf(work: () => Promise<unknown>): Promise<number> {
  let most = 0;
  let last = process.cpuUsage();
  let isOver = false;
  const look = (): void => {
    most = Math.max(most, msSince(last));
    last = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  await new Promise((resolve) => setImmediate(resolve));
  return most;
}

function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
