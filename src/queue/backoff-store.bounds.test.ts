import { expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { BackoffStore } from './backoff-store.ts';
import type { QueuedEntity } from './queued-entity.ts';
import { failedEntity } from './testing/failed-entity.ts';
import { byPriority } from './testing/queue-fixture.ts';

const build = new Builders();
const policy = { initialMs: 1000, maxMs: 10_000 };

function entity(name: string, priority: number, now: number): QueuedEntity {
  return failedEntity(build.projectedPod({ name, uid: name }), { priority, failedAt: now });
}

it('keeps nothing of entities whose backoff ended, even if no entity was taken early', () => {
  const clock = new VirtualClock();
  let compared = 0;
  const store = new BackoffStore({
    clock,
    policy,
    compare: (a, b) => {
      compared++;
      return byPriority(a, b);
    },
    onEnd: () => undefined,
  });
  // Busy: an entity is always active, so that none is taken early.
  for (let i = 0; i < 5_000; i++) {
    store.add(entity(`e${i}`, 0, clock.monotonic()), false);
    clock.advance(1000);
  }
  compared = 0;
  store.takeEarly();
  expect(store.size).toBe(0);
  expect(compared).toBeLessThan(1_000);
});
