import { expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Line } from '../../queue/line.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import { OutdatedLines } from './outdated-lines.ts';

function setUp(): { clock: VirtualClock; told: string[]; outdated: OutdatedLines } {
  const clock = new VirtualClock();
  const told: string[] = [];
  return { clock, told, outdated: new OutdatedLines({ clock, tell: ({ key }) => void told.push(key) }) };
}

function lineOf(name: string, size: number): Line {
  const entities = Array.from({ length: size }, (_, i) => ({ key: `${name}${i}` }) as QueuedEntity);
  return { entities: () => entities.values() } as Partial<Line> as Line;
}

it('tells a long line a few at a time, and lets a short one come in between', () => {
  const { clock, told, outdated } = setUp();
  outdated.add(lineOf('long', 100));
  outdated.add(lineOf('short', 3));
  expect(told).toEqual([]);
  clock.advance(1_000);
  expect(told).toHaveLength(20);
  expect(told.slice(0, 6)).toEqual(['long0', 'short0', 'long1', 'short1', 'long2', 'short2']);
  clock.advance(60_000);
  expect(told).toHaveLength(103);
  expect(clock.untilNextTimer()).toBeUndefined();
});

it('tells all of a line that changes all the time', () => {
  const { clock, told, outdated } = setUp();
  const line = lineOf('x', 50);
  for (let second = 0; second < 5; second++) {
    outdated.add(line);
    clock.advance(1_000);
  }
  expect(new Set(told).size).toBe(50);
  clock.advance(60_000);
  expect(told.slice(-50)).toEqual(Array.from({ length: 50 }, (_, i) => `x${i}`));
  expect(clock.untilNextTimer()).toBeUndefined();
});

it('tells nobody any more once it is stopped', () => {
  const { clock, told, outdated } = setUp();
  outdated.add(lineOf('x', 50));
  outdated.stop();
  clock.advance(60_000);
  expect(told).toEqual([]);
});
