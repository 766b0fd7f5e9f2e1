import { safeText } from '../../base/safe-text.ts';
import { cutToColumns, textColumns } from '../text-columns.ts';
import { colored } from './color.ts';
import type { Color } from './color.ts';

/** A column of a table. An empty cell is shown as `-`, except in the last column. */
export interface TableColumn<Row> {
  readonly header: string;
  readonly text: (row: Row) => string;
  readonly color?: (row: Row) => Color | undefined;
}

export interface TableOptions {
  readonly hasHeaders: boolean;
  readonly hasColors: boolean;
  /** Columns of the terminal, to which the last column is cut. Absent: nothing is cut. */
  readonly width?: number | undefined;
}

const gap = '  ';
/** A narrower last column would show nothing. The terminal then wraps it. */
const minLastWidth = 4;

/** Returns the lines of a table. Columns align, also with characters that take two columns of a terminal. All text is made safe to show. */
export function tableLines<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  { hasHeaders, hasColors, width }: TableOptions,
): readonly string[] {
  const last = columns.length - 1;
  const cells = rows.map((row) => columns.map(({ text }, index) => safeText(text(row)) || (index === last ? '' : '-')));
  const headers = columns.map(({ header }) => header);
  const shown = hasHeaders ? [headers, ...cells] : cells;
  const widths = headers.map((_, index) =>
    shown.reduce((widest, line) => Math.max(widest, textColumns(line[index]!)), 0),
  );
  const before = widths.slice(0, last).reduce((sum, each) => sum + each + gap.length, 0);
  const lastWidth = width === undefined ? Infinity : Math.max(minLastWidth, width - before);
  return shown.map((line, at) => {
    const row = rows[hasHeaders ? at - 1 : at];
    const texts = line.map((cell, index) => {
      const text = index === last ? cutCell(cell, lastWidth) : cell;
      const color = hasColors && row !== undefined ? columns[index]!.color?.(row) : undefined;
      const padding = index === last ? '' : ' '.repeat(widths[index]! - textColumns(cell));
      return (color === undefined ? text : colored(text, color)) + padding;
    });
    return texts.join(gap).trimEnd();
  });
}

function cutCell(text: string, columns: number): string {
  return textColumns(text) <= columns ? text : `${cutToColumns(text, columns - 1)}…`;
}
