import type { ContenderName } from './contenders/contender.ts';
import type { PreemptionFigures, SchedulingFigures } from './figures.ts';
import type { Selection } from './selection.ts';
import type { Workload } from './workload.ts';

/** Figures of one contender with one workload in one round. */
export interface RunFigures extends SchedulingFigures {
  /** Whether all pods that fit were bound within the time limit. */
  readonly complete: boolean;
  /** CPU time of the scheduler per bound pod. */
  readonly cpuMsPerPod: number;
  /** Peak resident memory of the scheduler. */
  readonly peakMb: number;
  readonly apiCallsPerPod: number;
  /** `VERB resource/subresource` -> calls of the scheduler */
  readonly apiCalls: Readonly<Record<string, number>>;
  /** CPU time of the API server per bound pod, from all clients. */
  readonly apiServerCpuMsPerPod: number;
  /** CPU time of the API server and etcd from the first create until the last binding, all clients together. Absent in older results. */
  readonly planeCpuUntilBoundMs?: number;
  /** Elapsed time and CPU time from the start of the scheduler's process until it was ready. */
  readonly startUpMs: number;
  readonly startUpCpuMs: number;
  /** Number of times that the generator's watch was resumed. Bindings in such a gap count at the time of their late event. */
  readonly watchRestarts: number;
  /** Absent if the workload does not preempt. */
  readonly preemption?: PreemptionFigures;
}

export interface RunResult {
  readonly round: number;
  readonly workload: string;
  readonly contender: ContenderName;
  /** Absent if the run failed. `failure` then has the reason. */
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

/** The results of one execution of the benchmark. Do not compare figures of different executions. */
export interface BenchResults extends Selection {
  readonly date: string;
  readonly machine: Machine;
  /** program -> version */
  readonly versions: Readonly<Record<string, string>>;
  readonly workloads: readonly Workload[];
  readonly runs: readonly RunResult[];
}

/** Formats the results as JSON with one run per line, so that diffs are readable. */
export function formatResults(results: BenchResults): string {
  const { workloads, runs, ...head } = results;
  const lines = (items: readonly object[]): string =>
    items.length === 0 ? '[]' : `[\n${items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`;
  const top = JSON.stringify(head, null, 2).slice(0, -2);
  return `${top},\n  "workloads": ${lines(workloads)},\n  "runs": ${lines(runs)}\n}\n`;
}
