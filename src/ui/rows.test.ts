import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axisHeight, rowAt, rowHeight, rowsLayout, rowTop, scrolledTo, shortened } from './rows.ts';

describe('The rows', () => {
  it('are those that the viewport shows, those that are cut off included', () => {
    const { first, count } = rowsLayout(800, axisHeight + 10 * rowHeight, 5 * rowHeight + 1);
    expect([first, count]).toEqual([5, 11]);
  });

  it('are found where they are drawn', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(50), (scrollTop, offset) => {
        const layout = rowsLayout(800, 500, scrollTop);
        const row = layout.first + 1 + offset;
        expect(rowAt(layout, rowTop(layout, row) + rowHeight / 2)).toBe(row);
      }),
    );
    expect(rowAt({ scrollTop: 100 }, axisHeight - 1)).toBeUndefined();
  });

  it('scroll into view, and no further', () => {
    const height = axisHeight + 10 * rowHeight;
    expect(scrolledTo({ scrollTop: 0, height }, 9)).toBe(0);
    expect(scrolledTo({ scrollTop: 0, height }, 10)).toBe(rowHeight);
    expect(scrolledTo({ scrollTop: 20 * rowHeight, height }, 3)).toBe(3 * rowHeight);
  });

  it('leave names a third of a narrow window at most', () => {
    expect(rowsLayout(380, 500, 0).nameWidth).toBeLessThanOrEqual(380 / 3);
    expect(rowsLayout(2_000, 500, 0).nameWidth).toBe(240);
  });

  it('shorten a name at its beginning', () => {
    const context = { measureText: (text: string) => ({ width: text.length * 10 }) as TextMetrics };
    expect(shortened(context, 'team/red', 80)).toBe('team/red');
    expect(shortened(context, 'team/red', 50)).toBe('…/red');
    expect(shortened(context, 'team/red', 5)).toBe('…');
  });
});
