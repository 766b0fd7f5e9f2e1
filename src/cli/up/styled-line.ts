import { cutToColumns, textColumns } from '../text-columns.ts';

/** ANSI codes that switch a style on and off. */
const codes = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [94, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  bold: [1, 22],
  faint: [2, 22],
  inverse: [7, 27],
} as const;

export type Style = keyof typeof codes;
export type GroupColor = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

const palette: readonly GroupColor[] = ['green', 'magenta', 'cyan', 'yellow', 'blue', 'red'];

/** A piece of a line in one style. */
export interface Span {
  readonly text: string;
  readonly styles: readonly Style[];
}

/** A line with styles, before it is rendered for a terminal. Its texts contain no control characters. */
export type StyledLine = readonly Span[];

export function span(text: string, ...styles: readonly Style[]): Span {
  return { text, styles };
}

/** Returns the color of a group: the one that it is named after, or else one chosen by its index among the groups. */
export function groupColor(name: string, index: number): GroupColor {
  return palette.find((color) => color === name) ?? palette[index % palette.length]!;
}

/** Renders the line for a terminal. A line wider than `columns` is cut and ends in an ellipsis. Without colors, omits all styles. */
export function paintLine(line: StyledLine, columns: number, hasColors: boolean): string {
  const isCut = line.reduce((sum, { text }) => sum + textColumns(text), 0) > columns;
  let left = isCut ? columns - 1 : columns;
  let painted = '';
  for (const { text, styles } of line) {
    if (left <= 0) break;
    const shown = cutToColumns(text, left);
    left = shown === text ? left - textColumns(shown) : 0;
    painted += hasColors ? style(shown, styles) : shown;
  }
  return isCut && columns > 0 ? `${painted}…` : painted;
}

function style(text: string, styles: readonly Style[]): string {
  return styles.reduce((inner, name) => {
    const [on, off] = codes[name];
    return `\u001b[${on}m${inner}\u001b[${off}m`;
  }, text);
}
