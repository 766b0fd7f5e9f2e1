import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { freePorts } from '../../../test/planes/real/ports.ts';
import { usesGroups } from '../workload.ts';
import type { Workload } from '../workload.ts';
import { apiLimits, benchSchedulerName } from './contender.ts';
import type { Contender } from './contender.ts';

export interface TuttiOptions {
  readonly name: 'tutti' | 'tutti-native';
  /** dist/cli.js, which users run, not the sources. */
  readonly cliPath: string;
  readonly version: string;
  /** Folder for a CPU profile when the scheduler ends. Absent: no profile. */
  readonly profileFolder?: string;
}

export function tutti({ name, cliPath, version, profileFolder }: TuttiOptions): Contender {
  return {
    name,
    version,
    groupsFor: (workload) => (!usesGroups(workload) ? 'none' : name === 'tutti' ? 'label' : 'native'),
    async command({ group, kubeconfigPath, workload }) {
      const [port] = await freePorts(1);
      const profile =
        profileFolder === undefined
          ? []
          : [
              '--cpu-prof',
              `--cpu-prof-dir=${profileFolder}`,
              `--cpu-prof-name=${workload.id}-${Date.now()}.cpuprofile`,
            ];
      const { environment, nodeFlags } = firstLine(cliPath);
      const configPath = join(group.folder, 'scheduler-config.json');
      await writeFile(configPath, JSON.stringify(configuration(kubeconfigPath, workload)));
      return {
        command: '/usr/bin/env',
        args: [
          ...environment,
          process.execPath,
          ...nodeFlags,
          ...profile,
          cliPath,
          'scheduler',
          `--config=${configPath}`,
          `--secure-port=${port}`,
        ],
        readyUrl: `https://127.0.0.1:${port}/readyz`,
      };
    },
  };
}

/** Preemption is enabled for the workloads that need it. */
function configuration(kubeconfig: string, { victims }: Workload): object {
  const plugins = { multiPoint: { enabled: [{ name: 'DefaultPreemption' }] } };
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig, ...apiLimits },
    profiles: [{ schedulerName: benchSchedulerName, ...(victims !== undefined && { plugins }) }],
  };
}

/** Reads the environment and the Node flags in the first line of the command line file, which apply when users run it. */
function firstLine(cliPath: string): {
  readonly environment: readonly string[];
  readonly nodeFlags: readonly string[];
} {
  const [line = ''] = readFileSync(cliPath, 'utf8').split('\n', 1);
  const match = /^#!\S+ -S ((?:\w+=\S+ )*)node (.+)$/.exec(line);
  if (match === null) throw new Error(`${cliPath} has an unexpected first line: ${line.slice(0, 80)}`);
  return { environment: match[1]!.split(' ').filter((word) => word !== ''), nodeFlags: match[2]!.split(' ') };
}
