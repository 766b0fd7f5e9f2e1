import type { Timer } from '../../base/clock.ts';
import { coreEvents, eventLifetimeMs } from '../kinds/events.ts';
import type { ApiContext } from '../verbs/api-context.ts';

interface WrittenEvent {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: number;
  /** On the monotonic clock. */
  readonly expiresAt: number;
}

/** Removes Events an hour after their last write. Returns the function that stops it. */
export function startEventExpiry(context: ApiContext): () => void {
  const collection = context.store.collection(coreEvents.storage);
  /** Writes in order; one that is no longer the latest of its Event is void. */
  const queue: WrittenEvent[] = [];
  let timer: Timer | undefined;

  const schedule = (): void => {
    const next = queue[0];
    if (timer !== undefined || next === undefined) return;
    const delayMs = next.expiresAt - context.clock.monotonic();
    timer = context.background.after(delayMs, 'Events could not be removed', 'events', () => {
      timer = undefined;
      const now = context.clock.monotonic();
      let due = 0;
      while (due < queue.length && queue[due]!.expiresAt <= now) due++;
      for (const { namespace, name, resourceVersion } of queue.splice(0, due)) {
        const stored = collection.get(namespace, name);
        if (stored?.resourceVersion === resourceVersion) collection.remove(stored);
      }
      schedule();
    });
  };

  const unsubscribe = collection.subscribe((change) => {
    if (change.type === 'DELETED') return;
    const { namespace, name, resourceVersion } = change.object;
    queue.push({ namespace, name, resourceVersion, expiresAt: context.clock.monotonic() + eventLifetimeMs });
    schedule();
  });
  return () => {
    unsubscribe();
    timer?.cancel();
  };
}
