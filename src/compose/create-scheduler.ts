import process from 'node:process';
import { createLogger } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { profileFrom } from './profile-options.ts';
import type { ProfileOptions } from './profile-options.ts';
import type { RunningProcess } from './running-process.ts';
import { runScheduler } from './scheduler.ts';

export interface CreateSchedulerOptions {
  /** Kubeconfig file and context; found as kubectl finds them when absent. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Default: `tutti`. */
  readonly schedulerNames?: readonly string[];
  /** Instead of `schedulerNames`: the profiles, each with plugins of its own. */
  readonly profiles?: readonly ProfileOptions[];
  /**
   * Those that `profiles` name are enabled there, the others in every profile after Tutti's own; one with the name of Tutti's takes
   * its place.
   */
  readonly plugins?: readonly OwnPlugin[];
  /** Of health and metrics. Default 127.0.0.1, any free port. */
  readonly host?: string;
  readonly port?: number;
  /** Calls a second in the long run, and at once. Default 50 and 100, as kube-scheduler. */
  readonly qps?: number;
  readonly burst?: number;
  /** Default: text on standard error, from level info. */
  readonly logger?: Logger;
}

/**
 * Starts a scheduler and resolves once its health endpoint answers; it schedules as soon as it has seen the cluster. Rejects
 * with KubeconfigError, PortUnavailableError, ProfileError, or another UserError that a plugin's factory throws.
 */
export async function createScheduler(options: CreateSchedulerOptions = {}): Promise<RunningProcess> {
  const { schedulerNames = ['tutti'], qps = 50, burst = 100, ...rest } = options;
  const profiles = options.profiles ?? schedulerNames.map((schedulerName) => ({ schedulerName }));
  return runScheduler({
    configuration: { profiles: profiles.map(profileFrom), clientConnection: { qps, burst } },
    host: '127.0.0.1',
    port: 0,
    logger: options.logger ?? createLogger({ level: 'info', format: 'text', destination: process.stderr }),
    ...rest,
  });
}
