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
/** Names of the entities whose backoff ended, in order. */
let ended: string[];

beforeEach(() => {
  clock = new VirtualClock();
  ended = [];
  store = new BackoffStore({
    clock,
    policy: { initialMs: 1000, maxMs: 10_000 },
    compare: byPriority,
    onEnd: ({ key }) => ended.push(key),
  });
});

/** An entity that has just failed for the nth time. */
function failed(name: string, rejections: number, { priority = 0, errors = 0 } = {}): QueuedEntity {
  return failedEntity(build.projectedPod({ name, uid: name }), {
    failedAt: clock.monotonic(),
    rejections,
    priority,
    errors,
  });
}

describe('backoff', () => {
  it('doubles with each attempt, or with each consecutive error, and ends by itself', () => {
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

  it('that is already over admits no entity to the store', () => {
    const late = failed('late', 1);
    clock.advance(1000);
    expect(store.add(late, false)).toBe(false);
    expect([store.size, late.state.kind]).toEqual([0, 'inFlight']);
  });
});

describe('an entity in backoff', () => {
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

  it('is neither taken nor reported after it has left', () => {
    const gone = failed('gone', 1);
    store.add(gone, false);
    store.leave(gone.state as BackoffState);
    expect(store.size).toBe(0);
    expect(store.takeEarly()).toBeUndefined();
    clock.advance(60_000);
    expect(ended).toEqual([]);
  });

  it('can leave and return with a longer backoff', () => {
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
