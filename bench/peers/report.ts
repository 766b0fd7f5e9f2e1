import { columnMeanings, figuresTable, ratioTable } from './table.ts';
import type { BenchResults } from './results.ts';

/** Returns the base name of the .json and .md files in bench/results that --record writes. */
export function recordName(results: SpecialSelection): string {
  const special = specialSelection(results);
  return special === undefined ? 'peers' : `peers-${special}`;
}

/** Results of older versions of the benchmark have neither `preemption` nor `native`. */
type SpecialSelection = Pick<BenchResults, 'long'> & Partial<Pick<BenchResults, 'preemption' | 'native'>>;

/** Returns the flag of a selection that is recorded separately. */
function specialSelection({
  long,
  preemption,
  native,
}: SpecialSelection): 'long' | 'preemption' | 'native' | undefined {
  if (long) return 'long';
  if (native === true) return 'native';
  return preemption === true ? 'preemption' : undefined;
}

/** Returns the page that --record writes. */
export function resultsPage(results: BenchResults): string {
  const name = recordName(results);
  const special = specialSelection(results);
  return `${[
    `# Tutti compared with its peers: the figures${special === undefined ? '' : ` of the ${special} selection`}`,
    `Written by \`npm run bench:peers --${special === undefined ? '' : ` --${special}`} --record\` from [${name}.json](${name}.json), which has every run. [Performance](../../docs/performance.md) ` +
      'explains what was compared, how, and what follows from the figures.',
    resultsSection(results),
    '## What the columns say',
    columnMeanings(results),
  ].join('\n\n')}\n`;
}

/** Returns the tables and a description of the machine. */
export function resultsSection(results: BenchResults): string {
  const { machine, versions, date, rounds, quick, seed } = results;
  const special = quick ? 'quick' : specialSelection(results);
  return [
    `Measured on ${date.slice(0, 10)}: ${rounds} ${rounds === 1 ? 'round' : 'rounds'}${special === undefined ? '' : ` of the ${special} selection`}, seed ${seed}. ` +
      `${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, Linux ${machine.kernel}, Node ${machine.node}, Go ${machine.go}. ` +
      `${Object.entries(versions)
        .map(([program, version]) => `${program} ${version}`)
        .join(', ')}.`,
    special === 'native'
      ? '## Tutti with the PodGroups of Kubernetes, as a ratio to the better of the others'
      : '## Tutti as a ratio to the best peer',
    `Median of the rounds, with their range. ${special === 'preemption' ? 'A ratio below 1 is better.' : 'For pods/s, a ratio above 1 is better; for all other columns, a ratio below 1.'} If a peer left ` +
      'pods unscheduled that fit, it counts as the best peer only if all peers did.',
    ratioTable(results),
    '## Figures of each scheduler',
    figuresTable(results),
  ].join('\n\n');
}
