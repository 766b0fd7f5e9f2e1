import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockTime, longestSpan, shortestSpan, ticksOf, timeAt, xOf, zoomed } from './time-scale.ts';

const noon = new Date(2026, 0, 1, 12).getTime();

describe('The time scale', () => {
  it('maps the visible times to the width, and back', () => {
    const scale = { end: 1_000, span: 500, width: 100 };
    expect([500, 750, 1_000, 0].map((time) => xOf(scale, time))).toEqual([0, 50, 100, -100]);
    fc.assert(
      fc.property(fc.integer({ min: -1_000, max: 1_000 }), (x) => {
        expect(xOf(scale, timeAt(scale, x))).toBeCloseTo(x);
      }),
    );
  });

  it('has round local times as ticks, with seconds only if they differ', () => {
    const ticks = ticksOf({ end: noon + 20_000, span: 60_000, width: 600 });
    expect(ticks.map(({ label }) => label)).toEqual([
      '11:59:20',
      '11:59:30',
      '11:59:40',
      '11:59:50',
      '12:00:00',
      '12:00:10',
      '12:00:20',
    ]);
    const hour = ticksOf({ end: noon, span: 3_600_000, width: 400 });
    expect(hour.map(({ label }) => label)).toEqual(['11:00', '11:30', '12:00']);
    expect(clockTime(noon + 5_000)).toBe('12:00:05');
  });

  it('has ticks whose labels do not overlap, at any span and width', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: shortestSpan, max: longestSpan }),
        fc.integer({ min: 100, max: 4_000 }),
        (span, width) => {
          const scale = { end: noon, span, width };
          const places = ticksOf(scale).map(({ time }) => xOf(scale, time));
          expect(places.length).toBeLessThan(60);
          places.slice(1).forEach((x, index) => expect(x - places[index]!).toBeGreaterThan(20));
        },
      ),
    );
  });

  it('zooms within limits', () => {
    expect(zoomed(60_000, 2)).toBe(120_000);
    expect(zoomed(shortestSpan, 0.5)).toBe(shortestSpan);
    expect(zoomed(longestSpan, 2)).toBe(longestSpan);
  });
});
