import { describe, expect, it } from 'vitest';
import { formatAge } from './age.ts';
import { usesColor } from './color.ts';
import { serialize } from './serialize.ts';
import { tableLines } from './table.ts';
import type { TableColumn } from './table.ts';

type Row = readonly [string, string];
const columns: readonly TableColumn<Row>[] = [
  { header: 'NAME', text: ([name]) => name, color: ([name]) => (name === 'red' ? 'red' : undefined) },
  { header: 'WHY', text: ([, why]) => why },
];
const plain = { hasHeaders: true, hasColors: false };

describe('a table', () => {
  it('aligns its columns and shows empty cells as a dash, except the last', () => {
    expect(
      tableLines(
        columns,
        [
          ['red', 'no node fits'],
          ['', ''],
        ],
        plain,
      ),
    ).toEqual(['NAME  WHY', 'red   no node fits', '-']);
  });

  it('KP6: aligns columns with characters that are two columns wide', () => {
    expect(
      tableLines(
        columns,
        [
          ['漢字', 'x'],
          ['abcde', 'y'],
        ],
        plain,
      ),
    ).toEqual(['NAME   WHY', '漢字   x', 'abcde  y']);
  });

  it('KP6: cuts only the last column of a narrow terminal', () => {
    const rows: readonly Row[] = [['a-long-name', 'a long reason']];
    expect(tableLines(columns, rows, { ...plain, width: 20 })).toEqual(['NAME         WHY', 'a-long-name  a long…']);
    expect(tableLines(columns, rows, { ...plain, width: 5 })[1]).toBe('a-long-name  a l…');
  });

  it('has no headers if they are not wanted', () => {
    expect(tableLines(columns, [['red', 'x']], { ...plain, hasHeaders: false })).toEqual(['red  x']);
  });

  it('colors cells without changing their alignment', () => {
    const lines = tableLines(
      columns,
      [
        ['red', 'x'],
        ['other', 'y'],
      ],
      { ...plain, hasColors: true },
    );
    expect(lines.slice(1)).toEqual(['\u001b[31mred\u001b[0m    x', 'other  y']);
  });

  it('KP6: shows no control characters and no marks that change the direction of text', () => {
    const hostile = 'a\u001b[2J\u202eb\nc\u009bd';
    const text = tableLines(columns, [[hostile, hostile]], plain).join('');
    expect(text).toMatch(/^[ -~]*$/);
    expect(text).toContain('\\u001b[2J\\u202e');
  });
});

describe('JSON and YAML', () => {
  it('contain no control characters and no marks that change the direction of text', () => {
    for (const format of ['json', 'yaml'] as const) {
      expect(serialize({ items: [{ message: 'a\u001b\u202e\u009b' }] }, format)).toMatch(/^[ -~\n]*$/);
    }
  });
});

describe('KP5: colors', () => {
  it.each([
    ['auto', true, {}, true],
    ['auto', false, {}, false],
    ['auto', true, { NO_COLOR: '1' }, false],
    ['auto', true, { NO_COLOR: '' }, true],
    ['auto', true, { TERM: 'dumb' }, false],
    ['always', false, { NO_COLOR: '1' }, true],
    ['never', true, {}, false],
  ] as const)('%s in a terminal: %s, with %j: %s', (mode, isTTY, environment, expected) => {
    expect(usesColor(mode, { isTTY }, environment)).toBe(expected);
  });
});

describe('an age', () => {
  it.each([
    [-5, '0s'],
    [119_999, '119s'],
    [192_000, '3m12s'],
    [180_000, '3m'],
    [41 * 60_000, '41m'],
    [3 * 3_600_000 + 5 * 60_000, '3h5m'],
    [20 * 3_600_000, '20h'],
    [51 * 3_600_000, '2d3h'],
    [30 * 86_400_000, '30d'],
  ])('of %i ms is %s', (ms, text) => expect(formatAge(ms)).toBe(text));
});
