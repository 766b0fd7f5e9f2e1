import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlaneFiles } from './program-arguments.ts';

/** Settings of another scheduler. */
export interface SchedulerSettings {
  /** The schedulerName of its pods. */
  readonly schedulerName: string;
  /** Sustained API calls per second, and the burst. */
  readonly qps: number;
  readonly burst: number;
  /** Path of the kubeconfig for its API calls. Default: the plane's. */
  readonly kubeconfig?: string;
}

/** Writes `<name>.json`, a KubeSchedulerConfiguration. For scheduler-plugins it enables Coscheduling. */
export async function writeSchedulerConfiguration(
  name: 'kube-scheduler' | 'scheduler-plugins-scheduler',
  files: PlaneFiles,
  { schedulerName, qps, burst, kubeconfig = files.kubeconfig }: SchedulerSettings,
): Promise<void> {
  const gangs = { multiPoint: { enabled: [{ name: 'Coscheduling' }], disabled: [{ name: 'PrioritySort' }] } };
  const configuration = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig, qps, burst },
    leaderElection: { leaderElect: false },
    profiles: [{ schedulerName, ...(name === 'scheduler-plugins-scheduler' && { plugins: gangs }) }],
  };
  await writeFile(join(files.folder, `${name}.json`), JSON.stringify(configuration));
}
