import { beforeEach, describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { BackoffStore } from './backoff-store.ts';
import type { BackoffState, QueuedEntity } from './queued-entity.ts';
import { failedEntity } from './testing/failed-entity.ts';
import { byPriority } from './testing/queue-fixture.ts';

const build = new Builders();
let clock: VirtualClock;
let store: BackoffStore;
/** Names of those whose penalty ended, in order. */
let ended: string[];

beforeEach(() => {
  clock = new VirtualClock();
  ended = [];
  store = new BackoffStore({
    clock,
    policy: { initialMs: 1000, maxMs: 10_000 },
    compare: byPriority,
    ended: ({ key }) => ended.push(key),
  });
});

/** One that has just failed for the nth time. */
function failed(name: string, rejections: number, { priority = 0, errors = 0 } = {}): QueuedEntity {
  return failedEntity(build.projectedPod({ name, uid: name }), {
    failedAt: clock.monotonic(),
    rejections,
    priority,
    errors,
  });
}

describe('the penalty', () => {
  it('doubles with each attempt, or with each error in a row, and ends by itself', () => {
    store.add(failed('third attempt', 3), false);
    store.add(failed('first attempt', 1), false);
    store.add(failed('second error', 9, { errors: 2 }), true);
    clock.advance(1000);
    expect(ended).toEqual(['first attempt']);
    clock.advance(1000);
    expect(ended).toEqual(['first attempt', 'second error']);
    clock.advance(2000);
    expect(ended).toEqual(['first attempt', 'second error', 'third attempt']);
    expect(store.size).toBe(0);
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('that is over already takes nobody in', () => {
    const late = failed('late', 1);
    clock.advance(1000);
    expect(store.add(late, false)).toBe(false);
    expect([store.size, late.state.kind]).toEqual([0, 'inFlight']);
  });
});

describe('an entity that backs off', () => {
  it('is taken early by rank, unless it failed with an error', () => {
    store.add(failed('low', 1), false);
    store.add(failed('broken', 1, { priority: 9, errors: 1 }), true);
    store.add(failed('high', 5, { priority: 1 }), false);
    expect([store.takeEarly()?.key, store.takeEarly()?.key, store.takeEarly()?.key]).toEqual([
      'high',
      'low',
      undefined,
    ]);
    clock.advance(60_000);
    expect(ended).toEqual(['broken']);
  });

  it('that has left is neither taken nor told of', () => {
    const gone = failed('gone', 1);
    store.add(gone, false);
    store.leave(gone.state as BackoffState);
    expect(store.size).toBe(0);
    expect(store.takeEarly()).toBeUndefined();
    clock.advance(60_000);
    expect(ended).toEqual([]);
  });

  it('may leave and come again, with a longer penalty', () => {
    const entity = failed('again', 1);
    store.add(entity, false);
    store.takeEarly();
    entity.rejections = 2;
    entity.failedAt = clock.monotonic();
    store.add(entity, false);
    clock.advance(1999);
    expect(ended).toEqual([]);
    clock.advance(1);
    expect(ended).toEqual(['again']);
  });
});
