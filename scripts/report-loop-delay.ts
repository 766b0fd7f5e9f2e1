// Load it into a process with --import. On request, the process reports to its parent how long its event loop was blocked.
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

/** Delays since the last report, in milliseconds. */
export interface LoopDelays {
  /** Maximum and 99th percentile of the time between two turns. */
  readonly longest: number;
  readonly p99: number;
  /** Maximum CPU time of the thread between two turns. It excludes time in which other processes used the CPU. */
  readonly longestComputing: number;
}

if (isMainThread && process.send !== undefined) {
  let turns: number[] = [];
  let longestComputing = 0;
  let turnedAt = performance.now();
  let computed = computedMs();
  const turn = (): void => {
    const now = performance.now();
    const computedNow = computedMs();
    turns.push(now - turnedAt);
    longestComputing = Math.max(longestComputing, computedNow - computed);
    turnedAt = now;
    computed = computedNow;
    setTimeout(turn, 1).unref();
  };
  turn();
  process.on('message', () => {
    const sorted = Float64Array.from(turns).sort();
    const longest = sorted.at(-1) ?? 0;
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    const delays: LoopDelays = { longest, p99, longestComputing };
    turns = [];
    longestComputing = 0;
    process.send!(delays);
  });
  process.channel?.unref();
}

/** Returns the CPU time of this thread so far. */
function computedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
