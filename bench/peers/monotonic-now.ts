import process from 'node:process';

/** Returns milliseconds since the machine started, which are comparable between processes. `performance.now()` starts at 0 in each process. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
