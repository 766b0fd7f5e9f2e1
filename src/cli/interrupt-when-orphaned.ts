import type { Clock, Timer } from '../base/clock.ts';
import type { Interruption } from './interruption.ts';

const lookMs = 500;

/**
 * npm passes Ctrl-C on, but not SIGTERM: the shell between npm and the process ends, and the process stays. It is taken for that signal when the
 * process that started this one is gone. Answers what ends the looking.
 */
export function interruptWhenOrphaned(
  process: Pick<NodeJS.Process, 'ppid'>,
  interruption: Pick<Interruption, 'interrupt'>,
  clock: Clock,
): () => void {
  const parent = process.ppid;
  let timer: Timer;
  const look = (): void => {
    if (process.ppid === parent) timer = clock.setTimer(lookMs, look);
    else interruption.interrupt('SIGTERM');
  };
  look();
  return () => timer.cancel();
}
