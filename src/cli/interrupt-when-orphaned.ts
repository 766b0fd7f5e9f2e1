import type { Clock, Timer } from '../base/clock.ts';
import type { Interruption } from './interruption.ts';

const intervalMs = 500;

/**
 * Interrupts the process as SIGTERM does when its parent has ended. npm forwards Ctrl-C but not SIGTERM: the shell between npm and the
 * process ends, and the process stays. Returns a function that stops the check.
 */
export function interruptWhenOrphaned(
  process: Pick<NodeJS.Process, 'ppid'>,
  interruption: Pick<Interruption, 'interrupt'>,
  clock: Clock,
): () => void {
  const parent = process.ppid;
  let timer: Timer;
  const check = (): void => {
    if (process.ppid === parent) timer = clock.setTimer(intervalMs, check);
    else interruption.interrupt('SIGTERM');
  };
  check();
  return () => timer.cancel();
}
