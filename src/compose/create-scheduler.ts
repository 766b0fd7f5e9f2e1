import process from 'node:process';
import { formatDiagnostic } from '../config/configuration-error.ts';
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
  /** Kubeconfig file and context. Default: as in the configuration, or the defaults of kubectl. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** A KubeSchedulerConfiguration object, or a file with one; not both. Its profiles define which plugins run. */
  readonly configuration?: SchedulerConfiguration;
  readonly configFile?: string;
  /** Profiles in short form, if there is no configuration: how each differs from the default. */
  readonly profiles?: readonly ProfileOptions[];
  /** Names of profiles with Tutti's plugins, if there are no profiles and no configuration. Default: `tutti`. */
  readonly schedulerNames?: readonly string[];
  /**
   * Your own plugins; a plugin with the name of one of Tutti's replaces it. With explicit profiles, each profile enables them by
   * name; their `args` apply to profiles that set none. Otherwise every profile runs them, after Tutti's.
   */
  readonly plugins?: readonly OwnPlugin[];
  /** Port of health, metrics and /debug over plain HTTP, on loopback only. Default: any free port. */
  readonly port?: number;
  /** Serves HTTPS instead, like `tutti scheduler`; missing options have the defaults of its flags. */
  readonly secureServing?: Partial<SecureServingOptions>;
  /** Calls per second in the long run, and burst. Default: as in the configuration, or 50 and 100 like kube-scheduler. */
  readonly qps?: number;
  readonly burst?: number;
  /** Default: text on standard error, at level info. */
  readonly logger?: Logger;
}

/**
 * Starts a scheduler and resolves once its health endpoint responds. It schedules as soon as its caches have synced and it leads.
 * With a configuration there is leader election unless the configuration disables it; without one there is none. Rejects with
 * ConfigurationError (for anything wrong in a file, including its profiles), KubeconfigError, CertificateError,
 * PortUnavailableError, ProfileError, UnsupportedConfigurationError or ExtenderConfigurationError.
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

/** Returns the configuration; with `errorOf` if it comes from a file. */
async function configurationOf(
  options: CreateSchedulerOptions,
  logger: Logger,
): Promise<Pick<ParsedConfiguration, 'configuration'> & Partial<ParsedConfiguration>> {
  const { configuration, configFile, profiles, schedulerNames = ['tutti'], plugins = [] } = options;
  const given = Object.entries({ configuration, configFile, profiles, schedulerNames: options.schedulerNames }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length > 1) {
    throw new TypeError(`set only one of ${given.map(([name]) => name).join(' and ')}: each defines the profiles`);
  }
  if (configuration !== undefined) return { configuration };
  if (configFile !== undefined) {
    const loaded = await loadConfiguration(configFile, plugins.map(knownPlugin));
    for (const warning of loaded.warnings)
      logger.warn('configuration warning', { diagnostic: formatDiagnostic(warning) });
    return loaded;
  }
  const configured = defaultConfiguration({
    profiles: profiles?.map(profileFrom) ?? enableOwn(schedulerNames.map(defaultProfile), plugins),
    leaderElection: noLeaderElection,
  });
  return { configuration: configured };
}
