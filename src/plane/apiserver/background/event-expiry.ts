import type { Timer } from '../../../base/clock.ts';
import { coreEvents, eventLifetimeMs } from '../kinds/events.ts';
import type { ApiContext } from '../verbs/api-context.ts';

interface DueEvent {
  readonly namespace: string;
  readonly name: string;
  /** On the monotonic clock. */
  readonly expiresAt: number;
}

/** Removes Events an hour after their last write. Returns the function that stops the expiry. */
export function startEventExpiry(context: ApiContext): () => void {
  const collection = context.store.collection(coreEvents.storage);
  /** namespace/name -> when the Event expires; the soonest first, because each write moves the Event to the end */
  const due = new Map<string, DueEvent>();
  let timer: Timer | undefined;

  const schedule = (): void => {
    const [next] = due.values();
    if (timer !== undefined || next === undefined) return;
    const delayMs = next.expiresAt - context.clock.monotonic();
    timer = context.background.after(delayMs, 'cannot remove expired Events', 'events', () => {
      timer = undefined;
      const now = context.clock.monotonic();
      for (const [key, { namespace, name, expiresAt }] of due) {
        if (expiresAt > now) break;
        due.delete(key);
        const stored = collection.get(namespace, name);
        if (stored !== undefined) collection.remove(stored);
      }
      schedule();
    });
  };

  const unsubscribe = collection.subscribe((change) => {
    const { key, namespace, name } = change.object;
    due.delete(key);
    if (change.type === 'DELETED') return;
    due.set(key, { namespace, name, expiresAt: context.clock.monotonic() + eventLifetimeMs });
    schedule();
  });
  return () => {
    unsubscribe();
    timer?.cancel();
  };
}
