import type { ContenderName } from './contenders/contender.ts';
import type { SchedulingFigures } from './figures.ts';
import type { Selection } from './selection.ts';
import type { Workload } from './workload.ts';

/** What one contender did with one workload in one round. */
export interface RunFigures extends SchedulingFigures {
  /** Everything that fits was bound within the time allowed. */
  readonly complete: boolean;
  /** Processor time of the scheduler for each pod bound. */
  readonly cpuMsPerPod: number;
  /** Most resident memory the scheduler ever had. */
  readonly peakMb: number;
  readonly apiCallsPerPod: number;
  /** `VERB resource/subresource` -> calls of the scheduler */
  readonly apiCalls: Readonly<Record<string, number>>;
  /** Processor time of the API server for each pod bound, whoever caused it. */
  readonly apiServerCpuMsPerPod: number;
  /** From the start of the scheduler's process until it was ready, and the processor time that took. */
  readonly startUpMs: number;
  readonly startUpCpuMs: number;
  /** How often the generator's watch had to be resumed; binds in such a gap count when it is told of them. */
  readonly watchRestarts: number;
}

export interface RunResult {
  readonly round: number;
  readonly workload: string;
  readonly contender: ContenderName;
  /** Absent when the run failed; then `failure` says how. */
  readonly figures?: RunFigures;
  readonly failure?: string;
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly node: string;
  readonly go: string;
}

/** One execution of the benchmark: what a file of results holds. Figures of two of them must not be compared. */
export interface BenchResults extends Selection {
  readonly date: string;
  readonly machine: Machine;
  /** Program -> version */
  readonly versions: Readonly<Record<string, string>>;
  readonly workloads: readonly Workload[];
  readonly runs: readonly RunResult[];
}

/** JSON with one run a line, so that a new execution is a readable difference. */
export function formatResults(results: BenchResults): string {
  const { workloads, runs, ...head } = results;
  const lines = (items: readonly object[]): string =>
    items.length === 0 ? '[]' : `[\n${items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`;
  const top = JSON.stringify(head, null, 2).slice(0, -2);
  return `${top},\n  "workloads": ${lines(workloads)},\n  "runs": ${lines(runs)}\n}\n`;
}
