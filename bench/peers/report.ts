import { figuresTable, ratioTable } from './table.ts';
import type { BenchResults } from './results.ts';

const begin = '<!-- peers: begin, written by `npm run bench:peers -- --record` -->';
const end = '<!-- peers: end -->';

/** What stands between the markers of docs/performance.md. */
export function resultsSection(results: BenchResults): string {
  const { machine, versions, date, rounds, quick, seed } = results;
  return [
    `Measured on ${date.slice(0, 10)}: ${rounds} ${rounds === 1 ? 'round' : 'rounds'}${quick ? ' of the quick selection' : ''}, seed ${seed}. ` +
      `${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, Linux ${machine.kernel}, Node ${machine.node}, Go ${machine.go}. ` +
      `${Object.entries(versions)
        .map(([program, version]) => `${program} ${version}`)
        .join(', ')}.`,
    '### Tutti as a ratio to the best peer',
    'Median of the rounds, with their range. Above 1 is better for pods/s; below 1 is better for all others.',
    ratioTable(results),
    '### Figures of each scheduler',
    figuresTable(results),
  ].join('\n\n');
}

/** Throws when the page has no place for it. */
export function withResultsSection(page: string, section: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/performance.md must have the lines\n${begin}\n${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${section}\n\n${page.slice(to)}`;
}
