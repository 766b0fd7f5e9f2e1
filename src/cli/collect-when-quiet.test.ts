import { expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { collectWhenQuiet } from './collect-when-quiet.ts';

const mb = 2 ** 20;

/** A process in which work takes a share of the time. `pass` sets that share; `collected` holds the times of collections, in seconds. */
function busyProcess(heapMb = 30) {
  const clock = new VirtualClock();
  const startedAt = clock.monotonic();
  const collected: number[] = [];
  const state = { share: 0, heapMb, active: 0, upTo: startedAt };
  const utilization: Parameters<typeof collectWhenQuiet>[0]['utilization'] = (now, before) => {
    if (now !== undefined && before !== undefined) {
      const active = now.active - before.active;
      const idle = now.idle - before.idle;
      return { active, idle, utilization: active / (active + idle) };
    }
    state.active += (clock.monotonic() - state.upTo) * state.share;
    state.upTo = clock.monotonic();
    const all = clock.monotonic() - startedAt;
    return { active: state.active, idle: all - state.active, utilization: 0 };
  };
  const end = collectWhenQuiet({
    clock,
    utilization,
    usedHeap: () => state.heapMb * mb,
    collect: () => {
      collected.push((clock.monotonic() - startedAt) / 1000);
      // A collection is work as well, but must not trigger another one.
      state.active += 100;
    },
  });
  const pass = (seconds: number, share: number): void => {
    utilization();
    state.share = share;
    clock.advance(seconds * 1000);
  };
  return { pass, collected, state, end };
}

it('collects once after the start and once after each load', () => {
  const { pass, collected } = busyProcess();
  pass(600, 0.002);
  expect(collected).toEqual([30]);
  pass(300, 0.5);
  expect(collected).toEqual([30]);
  pass(600, 0.002);
  expect(collected).toEqual([30, 930]);
});

it('leaves busy processes and large heaps to V8', () => {
  const { pass, collected, state } = busyProcess(200);
  pass(600, 0);
  expect(collected).toEqual([]);
  state.heapMb = 30;
  pass(600, 0.03);
  expect(collected).toEqual([]);
  pass(60, 0);
  expect(collected).toEqual([1230]);
});

it('stops collecting when it is stopped', () => {
  const { pass, collected, end } = busyProcess();
  end();
  pass(600, 0);
  expect(collected).toEqual([]);
});
