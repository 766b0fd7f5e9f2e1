import { writeFile } from 'node:fs/promises';
import { maxNameLength } from '../base/safe-text.ts';
import { inTermsOfFile } from '../compose/in-terms-of-file.ts';
import { enableOwn } from '../compose/own-plugins.ts';
import type { RunningProcess } from '../compose/running-process.ts';
import { runScheduler } from '../compose/scheduler.ts';
import { formatDiagnostic } from '../config/configuration-error.ts';
import { formatConfiguration } from '../config/format-configuration.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import type { ParsedConfiguration } from '../config/parse-configuration.ts';
import { defaultConfiguration, defaultLeaderElection, defaultProfile } from '../config/scheduler-configuration.ts';
import type { SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import { knownPlugin } from '../plugins/own-plugin.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';
import { OutputFileError } from './output/output-file-error.ts';
import { leaderElectionOf } from './leader-election-flags.ts';
import { schedulerLease } from './program.ts';
import type { SchedulerFlags } from './program.ts';
import { runServer } from './run-server.ts';

/** Part of the stop timeout in which the scheduler completes gangs. At 50 calls per second (--kube-api-qps) it binds 750 members plus the burst. */
const drainMs = 15_000;

type Configured = Pick<ParsedConfiguration, 'configuration'> & Partial<ParsedConfiguration>;

/** Runs the scheduler with its flags or its configuration file until it is interrupted. With --write-config-to, only writes the configuration. */
export async function runSchedulerCommand(
  flags: SchedulerFlags,
  plugins: readonly OwnPlugin[],
  context: CommandContext,
): Promise<number> {
  const { configuration, warnings = [], errorOf } = await configurationOf(flags, plugins);
  if (flags.writeConfigTo !== undefined) {
    await write(flags.writeConfigTo, formatConfiguration(configuration));
    return exitCodes.ok;
  }
  const { kubeconfig: _, ...rest } = flags;
  const { kubeconfig } = configuration.clientConnection;
  const options = {
    ...rest,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(flags.config !== undefined && { kubeconfigFrom: `clientConnection.kubeconfig of ${flags.config}` }),
  };
  return runServer('scheduler', options, context, ({ endpoint, serving, logger }) => {
    for (const warning of warnings) logger.warn('configuration warning', { diagnostic: formatDiagnostic(warning) });
    for (const flag of flags.overruled ?? []) {
      logger.warn('ignoring this flag, because the file of --config overrides it', { flag });
    }
    if (mayWaitForKubeScheduler(configuration)) {
      logger.warn(
        "the Lease is kube-scheduler's own: while kube-scheduler holds it, this scheduler only stands by; set leaderElection.resourceName to another name",
        { lease: 'kube-system/kube-scheduler' },
      );
    }
    const run = (): Promise<RunningProcess> =>
      runScheduler({
        ...{ endpoint, serving, logger, configuration, plugins, drainMs },
        maxRepairGraceMs: flags.maxRepairGrace,
      });
    return errorOf === undefined ? run() : inTermsOfFile({ errorOf }, run);
  });
}

/** Returns the configuration. Leader election flags override the file; other flags apply only without a file. */
async function configurationOf(flags: SchedulerFlags, plugins: readonly OwnPlugin[]): Promise<Configured> {
  const configured = await configurationBeforeElection(flags, plugins);
  const { configuration } = configured;
  const leaderElection = leaderElectionOf(flags, configuration.leaderElection);
  return { ...configured, configuration: { ...configuration, leaderElection } };
}

async function configurationBeforeElection(flags: SchedulerFlags, plugins: readonly OwnPlugin[]): Promise<Configured> {
  if (flags.config !== undefined) return loadConfiguration(flags.config, plugins.map(knownPlugin));
  const { schedulerName: names = ['tutti'], kubeconfig, kubeApiQps: qps, kubeApiBurst: burst } = flags;
  const clientConnection = { qps, burst, ...(kubeconfig !== undefined && { kubeconfig }) };
  const profiles = enableOwn(names.map(defaultProfile), plugins);
  const leaderElection = { ...defaultLeaderElection, resourceName: leaseFor(flags.schedulerName) };
  return { configuration: defaultConfiguration({ profiles, clientConnection, leaderElection }) };
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new OutputFileError('the configuration', path, error as NodeJS.ErrnoException);
  }
}

/** Returns the default Lease name. Schedulers with the same scheduler names, in any order, share a Lease; all others do not. */
function leaseFor(schedulerNames: readonly string[] = []): string {
  return [schedulerLease, ...schedulerNames.toSorted()]
    .join('-')
    .slice(0, maxNameLength)
    .replace(/[-.]+$/, '');
}

/** Returns whether the Lease is kube-scheduler's, the default of a file, although the scheduler has other scheduler names. */
function mayWaitForKubeScheduler({ leaderElection, profiles }: SchedulerConfiguration): boolean {
  const { leaderElect, resourceNamespace, resourceName } = leaderElection;
  const isTheirs =
    resourceNamespace === defaultLeaderElection.resourceNamespace &&
    resourceName === defaultLeaderElection.resourceName;
  return leaderElect && isTheirs && profiles.every(({ schedulerName }) => schedulerName !== 'default-scheduler');
}
