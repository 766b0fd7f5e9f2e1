import process from 'node:process';
import { formatRemark } from '../config/configuration-error.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import type { ParsedConfiguration } from '../config/parse-configuration.ts';
import { defaultConfiguration, defaultProfile, noLeaderElection } from '../config/scheduler-configuration.ts';
import type { SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import { createLogger } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import { knownPlugin } from '../plugins/own-plugin.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { defaultSecurePorts, defaultSecureServing } from '../serving/secure-serving-options.ts';
import type { SecureServingOptions } from '../serving/secure-serving-options.ts';
import { inTermsOfFile } from './in-terms-of-file.ts';
import { enableOwn } from './own-plugins.ts';
import { profileFrom } from './profile-options.ts';
import type { ProfileOptions } from './profile-options.ts';
import type { RunningProcess } from './running-process.ts';
import { runScheduler } from './scheduler.ts';

export interface CreateSchedulerOptions {
  /** Kubeconfig file and context. Default: as the configuration says, else as kubectl finds them. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** A KubeSchedulerConfiguration, or the file of one, of which there can be one. Its profiles say which plugins run. */
  readonly configuration?: SchedulerConfiguration;
  readonly configFile?: string;
  /** The profiles in short, where there is no configuration: how each differs from the default. */
  readonly profiles?: readonly ProfileOptions[];
  /** Names of profiles with Tutti's plugins, where there is nothing of the above. Default: `tutti`. */
  readonly schedulerNames?: readonly string[];
  /**
   * Plugins of your own; one with the name of ours takes its place. Where profiles are stated they are enabled by those that name
   * them, and their `args` are those of profiles that give none; otherwise in every profile, after Tutti's.
   */
  readonly plugins?: readonly OwnPlugin[];
  /** Of health, metrics and /debug, over plain HTTP, for this machine alone. Default: any free port. */
  readonly port?: number;
  /** HTTPS in its place, as `tutti scheduler` serves: what is not given is as its flags are by default. */
  readonly secureServing?: Partial<SecureServingOptions>;
  /** Calls a second in the long run, and at once. Default: as the configuration says, else 50 and 100, as kube-scheduler. */
  readonly qps?: number;
  readonly burst?: number;
  /** Default: text on standard error, from level info. */
  readonly logger?: Logger;
}

/**
 * Starts a scheduler and resolves once its health endpoint answers; it schedules as soon as it has seen the cluster, and leads, where a
 * configuration or its file does not switch leader election off. Without one there is no election. Rejects
 * with ConfigurationError (whatever is wrong with a file, its profiles included), KubeconfigError, CertificateError, PortUnavailableError,
 * ProfileError, UnsupportedConfigurationError or ExtenderConfigurationError.
 */
export async function createScheduler(options: CreateSchedulerOptions = {}): Promise<RunningProcess> {
  const { plugins = [], kubeconfig, qps, burst, context, secureServing, port = 0 } = options;
  const logger = options.logger ?? createLogger({ level: 'info', format: 'text', destination: process.stderr });
  const { configuration, errorOf } = await configurationOf(options, logger);
  const run = (): Promise<RunningProcess> =>
    runScheduler({
      configuration: {
        ...configuration,
        clientConnection: {
          ...configuration.clientConnection,
          ...(kubeconfig !== undefined && { kubeconfig }),
          ...(qps !== undefined && { qps }),
          ...(burst !== undefined && { burst }),
        },
      },
      plugins,
      ...(context !== undefined && { context }),
      serving:
        secureServing === undefined
          ? { kind: 'local', port }
          : { kind: 'secure', ...defaultSecureServing, securePort: defaultSecurePorts.scheduler, ...secureServing },
      logger,
    });
  return errorOf === undefined ? run() : inTermsOfFile({ errorOf }, run);
}

/** With `errorOf` where it is that of a file. */
async function configurationOf(
  options: CreateSchedulerOptions,
  logger: Logger,
): Promise<Pick<ParsedConfiguration, 'configuration'> & Partial<ParsedConfiguration>> {
  const { configuration, configFile, profiles, schedulerNames = ['tutti'], plugins = [] } = options;
  const given = Object.entries({ configuration, configFile, profiles, schedulerNames: options.schedulerNames }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length > 1) {
    throw new TypeError(`give one of ${given.map(([name]) => name).join(' and ')}: each says which profiles there are`);
  }
  if (configuration !== undefined) return { configuration };
  if (configFile !== undefined) {
    const loaded = await loadConfiguration(configFile, plugins.map(knownPlugin));
    for (const warning of loaded.warnings) logger.warn('about the configuration', { remark: formatRemark(warning) });
    return loaded;
  }
  const configured = defaultConfiguration({
    profiles: profiles?.map(profileFrom) ?? enableOwn(schedulerNames.map(defaultProfile), plugins),
    leaderElection: noLeaderElection,
  });
  return { configuration: configured };
}
