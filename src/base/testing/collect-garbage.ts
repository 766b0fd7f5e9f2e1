import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects garbage until `done` holds: what is registered for finalization is told in turns of the loop of its own. Throws after a hundred times. */
export async function collectGarbage(done: () => boolean): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 100; turn++) {
    // Whoever looks at a WeakRef keeps what it refers to until the turn ends.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    await new Promise((resolve) => setImmediate(resolve));
    if (done()) return;
  }
  throw new Error('what should have been collected is still held');
}
