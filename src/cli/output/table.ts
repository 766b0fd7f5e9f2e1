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
  /** Minimum width of each column, so that the lines align with those of an earlier table. */
  readonly minWidths?: readonly number[];
}

const gap = '  ';
/** A narrower last column would show nothing. The terminal then wraps it. */
const minLastWidth = 4;

/** Returns the lines of a table. Columns align, also with characters that take two columns of a terminal. All text is made safe to show. */
export function tableLines<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  { hasHeaders, hasColors, width, minWidths = [] }: TableOptions,
): readonly string[] {
  const last = columns.length - 1;
  const shown = hasHeaders ? [columns.map(({ header }) => header), ...cellsOf(columns, rows)] : cellsOf(columns, rows);
  const widths = widthsOf(shown, minWidths);
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

/** Returns the width of each column of a table with headers. */
export function tableWidths<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  minWidths: readonly number[] = [],
): readonly number[] {
  return widthsOf([columns.map(({ header }) => header), ...cellsOf(columns, rows)], minWidths);
}

function cellsOf<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): readonly (readonly string[])[] {
  const last = columns.length - 1;
  return rows.map((row) => columns.map(({ text }, index) => safeText(text(row)) || (index === last ? '' : '-')));
}

function widthsOf(lines: readonly (readonly string[])[], minWidths: readonly number[]): readonly number[] {
  const [first = []] = lines;
  return first.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, textColumns(line[index]!)), minWidths[index] ?? 0),
  );
}

function cutCell(text: string, columns: number): string {
  return textColumns(text) <= columns ? text : `${cutToColumns(text, columns - 1)}…`;
}
