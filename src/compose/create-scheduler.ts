import process from 'node:process';
import { formatRemark } from '../config/configuration-error.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import { defaultConfiguration, defaultProfile } from '../config/scheduler-configuration.ts';
import type { ProfileConfiguration, SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import { createLogger } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { RunningProcess } from './running-process.ts';
import { runScheduler } from './scheduler.ts';
import type { OwnPlugin } from './scheduler.ts';

export interface CreateSchedulerOptions {
  /** Kubeconfig file and context. Default: as the configuration says, else as kubectl finds them. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** A KubeSchedulerConfiguration, or the file of one, of which there can be one. Its profiles say which plugins run. */
  readonly configuration?: SchedulerConfiguration;
  readonly configFile?: string;
  /** Names of profiles with Tutti's plugins, where there is no configuration. Default: `tutti`. */
  readonly schedulerNames?: readonly string[];
  /**
   * Plugins of your own; one with the name of ours takes its place. Without a configuration they are enabled in every profile, after
   * Tutti's; with one they are enabled where it names them, and their `args` here are those of profiles that give none.
   */
  readonly plugins?: readonly OwnPlugin[];
  /** Of health and metrics. Default 127.0.0.1, any free port. */
  readonly host?: string;
  readonly port?: number;
  /** Calls a second in the long run, and at once. Default: as the configuration says, else 50 and 100, as kube-scheduler. */
  readonly qps?: number;
  readonly burst?: number;
  /** Default: text on standard error, from level info. */
  readonly logger?: Logger;
}

/**
 * Starts a scheduler and resolves once its health endpoint answers; it schedules as soon as it has seen the cluster. Rejects
 * with ConfigurationError, KubeconfigError, PortUnavailableError, ProfileError, UnsupportedConfigurationError, or what a plugin's
 * factory throws.
 */
export async function createScheduler(options: CreateSchedulerOptions = {}): Promise<RunningProcess> {
  const { plugins = [], kubeconfig, qps, burst, context, host = '127.0.0.1', port = 0 } = options;
  const logger = options.logger ?? createLogger({ level: 'info', format: 'text', destination: process.stderr });
  const configuration = await configurationOf(options, logger);
  return runScheduler({
    configuration: {
      ...configuration,
      clientConnection: {
        ...configuration.clientConnection,
        ...(kubeconfig !== undefined && { kubeconfig }),
        ...(qps !== undefined && { qps }),
        ...(burst !== undefined && { burst }),
      },
    },
    plugins: plugins.map(({ name, factory, args: own }) => ({
      name,
      factory: (args, handle) => factory(args ?? own, handle),
    })),
    ...(context !== undefined && { context }),
    host,
    port,
    logger,
  });
}

async function configurationOf(options: CreateSchedulerOptions, logger: Logger): Promise<SchedulerConfiguration> {
  const { configuration, configFile, schedulerNames, plugins = [] } = options;
  const given = Object.entries({ configuration, configFile, schedulerNames }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length > 1) {
    throw new TypeError(`give one of ${given.map(([name]) => name).join(' and ')}: each says which profiles there are`);
  }
  if (configuration !== undefined) return configuration;
  if (configFile !== undefined) {
    const loaded = await loadConfiguration(
      configFile,
      plugins.map(({ name }) => ({ name })),
    );
    for (const warning of loaded.warnings) logger.warn('about the configuration', { remark: formatRemark(warning) });
    return loaded.configuration;
  }
  const names = schedulerNames ?? ['tutti'];
  return defaultConfiguration({ profiles: names.map((name) => withOwn(defaultProfile(name), plugins)) });
}

function withOwn({ plugins, ...profile }: ProfileConfiguration, own: readonly OwnPlugin[]): ProfileConfiguration {
  const isOwn = (name: string): boolean => own.some((plugin) => plugin.name === name);
  return { ...profile, plugins: [...plugins.filter(({ name }) => !isOwn(name)), ...own] };
}
