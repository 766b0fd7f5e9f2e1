import { writeFile } from 'node:fs/promises';
import { enableOwn } from '../compose/own-plugins.ts';
import { runScheduler } from '../compose/scheduler.ts';
import { formatRemark } from '../config/configuration-error.ts';
import type { ConfigurationRemark } from '../config/configuration-error.ts';
import { formatConfiguration } from '../config/format-configuration.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import { defaultConfiguration, defaultProfile } from '../config/scheduler-configuration.ts';
import type { SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import { knownPlugin } from '../plugins/own-plugin.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';
import { OutputFileError } from './output-file-error.ts';
import type { SchedulerFlags } from './program.ts';
import { runServer } from './run-server.ts';

/** Runs the scheduler as its flags or its configuration file say, until it is interrupted; or only writes down what that comes to. */
export async function runSchedulerCommand(
  flags: SchedulerFlags,
  plugins: readonly OwnPlugin[],
  context: CommandContext,
): Promise<number> {
  const { configuration, warnings } = await configurationOf(flags, plugins);
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
    return runScheduler({ endpoint, serving, logger, configuration, plugins });
  });
}

async function configurationOf(
  flags: SchedulerFlags,
  plugins: readonly OwnPlugin[],
): Promise<{
  readonly configuration: SchedulerConfiguration;
  readonly warnings: readonly ConfigurationRemark[];
}> {
  if (flags.config !== undefined) return loadConfiguration(flags.config, plugins.map(knownPlugin));
  const { schedulerName: names = ['tutti'], kubeconfig, kubeApiQps: qps, kubeApiBurst: burst } = flags;
  const clientConnection = { qps, burst, ...(kubeconfig !== undefined && { kubeconfig }) };
  return {
    configuration: defaultConfiguration({ profiles: enableOwn(names.map(defaultProfile), plugins), clientConnection }),
    warnings: [],
  };
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new OutputFileError('the configuration', path, error as NodeJS.ErrnoException);
  }
}
