import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ContenderName } from './contenders/contender.ts';
import { resultsPage } from './report.ts';
import { formatResults } from './results.ts';
import type { BenchResults, RunFigures, RunResult } from './results.ts';
import { figuresTable, ratioTable } from './table.ts';
import { workloadsOf } from './workload.ts';

const workload = workloadsOf({ quick: true, long: false, preemption: false, native: false, nodes: [] })[1]!;

function run(round: number, contender: ContenderName, figures: Partial<RunFigures>): RunResult {
  return {
    round,
    workload: workload.id,
    contender,
    figures: {
      bound: 1000,
      wholeGangs: 250,
      partialGangs: 0,
      seconds: 5,
      podsPerSecond: 200,
      latencyP50Ms: 1000,
      latencyP99Ms: 2000,
      complete: true,
      cpuMsPerPod: 2,
      peakMb: 150,
      apiCallsPerPod: 2,
      apiCalls: {},
      apiServerCpuMsPerPod: 3,
      startUpMs: 900,
      startUpCpuMs: 500,
      watchRestarts: 0,
      ...figures,
    },
  };
}

function preempting(preemption: RunFigures['preemption']): BenchResults {
  const [other] = workloadsOf({ quick: false, long: false, preemption: true, native: false, nodes: [] });
  const figures = { ...run(1, 'tutti', { seconds: 1.5 }), workload: other!.id };
  const runs = [
    { ...figures, figures: { ...figures.figures!, ...(preemption && { preemption }) } },
    { ...run(1, 'kube-scheduler', { seconds: 3, preemption: { evicted: 20, evictedInVain: 4 } }), workload: other!.id },
  ];
  return { ...results(...runs), quick: false, preemption: true, workloads: [other!] };
}

function results(...runs: RunResult[]): BenchResults {
  const machine = { cpu: 'a processor', cores: 2, memoryGb: 8, kernel: '6', node: '24', go: '1.26' };
  const versions = { tutti: '0.1.0' };
  const selection = {
    quick: true,
    long: false,
    preemption: false,
    native: false,
    seed: 1,
    rounds: 2,
    nodes: [1000],
    only: '',
    profile: false,
  };
  return { date: '2026-01-02', ...selection, machine, versions, workloads: [workload], runs };
}

/** Returns column title -> cell, of the only row or of the row of a scheduler. */
function cells(table: string, row = 0): Record<string, string> {
  const lines = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return Object.fromEntries(lines[0]!.map((title, index) => [title, lines[row + 2]![index]!]));
}

describe('ratioTable', () => {
  it('compares with the best peer of the same round: the highest pods/s, and the lowest value of other figures', () => {
    const table = ratioTable(
      results(
        run(1, 'tutti', { podsPerSecond: 300, cpuMsPerPod: 1 }),
        run(1, 'kube-scheduler', { podsPerSecond: 100, cpuMsPerPod: 4 }),
        run(1, 'scheduler-plugins', { podsPerSecond: 150, cpuMsPerPod: 5 }),
        run(2, 'tutti', { podsPerSecond: 400, cpuMsPerPod: 1 }),
        run(2, 'kube-scheduler', { podsPerSecond: 100, cpuMsPerPod: 2 }),
        run(2, 'scheduler-plugins', { podsPerSecond: 50, cpuMsPerPod: 8 }),
      ),
    );
    expect(cells(table)).toMatchObject({ 'pods/s': '3.00× (2.00–4.00)', 'CPU a pod': '0.38× (0.25–0.50)' });
  });

  it('ignores a peer that left pods unscheduled, unless all did', () => {
    const table = ratioTable(
      results(
        run(1, 'tutti', { podsPerSecond: 300 }),
        run(1, 'kube-scheduler', { podsPerSecond: 600, complete: false }),
        run(1, 'scheduler-plugins', { podsPerSecond: 150 }),
        run(2, 'tutti', { podsPerSecond: 300 }),
        run(2, 'kube-scheduler', { podsPerSecond: 100, complete: false }),
      ),
    );
    expect(cells(table)['pods/s']).toBe('2.50× (2.00–3.00)');
  });

  it('has no ratio for a figure that no peer has', () => {
    const table = ratioTable(
      results(run(1, 'tutti', {}), { round: 1, workload: workload.id, contender: 'kube-scheduler' }),
    );
    expect(cells(table)['pods/s']).toBe('–');
  });
});

describe('figuresTable', () => {
  it('shows the median and range of each scheduler, including failures and partial gangs', () => {
    const table = figuresTable(
      results(
        run(1, 'tutti', { podsPerSecond: 300 }),
        run(2, 'tutti', { podsPerSecond: 400 }),
        run(1, 'kube-scheduler', { wholeGangs: 240, partialGangs: 3 }),
        { round: 2, workload: workload.id, contender: 'kube-scheduler', failure: 'it ended' },
        { round: 1, workload: workload.id, contender: 'scheduler-plugins', failure: 'it ended' },
      ),
    );
    expect(cells(table, 0)).toMatchObject({ scheduler: 'tutti', 'pods/s': '350 (300–400)', partial: '0' });
    expect(cells(table, 1)).toMatchObject({ bound: '1000, 1 failed', 'gangs whole': '240 of 250', partial: '3' });
    expect(cells(table, 2)).toMatchObject({ scheduler: 'scheduler-plugins', 'pods/s': 'failed' });
  });
});

describe('the results of workloads that preempt', () => {
  it('have the time until all are bound and the evicted pods instead of pods/s', () => {
    const all = preempting({ evicted: 10, evictedInVain: 0 });
    expect(cells(ratioTable(all))).toMatchObject({
      'create→last bound': '0.50×',
      evicted: '0.50×',
      'in vain': '0.00×',
    });
    expect(cells(figuresTable(all), 1)).toMatchObject({ evicted: '20', 'in vain': '4', 'gangs torn': '–' });
    expect(cells(figuresTable(all))).not.toHaveProperty('pods/s');
    expect(resultsPage(all)).toContain('--preemption --record');
  });
});

describe('recorded results', () => {
  it('are a page with both tables and an explanation of each column', () => {
    const page = resultsPage(results(run(1, 'tutti', {})));
    expect(page).toMatch(/## Tutti as a ratio [^]+\| 1,000 [^]+## Figures of each scheduler[^]+\| tutti /);
    expect(page).toContain('- **CPU a pod**: ');
  });

  it.each(['peers', 'peers-long', 'peers-preemption'])(
    '%s that is checked in is what its results make',
    async (name) => {
      const [json, page] = await Promise.all(
        ['json', 'md'].map((type) => readFile(`bench/results/${name}.${type}`, 'utf8')),
      );
      expect(page, `npm run bench:peers -- --from bench/results/${name}.json --record`).toBe(
        resultsPage(JSON.parse(json!)),
      );
    },
  );

  it('are JSON with one run per line', () => {
    const all = results(run(1, 'tutti', {}), run(2, 'tutti', {}));
    const text = formatResults(all);
    expect(JSON.parse(text)).toEqual(all);
    expect(text.split('\n').filter((line) => line.includes('"round":'))).toHaveLength(2);
    expect(JSON.parse(formatResults(results()))).toEqual(results());
  });
});
