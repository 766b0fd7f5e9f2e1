import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../../test/planes/real/ports.ts';
import { usesGroups } from '../workload.ts';
import { apiLimits, benchSchedulerName } from './contender.ts';
import type { Contender, ContenderCommand, ContenderStart } from './contender.ts';

interface GoScheduler {
  readonly binary: string;
  readonly plugins?: object;
  readonly flags?: readonly string[];
}

/** Starts a scheduler that is based on kube-scheduler, with default settings except for its client limits. */
async function goSchedulerCommand(
  { group, kubeconfigPath }: ContenderStart,
  { binary, plugins, flags = [] }: GoScheduler,
): Promise<ContenderCommand> {
  const [port] = await freePorts(1);
  const configPath = join(group.folder, 'scheduler-config.json');
  const configuration = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig: kubeconfigPath, ...apiLimits },
    profiles: [{ schedulerName: benchSchedulerName, ...(plugins !== undefined && { plugins }) }],
  };
  await writeFile(configPath, JSON.stringify(configuration));
  return {
    command: binary,
    args: [
      `--config=${configPath}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--authentication-kubeconfig=${kubeconfigPath}`,
      `--authorization-kubeconfig=${kubeconfigPath}`,
      ...flags,
    ],
    readyUrl: `https://127.0.0.1:${port}/readyz`,
  };
}

/**
 * kube-scheduler: default settings for single pods; its own gang scheduling, which is disabled by default, for gangs. The feature gate also
 * enables preemption by gangs and of gangs.
 */
export function kubeScheduler(binary: string, version: string): Contender {
  return {
    name: 'kube-scheduler',
    version,
    groupsFor: (workload) => (usesGroups(workload) ? 'native' : 'none'),
    command: (start) =>
      goSchedulerCommand(start, {
        binary,
        flags: usesGroups(start.workload) ? ['--feature-gates=GenericWorkload=true'] : [],
      }),
  };
}

/** scheduler-plugins with the Coscheduling plugin, enabled as in its documentation. */
export function schedulerPlugins(binary: string, version: string): Contender {
  return {
    name: 'scheduler-plugins',
    version,
    groupsFor: (workload) => (usesGroups(workload) ? 'label' : 'none'),
    command: (start) =>
      goSchedulerCommand(start, {
        binary,
        plugins: {
          multiPoint: { enabled: [{ name: 'Coscheduling' }], disabled: [{ name: 'PrioritySort' }] },
        },
      }),
  };
}
