import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns a function that collects garbage. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Collects garbage until `done` returns true. Finalizers run in separate turns of the event loop. Throws after a hundred turns. */
export async function collectGarbage(done: () => boolean): Promise<void> {
  const collect = garbageCollector();
  for (let turn = 0; turn < 100; turn++) {
    // Reading a WeakRef keeps its target alive until the turn ends.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    await new Promise((resolve) => setImmediate(resolve));
    if (done()) return;
  }
  throw new Error('the objects are still reachable');
}
