/** Characters one column wide: Latin, Greek, Cyrillic and similar scripts, punctuation, arrows, boxes, dots. */
const narrow = /^[ -\u10ff\u1e00-\u2e7f\uff61-\uffdc]$/u;
const wideSymbol = /^\p{Emoji_Presentation}$/u;
/** Zero-width characters: combining marks and format characters. */
const zeroWidth = /^[\p{M}\p{Cf}]$/u;

/**
 * Returns the maximum number of terminal columns that the character takes. Where terminals disagree, the larger number ensures that a
 * line never takes more columns than computed.
 */
function columnsOf(character: string): number {
  if (zeroWidth.test(character)) return 0;
  return narrow.test(character) && !wideSymbol.test(character) ? 1 : 2;
}

/** Returns the maximum number of columns that the text takes. */
export function textColumns(text: string): number {
  let columns = 0;
  for (const character of text) columns += columnsOf(character);
  return columns;
}

/** Returns the longest prefix that fits into `columns`. A combining mark stays with its character. */
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

/** Number of characters shown from the end of a shortened name, enough to tell the members of a group apart. */
const maxSuffixLength = 10;

/** Pads the text to `columns` with spaces, or cuts out its middle: names often differ only in their last characters. */
export function fitToColumns(text: string, columns: number): string {
  if (columns < 1) return '';
  const taken = textColumns(text);
  if (taken <= columns) return text + ' '.repeat(columns - taken);
  const end = [...text].slice(-Math.min(maxSuffixLength, Math.floor((columns - 1) / 3))).join('');
  const shownEnd = columns < 8 || textColumns(end) >= columns - 1 ? '' : end;
  const cut = `${cutToColumns(text, columns - 1 - textColumns(shownEnd))}…${shownEnd}`;
  return cut + ' '.repeat(columns - textColumns(cut));
}

/**
 * Wraps text at spaces, and words wider than a line within the word. If the text needs more than `maxLines` lines, the last one ends in
 * an ellipsis.
 */
export function wrapToColumns(text: string, columns: number, maxLines = Infinity): string[] {
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
    while (lines.length <= maxLines && textColumns(line) > width) {
      // A character wider than the line gets a line of its own.
      const cut = cutToColumns(line, width) || [...line][0]!;
      lines.push(cut);
      line = line.slice(cut.length);
    }
    if (lines.length > maxLines) break;
  }
  lines.push(line);
  if (lines.length <= maxLines) return lines;
  const shown = lines.slice(0, maxLines);
  shown[maxLines - 1] = `${cutToColumns(shown[maxLines - 1]!, width - 1)}…`;
  return shown;
}
