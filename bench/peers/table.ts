import type { ContenderName } from './contenders/contender.ts';
import { median } from './figures.ts';
import type { BenchResults, RunFigures, RunResult } from './results.ts';
import type { Workload } from './workload.ts';

/** One column of the tables. */
interface Column {
  readonly title: string;
  /** Explanation for readers of the tables, in Markdown. */
  readonly meaning: string;
  readonly better: 'higher' | 'lower';
  readonly digits: number;
  /** Returns the figure of a run, or undefined if it has none. */
  readonly of: (figures: RunFigures) => number | undefined;
}

const milli = (value: number | undefined): number | undefined => (value === undefined ? undefined : value / 1000);

const throughput: Column = {
  title: 'pods/s',
  meaning:
    'pods of complete gangs, divided by the time from the first create (in a backlog: from the time when the scheduler became ' +
    'ready) to the last of their bindings.',
  better: 'higher',
  digits: 0,
  of: (run) => run.podsPerSecond,
};

const preemption: readonly Column[] = [
  {
    title: 'create→last bound, s',
    meaning: 'the time from the first create of a pod that preempts to the last binding of a complete gang.',
    better: 'lower',
    digits: 2,
    of: (run) => run.seconds,
  },
  {
    title: 'API server and etcd CPU, s',
    meaning:
      'CPU time of the API server and etcd until the last binding, whichever client caused it. Divided by the number of cores, it is the least time that ' +
      'this work takes, even if the scheduler needed none.',
    better: 'lower',
    digits: 2,
    of: (run) => milli(run.planeCpuUntilBoundMs),
  },
  {
    title: 'evicted',
    meaning: 'pods of low priority that were deleted. The scheduler is the only client that deletes pods.',
    better: 'lower',
    digits: 0,
    of: (run) => run.preemption?.evicted,
  },
  {
    title: 'in vain',
    meaning:
      'evicted pods beyond the smallest number whose capacity is enough for the complete gangs, if gangs of victims are evicted as a ' +
      'whole. It includes the victims of pods that were not bound.',
    better: 'lower',
    digits: 0,
    of: (run) => run.preemption?.evictedInVain,
  },
  {
    title: 'gangs torn',
    meaning: 'gangs of low priority that lost some pods, but not all, so that fewer remain than the gang needs.',
    better: 'lower',
    digits: 0,
    of: (run) => run.preemption?.tornGangs,
  },
];

const general: readonly Column[] = [
  {
    title: 'created→bound p50, s',
    meaning:
      'the median over all pods of the time from creation to binding; in a backlog, the time starts when the scheduler became ready.',
    better: 'lower',
    digits: 2,
    of: (run) => milli(run.latencyP50Ms),
  },
  {
    title: 'p99, s',
    meaning: 'the 99th percentile of the same time.',
    better: 'lower',
    digits: 2,
    of: (run) => milli(run.latencyP99Ms),
  },
  {
    title: 'gang spread p99, ms',
    meaning: 'the time from the first to the last binding of a gang that became complete, 99th percentile.',
    better: 'lower',
    digits: 0,
    of: (run) => run.spreadP99Ms,
  },
  {
    title: 'CPU a pod, ms',
    meaning:
      'CPU time of the scheduler for each bound pod. It counts from the first create until 3 s after the last binding (contention: ' +
      '10 s), or longer if the scheduler still has Events to write by then. In a backlog, it counts from the start of the process, ' +
      'because the scheduler begins to schedule while it starts.',
    better: 'lower',
    digits: 2,
    of: (run) => run.cpuMsPerPod,
  },
  {
    title: 'peak memory, MB',
    meaning: '`VmHWM` of the scheduler at the end.',
    better: 'lower',
    digits: 0,
    of: (run) => run.peakMb,
  },
  {
    title: 'API calls a pod',
    meaning:
      'writes and single reads of pods, bindings, PodGroups and Events in the same time, from the API server’s ' +
      '`apiserver_request_total`. That metric does not name the client. During that time, the only such calls of the load generator ' +
      'create pods, and the figure does not include them. peers.json has the calls by verb and resource.',
    better: 'lower',
    digits: 2,
    of: (run) => run.apiCallsPerPod,
  },
  {
    title: 'API server CPU a pod, ms',
    meaning:
      'CPU time of kube-apiserver in the same time, whichever client caused it. In *arriving*, that includes the creation of the pods.',
    better: 'lower',
    digits: 2,
    of: (run) => run.apiServerCpuMsPerPod,
  },
];

function columnsOf(results: BenchResults): readonly Column[] {
  return results.preemption ? [...preemption, ...general] : [throughput, ...general];
}

/** The contender whose figures are divided by those of the best other one. */
function oursIn({ native }: Partial<Pick<BenchResults, 'native'>>): ContenderName {
  return native === true ? 'tutti-native' : 'tutti';
}

const contenderOrder: readonly ContenderName[] = ['tutti', 'tutti-native', 'kube-scheduler', 'scheduler-plugins'];

/** Returns a table of Tutti's figures divided by those of the best peer in the same round: the median and range of the rounds. */
export function ratioTable(results: BenchResults): string {
  const columns = columnsOf(results);
  const header = ['workload', 'nodes', 'loaded', ...columns.map(({ title }) => withoutUnit(title))];
  const rows = results.workloads.map((workload) => [
    ...workloadCells(workload),
    ...columns.map((column) => ratioCell(ratiosOf(column, results, workload))),
  ]);
  return markdownTable(header, rows, 3);
}

/** Returns a table of the medians and ranges of each scheduler, with the results of the gangs. */
export function figuresTable(results: BenchResults): string {
  const columns = columnsOf(results);
  const header = [
    'workload',
    'nodes',
    'loaded',
    'scheduler',
    ...columns.map(({ title }) => title),
    'bound',
    'gangs whole',
    'partial',
  ];
  const rows = results.workloads.flatMap((workload) => {
    const runs = runsOf(results, workload);
    return contenderOrder
      .filter((contender) => runs.some((run) => run.contender === contender))
      .map((contender) => [
        ...workloadCells(workload),
        contender,
        ...contenderCells(
          columns,
          workload,
          runs.filter((run) => run.contender === contender),
        ),
      ]);
  });
  return markdownTable(header, rows, 4);
}

/** Returns a list with an explanation of each column. */
export function columnMeanings(results: BenchResults): string {
  return [
    ...columnsOf(results).map(({ title, meaning }) => `- **${withoutUnit(title)}**: ${meaning}`),
    '- **bound**, **gangs whole**, **partial**: bound pods, complete gangs and partially bound gangs at the end.',
  ].join('\n');
}

function withoutUnit(title: string): string {
  return title.replace(/, (s|ms|MB)$/, '');
}

function runsOf({ runs }: BenchResults, workload: Workload): readonly RunResult[] {
  return runs.filter((run) => run.workload === workload.id);
}

function workloadCells({ title, nodes, loading }: Workload): string[] {
  return [title, nodes.toLocaleString('en'), loading];
}

/** Returns the ratio of each round in which Tutti and a peer have the figure. */
function ratiosOf({ of, better }: Column, results: BenchResults, workload: Workload): readonly number[] {
  const ours = oursIn(results);
  const runs = runsOf(results, workload);
  const ratios: number[] = [];
  for (let round = 1; round <= results.rounds; round++) {
    const inRound = runs.filter((run) => run.round === round);
    const own = valueIn(inRound.find(({ contender }) => contender === ours));
    const peers = inRound.filter(({ contender, figures }) => contender !== ours && figures !== undefined);
    // A peer that left pods unscheduled did less work. It can be the best peer only if no peer scheduled all pods.
    const finished = peers.filter(({ figures }) => figures!.complete);
    const values = (finished.length > 0 ? finished : peers).map(valueIn).filter((value) => value !== undefined);
    if (own === undefined || values.length === 0) continue;
    const best = better === 'higher' ? Math.max(...values) : Math.min(...values);
    if (best > 0) ratios.push(own / best);
  }
  return ratios;

  function valueIn(run: RunResult | undefined): number | undefined {
    return run?.figures === undefined ? undefined : of(run.figures);
  }
}

function ratioCell(ratios: readonly number[]): string {
  if (ratios.length === 0) return '–';
  const text = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
  const range = ratios.length === 1 ? '' : ` (${text(Math.min(...ratios))}–${text(Math.max(...ratios))})`;
  return `${text(median(ratios))}×${range}`;
}

function contenderCells(columns: readonly Column[], workload: Workload, runs: readonly RunResult[]): string[] {
  const figures = runs.map((run) => run.figures).filter((run) => run !== undefined);
  if (figures.length === 0) return ['failed', ...Array.from({ length: columns.length + 2 }, () => '–')];
  return [
    ...columns.map(({ of, digits }) => rangeCell(figures.map(of), digits)),
    rangeCell(
      figures.map(({ bound }) => bound),
      0,
    ) + (figures.length < runs.length ? `, ${runs.length - figures.length} failed` : ''),
    `${rangeCell(
      figures.map(({ wholeGangs }) => wholeGangs),
      0,
    )} of ${workload.fitting}`,
    rangeCell(
      figures.map(({ partialGangs }) => partialGangs),
      0,
    ),
  ];
}

function rangeCell(values: readonly (number | undefined)[], digits: number): string {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return '–';
  const text = (value: number): string => value.toFixed(digits);
  const [minimum, maximum] = [text(Math.min(...known)), text(Math.max(...known))];
  return minimum === maximum ? minimum : `${text(median(known))} (${minimum}–${maximum})`;
}

/** Returns a Markdown table. The first `textColumns` columns are text, the others numbers. */
function markdownTable(header: readonly string[], rows: readonly (readonly string[])[], textColumns: number): string {
  const widths = header.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i < textColumns ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i < textColumns ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(header), line(rule), ...rows.map(line)].join('\n');
}
