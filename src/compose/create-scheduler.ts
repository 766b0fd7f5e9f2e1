import process from 'node:process';
import { defaultConfiguration, defaultProfile } from '../config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import { createLogger } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { RunningProcess } from './running-process.ts';
import { runScheduler } from './scheduler.ts';
import type { OwnPlugin } from './scheduler.ts';

export interface CreateSchedulerOptions {
  /** Kubeconfig file and context; found as kubectl finds them when absent. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Default: `tutti`. */
  readonly schedulerNames?: readonly string[];
  /** Enabled after Tutti's own; one with the name of ours takes its place. */
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
 * with KubeconfigError, PortUnavailableError, ProfileError, or what a plugin's factory throws.
 */
export function createScheduler(options: CreateSchedulerOptions = {}): Promise<RunningProcess> {
  const { schedulerNames = ['tutti'], plugins = [], kubeconfig, qps = 50, burst = 100, ...rest } = options;
  return runScheduler({
    configuration: defaultConfiguration({
      profiles: schedulerNames.map((name) => withOwn(defaultProfile(name), plugins)),
      clientConnection: { qps, burst, ...(kubeconfig !== undefined && { kubeconfig }) },
    }),
    plugins,
    host: '127.0.0.1',
    port: 0,
    logger: options.logger ?? createLogger({ level: 'info', format: 'text', destination: process.stderr }),
    ...rest,
  });
}

function withOwn({ plugins, ...profile }: ProfileConfiguration, own: readonly OwnPlugin[]): ProfileConfiguration {
  const isOwn = (name: string): boolean => own.some((plugin) => plugin.name === name);
  return { ...profile, plugins: [...plugins.filter(({ name }) => !isOwn(name)), ...own] };
}
