import type { ProcessGroup } from '../../../test/planes/real/process-group.ts';
import type { GroupKind } from '../load/load-protocol.ts';
import type { Workload } from '../workload.ts';

export type ContenderName = 'tutti' | 'kube-scheduler' | 'scheduler-plugins';

/** `spec.schedulerName` of the pods of the load, whoever schedules them. */
export const benchSchedulerName = 'bench';

/** Calls to the API server that each contender may make a second, and at once. */
export const apiLimits = { qps: 5000, burst: 10_000 } as const;

/** What a contender is started with. */
export interface ContenderStart {
  /** Which parents it; it ends with the group at the latest. Its log is `scheduler.log` in the group's folder. */
  readonly group: ProcessGroup;
  readonly kubeconfigPath: string;
  readonly workload: Workload;
}

/** How it was started: `group.start(schedulerProcess, command, args)`. */
export interface ContenderCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Answers 200 once it has seen the cluster. */
  readonly readyUrl: string;
}

export const schedulerProcess = 'scheduler';

/** One of the schedulers that are compared. */
export interface Contender {
  readonly name: ContenderName;
  /** As a reader of the results would look it up. */
  readonly version: string;
  /** How pods of a gang are told to belong together; `none` for lone pods. */
  groupsFor(workload: Workload): GroupKind;
  /** Writes what it needs into the group's folder and says how to start it. */
  command(start: ContenderStart): Promise<ContenderCommand>;
}
