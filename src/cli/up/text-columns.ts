/** Signs of ours, and what else is narrow: Latin, Greek, Cyrillic and the like, punctuation, arrows, boxes, dots. */
const narrow = /^[ -\u10ff\u1e00-\u2e7f\uff61-\uffdc]$/u;
const wideSymbol = /^\p{Emoji_Presentation}$/u;
/** Marks that stand on the character before them, and what shows nothing. */
const without = /^[\p{M}\p{Cf}]$/u;

/**
 * How many columns of a terminal the character takes, at most: of one that terminals do not agree about the larger. A line that is said
 * to fit fits.
 */
function columnsOf(character: string): number {
  if (without.test(character)) return 0;
  return narrow.test(character) && !wideSymbol.test(character) ? 1 : 2;
}

/** How many columns the text takes, at most. */
export function textColumns(text: string): number {
  let columns = 0;
  for (const character of text) columns += columnsOf(character);
  return columns;
}

/** The longest beginning that fits into so many columns; a mark stays with its character. */
export function cutToColumns(text: string, columns: number): string {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += columnsOf(character);
    if (used > columns) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** As much of the end of a name is shown as tells the members of a group apart. */
const longestEnd = 10;

/** Filled up with spaces to so many columns, or cut to them in its middle: names often differ in their last characters alone. */
export function fitToColumns(text: string, columns: number): string {
  if (columns < 1) return '';
  const taken = textColumns(text);
  if (taken <= columns) return text + ' '.repeat(columns - taken);
  const end = [...text].slice(-Math.min(longestEnd, Math.floor((columns - 1) / 3))).join('');
  const shownEnd = columns < 8 || textColumns(end) >= columns - 1 ? '' : end;
  const cut = `${cutToColumns(text, columns - 1 - textColumns(shownEnd))}…${shownEnd}`;
  return cut + ' '.repeat(columns - textColumns(cut));
}

/** Breaks text between words, and words that are longer, into lines of so many columns, and at most so many; what is left over ends in an ellipsis. */
export function wrapToColumns(text: string, columns: number, most = Infinity): string[] {
  const width = Math.max(1, columns);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (textColumns(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (lines.length <= most && textColumns(line) > width) {
      // A wide character has a line to itself, however narrow that is.
      const cut = cutToColumns(line, width) || [...line][0]!;
      lines.push(cut);
      line = line.slice(cut.length);
    }
    if (lines.length > most) break;
  }
  lines.push(line);
  if (lines.length <= most) return lines;
  const shown = lines.slice(0, most);
  shown[most - 1] = `${cutToColumns(shown[most - 1]!, width - 1)}…`;
  return shown;
}
