/** Foreground and background codes of ANSI terminals, and what makes text faint or bold. */
const codes = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [94, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  onRed: [41, 49],
  onGreen: [42, 49],
  onYellow: [43, 49],
  onBlue: [44, 49],
  onMagenta: [45, 49],
  onCyan: [46, 49],
  bold: [1, 22],
  faint: [2, 22],
} as const;

export type Style = keyof typeof codes;
export type GroupColor = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

const palette: readonly GroupColor[] = ['green', 'magenta', 'cyan', 'yellow', 'blue', 'red'];
const backgrounds: Readonly<Record<GroupColor, Style>> = {
  red: 'onRed',
  green: 'onGreen',
  yellow: 'onYellow',
  blue: 'onBlue',
  magenta: 'onMagenta',
  cyan: 'onCyan',
};

/** A piece of a line in one style. */
export interface Span {
  readonly text: string;
  readonly styles: readonly Style[];
}

/** A line before it meets a terminal. Its texts hold no control characters. */
export type StyledLine = readonly Span[];

export function span(text: string, ...styles: readonly Style[]): Span {
  return { text, styles };
}

/** The colour of a group: the one it is named after, else one by its place among the groups. */
export function groupColor(name: string, index: number): GroupColor {
  return palette.find((color) => color === name) ?? palette[index % palette.length]!;
}

export function onGroupColor(color: GroupColor): Style {
  return backgrounds[color];
}

/** The line as a terminal takes it, cut to so many columns; without colours, styles are left out. */
export function paintLine(line: StyledLine, columns: number, hasColors: boolean): string {
  let left = columns;
  let painted = '';
  const length = line.reduce((sum, { text }) => sum + [...text].length, 0);
  for (const { text, styles } of line) {
    const characters = [...text];
    const shown = characters.length <= left ? text : characters.slice(0, left).join('');
    left -= Math.min(characters.length, left);
    painted += hasColors ? style(shown, styles) : shown;
    if (left === 0) break;
  }
  return length > columns && !hasColors && columns > 1 ? `${[...painted].slice(0, columns - 1).join('')}…` : painted;
}

function style(text: string, styles: readonly Style[]): string {
  return styles.reduce((inner, name) => {
    const [on, off] = codes[name];
    return `\u001b[${on}m${inner}\u001b[${off}m`;
  }, text);
}

/** Breaks text between words into at most `most` lines of `columns`; what is left over ends in an ellipsis. */
export function wrap(text: string, columns: number, most: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  if (lines.length <= most) return lines;
  const shown = lines.slice(0, most);
  shown[most - 1] = `${shown[most - 1]!.slice(0, columns - 1)}…`;
  return shown;
}
