import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToColumns, fitToColumns, textColumns, wrapToColumns } from './text-columns.ts';

describe('textColumns', () => {
  it.each([
    ['abc', 3],
    ['●○→…│▏', 6],
    ['żółć Ελ Жя', 10],
    ['e\u0301', 1],
    ['漢字', 4],
    ['ｶﾅ', 2],
    ['🚀', 2],
    ['a\u200db', 2],
    ['', 0],
  ])('returns the width of %j: %i', (text, columns) => {
    expect(textColumns(text)).toBe(columns);
  });
});

const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '漢', '\u0301', '🚀', 'é'), maxLength: 80 });

it('cuts, pads and wraps text to the given columns, and loses characters only where text is cut', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 30 }), (whole, columns) => {
      const cut = cutToColumns(whole, columns);
      expect(whole.startsWith(cut)).toBe(true);
      expect(textColumns(cut)).toBeLessThanOrEqual(columns);
      expect(textColumns(fitToColumns(whole, columns))).toBe(columns);
      const lines = wrapToColumns(whole, columns);
      for (const line of lines) expect(textColumns(line)).toBeLessThanOrEqual(columns);
      expect(lines.join('').replaceAll(' ', '')).toBe(whole.replaceAll(' ', ''));
      const some = wrapToColumns(whole, columns, 2);
      expect(some.length).toBeLessThanOrEqual(2);
      for (const line of some) expect(textColumns(line)).toBeLessThanOrEqual(columns);
      expect(some.at(-1)!.endsWith('…')).toBe(lines.length > 2);
    }),
  );
});

it.each([
  ['training-of-the-large-model-worker-11', 24, 'training-of-the-…rker-11'],
  ['training-of-the-large-model-worker-11', 9, 'traini…11'],
  ['training', 5, 'trai…'],
])('fits %s into %i columns as %s, so that names with different ends stay different', (name, columns, shown) => {
  expect(fitToColumns(name, columns)).toBe(shown);
});

it('handles a character that is wider than the line', () => {
  expect(wrapToColumns('漢字 a', 1)).toEqual(['漢', '字', 'a']);
  expect(fitToColumns('漢字', 1)).toBe('…');
  expect(fitToColumns('漢字', 0)).toBe('');
});
