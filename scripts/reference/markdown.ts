/** A table of Markdown; what a cell says may hold the character that parts them. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** `a`, `b` */
export function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ');
}

/** What is first in a page that is made, so that nobody edits it. */
export function madeFrom(what: string): string {
  return `<!-- Made by scripts/generate-reference.ts from ${what}; do not edit. -->`;
}
