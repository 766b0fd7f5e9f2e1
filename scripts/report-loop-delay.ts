// Loaded into a process with --import: tells whoever started it, when asked, how long its event loop was kept from turning.
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds since the last report. */
export interface LoopDelays {
  /** The longest time between two turns, and what 99 of 100 were below. */
  readonly longest: number;
  readonly p99: number;
  /** The most that the thread computed between two turns: without what it waited for a processor that others had. */
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

/** Of this thread, so far. */
function computedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
