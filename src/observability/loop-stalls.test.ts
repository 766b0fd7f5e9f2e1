import { expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Timer } from '../base/clock.ts';
import { LoopStalls } from './loop-stalls.ts';
import { createMetricRegistry } from './metric-registry.ts';

it('measures how late timers fire, until it is stopped', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  let lateMs = 0;
  const clock = new (class extends VirtualClock {
    override setTimer(delayMs: number, callback: () => void): Timer {
      return super.setTimer(delayMs + lateMs, callback);
    }
  })();
  const stalls = new LoopStalls({ registry, clock });
  clock.advance(97);
  expect(await registry.metrics()).toContain('tutti_loop_stall_seconds_sum 0\n');
  lateMs = 2_000;
  clock.advance(97); // This timer was set earlier.
  clock.advance(2_097);
  expect(await registry.metrics()).toContain('tutti_loop_stall_seconds_sum 2\n');
  stalls.stop();
  clock.advance(100_000);
  expect(await registry.metrics()).toContain('tutti_loop_stall_seconds_sum 2\n');
});
