import { masked } from './console-blocks.ts';

/**
 * Returns the lines of a page that are missing in the output, or not in that order. The output may contain more lines. `…` at the end of a
 * line matches any text, and a line with only `…` matches any lines.
 */
export function missingLines(shown: string, output: string): string[] {
  const mask = (text: string): string =>
    masked(text)
      .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, '(port)')
      .replaceAll(/\S+(?=\/kubeconfig$)/gm, '(folder)');
  const lines = mask(output).split('\n');
  let from = 0;
  return mask(shown)
    .split('\n')
    .filter((line) => line !== '…')
    .filter((line) => {
      const [start] = line.split('…');
      const at = lines.findIndex(
        (each, index) => index >= from && (line.endsWith('…') ? each.startsWith(start!) : each === line),
      );
      if (at >= 0) from = at + 1;
      return at < 0;
    });
}
