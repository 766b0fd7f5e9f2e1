import { expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { seededRandom } from '../base/random.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { backoffDelay } from '../base/backoff.ts';
import { runs } from '../base/testing/runs.ts';
import { BackoffStore } from './backoff-store.ts';
import type { QueuedEntity } from './queued-entity.ts';
import { failedEntity } from './testing/failed-entity.ts';
import { byPriority } from './testing/queue-fixture.ts';

const build = new Builders();
const policy = { initialMs: 1000, maxMs: 10_000 };

function entity(name: string, priority: number, now: number): QueuedEntity {
  return failedEntity(build.projectedPod({ name, uid: name }), { priority, failedAt: now });
}

it('behaves like a plain list of entities', () => {
  for (let seed = 1; seed <= runs(150); seed++) {
    const random = seededRandom(seed);
    const clock = new VirtualClock();
    const ended: string[] = [];
    const store = new BackoffStore({ clock, policy, compare: byPriority, onEnd: ({ key }) => ended.push(key) });
    let list: { e: QueuedEntity; until: number; early: boolean }[] = [];
    const known = Array.from({ length: 8 }, (_, i) => entity(`e${i}`, i % 4, 0));
    for (let step = 0; step < 60; step++) {
      const e = known[Math.floor(random() * known.length)]!;
      const there = list.find((item) => item.e === e);
      switch (Math.floor(random() * 4)) {
        case 0: {
          if (there !== undefined) break;
          const afterError = random() < 0.4;
          e.failedAt = clock.monotonic() - Math.floor(random() * 3000);
          e.rejections = 1 + Math.floor(random() * 6);
          e.errors = 1 + Math.floor(random() * 6);
          e.sortKey = { ...e.sortKey, priority: Math.floor(random() * 5) };
          const until = e.failedAt + backoffDelay(policy, afterError ? e.errors : e.rejections);
          expect(store.add(e, afterError)).toBe(until > clock.monotonic());
          if (until > clock.monotonic()) list.push({ e, until, early: !afterError });
          break;
        }
        case 1: {
          const early = list.filter((item) => item.early).sort((a, b) => byPriority(a.e.sortKey, b.e.sortKey));
          const taken = store.takeEarly();
          if (early.length === 0) expect(taken).toBeUndefined();
          else expect(byPriority(taken!.sortKey, early[0]!.e.sortKey)).toBe(0);
          list = list.filter((item) => item.e !== taken);
          if (taken !== undefined) taken.state = { kind: 'inFlight' };
          break;
        }
        case 2:
          if (there === undefined || e.state.kind !== 'backoff') break;
          store.leave(e.state);
          e.state = { kind: 'inFlight' };
          e.sortKey = { ...e.sortKey, priority: Math.floor(random() * 5) };
          list = list.filter((item) => item.e !== e);
          break;
        case 3: {
          const ms = Math.floor(random() * 2500);
          clock.advance(ms);
          const due = list.filter((item) => item.until <= clock.monotonic());
          list = list.filter((item) => item.until > clock.monotonic());
          expect([...ended].sort()).toEqual(due.map((item) => item.e.key).sort());
          const order = ended.map((key) => due.find((item) => item.e.key === key)!.until);
          expect(order).toEqual([...order].sort((a, b) => a - b));
          ended.length = 0;
        }
      }
      expect(store.size).toBe(list.length);
    }
  }
});
