/** Returns a Markdown table. Escapes `|` in cells. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** Returns `` `a`, `b` ``. */
export function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ');
}

/** Returns the first line of a generated page, which warns against editing it. */
export function madeFrom(what: string): string {
  return `<!-- Made by scripts/generate-reference.ts from ${what}; do not edit. -->`;
}
