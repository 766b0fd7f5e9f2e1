import process from 'node:process';

/**
 * Returns the processor time in milliseconds that this process spent on the work, however busy the machine is. Other work of the process in
 * the same time counts as well.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return msSince(before);
}

/** Returns the maximum processor time between two turns of the event loop while the work ran. */
export async function longestTurnMsOf(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = process.cpuUsage();
  let isOver = false;
  const look = (): void => {
    longest = Math.max(longest, msSince(last));
    last = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  await new Promise((resolve) => setImmediate(resolve));
  return longest;
}

function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
