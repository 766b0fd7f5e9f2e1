import { writeFile } from 'node:fs/promises';
import { inTermsOfFile } from '../compose/in-terms-of-file.ts';
import { enableOwn } from '../compose/own-plugins.ts';
import type { RunningProcess } from '../compose/running-process.ts';
import { runScheduler } from '../compose/scheduler.ts';
import { formatRemark } from '../config/configuration-error.ts';
import { formatConfiguration } from '../config/format-configuration.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import type { ParsedConfiguration } from '../config/parse-configuration.ts';
import { defaultConfiguration, defaultLeaderElection, defaultProfile } from '../config/scheduler-configuration.ts';
import type { SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import { knownPlugin } from '../plugins/own-plugin.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';
import { OutputFileError } from './output-file-error.ts';
import { leaderElectionOf } from './leader-election-flags.ts';
import { schedulerLease } from './program.ts';
import type { SchedulerFlags } from './program.ts';
import { runServer } from './run-server.ts';

const longestName = 253;
/** Of what a server has to stop; at 50 calls a second (--kube-api-qps) a gang of 750 members and what fits into the burst is bound by then. */
const drainMs = 15_000;

type Configured = Pick<ParsedConfiguration, 'configuration'> & Partial<ParsedConfiguration>;

/** Runs the scheduler as its flags or its configuration file say, until it is interrupted; or only writes down what that comes to. */
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
    for (const warning of warnings) logger.warn('about the configuration', { remark: formatRemark(warning) });
    for (const flag of flags.overruled ?? []) {
      logger.warn('this flag is not taken beside --config, which says it in the file', { flag });
    }
    if (mayWaitForKubeScheduler(configuration)) {
      logger.warn(
        "the Lease is kube-scheduler's own: beside one that runs, this scheduler only stands by; name another one in leaderElection.resourceName",
        { lease: 'kube-system/kube-scheduler' },
      );
    }
    const run = (): Promise<RunningProcess> =>
      runScheduler({ endpoint, serving, logger, configuration, plugins, drainMs });
    return errorOf === undefined ? run() : inTermsOfFile({ errorOf }, run);
  });
}

/** What the flags say about the election goes before the file; all else in it is theirs only where there is no file. */
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

/** Schedulers of other pods do not stand in each other's way; those of the same pods do, in whatever order they name them. */
function leaseFor(schedulerNames: readonly string[] = []): string {
  return [schedulerLease, ...schedulerNames.toSorted()]
    .join('-')
    .slice(0, longestName)
    .replace(/[-.]+$/, '');
}

/** Whether it stands for kube-scheduler's Lease, the default of a file, though it has other pods to schedule. */
function mayWaitForKubeScheduler({ leaderElection, profiles }: SchedulerConfiguration): boolean {
  const { leaderElect, resourceNamespace, resourceName } = leaderElection;
  const isTheirs =
    resourceNamespace === defaultLeaderElection.resourceNamespace &&
    resourceName === defaultLeaderElection.resourceName;
  return leaderElect && isTheirs && profiles.every(({ schedulerName }) => schedulerName !== 'default-scheduler');
}
