import { expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { collectWhenQuiet } from './collect-when-quiet.ts';

const mb = 2 ** 20;

/** A process in which work takes `share` of the time from now on; `collected` has the times, in seconds. */
function busyProcess(heapMb = 30) {
  const clock = new VirtualClock();
  const began = clock.monotonic();
  const collected: number[] = [];
  const state = { share: 0, heapMb, active: 0, upTo: began };
  const utilization: Parameters<typeof collectWhenQuiet>[0]['utilization'] = (now, before) => {
    if (now !== undefined && before !== undefined) {
      const active = now.active - before.active;
      const idle = now.idle - before.idle;
      return { active, idle, utilization: active / (active + idle) };
    }
    state.active += (clock.monotonic() - state.upTo) * state.share;
    state.upTo = clock.monotonic();
    const all = clock.monotonic() - began;
    return { active: state.active, idle: all - state.active, utilization: 0 };
  };
  const end = collectWhenQuiet({
    clock,
    utilization,
    usedHeap: () => state.heapMb * mb,
    collect: () => {
      collected.push((clock.monotonic() - began) / 1000);
      // Which is work as well, but calls for no other.
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

it('collects once after the start, and once after each time of work', () => {
  const { pass, collected } = busyProcess();
  pass(600, 0.002);
  expect(collected).toEqual([30]);
  pass(300, 0.5);
  expect(collected).toEqual([30]);
  pass(600, 0.002);
  expect(collected).toEqual([30, 930]);
});

it('leaves a process that works, and a large heap, to V8', () => {
  const { pass, collected, state } = busyProcess(200);
  pass(600, 0);
  expect(collected).toEqual([]);
  state.heapMb = 30;
  pass(600, 0.03);
  expect(collected).toEqual([]);
  pass(60, 0);
  expect(collected).toEqual([1230]);
});

it('does nothing any more when it was ended', () => {
  const { pass, collected, end } = busyProcess();
  end();
  pass(600, 0);
  expect(collected).toEqual([]);
});
