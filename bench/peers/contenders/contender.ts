import type { ProcessGroup } from '../../../test/planes/real/process-group.ts';
import type { GroupKind } from '../load/load-protocol.ts';
import type { Workload } from '../workload.ts';

/** `tutti-native` is Tutti with the PodGroups of Kubernetes. */
export type ContenderName = 'tutti' | 'tutti-native' | 'kube-scheduler' | 'scheduler-plugins';

/** `spec.schedulerName` of the pods, for all contenders. */
export const benchSchedulerName = 'bench';

/** QPS and burst of each contender. */
export const apiLimits = { qps: 5000, burst: 10_000 } as const;

/** Input of `Contender.command`. */
export interface ContenderStart {
  /** Process group of the scheduler, which ends with the group at the latest. Its log is `scheduler.log` in the group's folder. */
  readonly group: ProcessGroup;
  readonly kubeconfigPath: string;
  readonly workload: Workload;
}

/** Command to start with `group.start(schedulerProcess, command, args)`. */
export interface ContenderCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** URL that returns 200 once the caches have synced. */
  readonly readyUrl: string;
}

export const schedulerProcess = 'scheduler';

/** A scheduler in the comparison. */
export interface Contender {
  readonly name: ContenderName;
  /** Version, for readers of the results. */
  readonly version: string;
  /** Returns how pods of a gang are marked as a group; `none` if the workload has only single pods. */
  groupsFor(workload: Workload): GroupKind;
  /** Writes its configuration to the group's folder, and returns how to start it. */
  command(start: ContenderStart): Promise<ContenderCommand>;
}
