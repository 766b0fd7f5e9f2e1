import process from 'node:process';

/** Milliseconds since the machine started, the same in every process on it; `performance.now()` has a zero in each. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
