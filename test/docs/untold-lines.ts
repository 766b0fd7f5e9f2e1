import { masked } from './console-blocks.ts';

/**
 * The lines that a page shows of a story, of which more is told: those that are not told in that order. `…` at the end of a line is any
 * text, and a line of nothing else any lines.
 */
export function untoldLines(shown: string, told: string): string[] {
  const mask = (text: string): string =>
    masked(text)
      .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, '(port)')
      .replaceAll(/\S+(?=\/kubeconfig$)/gm, '(folder)');
  const lines = mask(told).split('\n');
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
