import type { Timer } from '../../base/clock.ts';
import { coreEvents, eventLifetimeMs } from '../kinds/events.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from '../verbs/api-context.ts';

/** Removes Events an hour after their last write. Returns the function that stops it. */
export function startEventExpiry(context: ApiContext): () => void {
  const collection = context.store.collection(coreEvents.storage);
  /** Writes in order, each with the monotonic time it expires at; a write of the same object makes the older one void. */
  const queue: { readonly stored: StoredObject; readonly expiresAt: number }[] = [];
  let timer: Timer | undefined;

  const schedule = (): void => {
    const next = queue[0];
    if (timer !== undefined || next === undefined) return;
    timer = context.clock.setTimer(next.expiresAt - context.clock.monotonic(), () => {
      timer = undefined;
      const now = context.clock.monotonic();
      let due = 0;
      while (due < queue.length && queue[due]!.expiresAt <= now) due++;
      for (const { stored } of queue.splice(0, due)) {
        if (collection.get(stored.namespace, stored.name) === stored) collection.remove(stored);
      }
      schedule();
    });
  };

  const unsubscribe = collection.subscribe((change) => {
    if (change.type === 'DELETED') return;
    queue.push({ stored: change.object, expiresAt: context.clock.monotonic() + eventLifetimeMs });
    schedule();
  });
  return () => {
    unsubscribe();
    timer?.cancel();
  };
}
