import { hostname } from 'node:os';
import { systemClock } from '../base/system-clock.ts';
import type { Endpoint } from '../client/endpoint.ts';
import type { PluginFactory } from '../framework/plugin.ts';
import type { EnabledPlugin } from '../framework/profile.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { defaultPlugins, pluginRegistry } from '../plugins/registry.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { healthRoutes } from '../serving/health-routes.ts';
import { metricsRoute } from '../serving/metrics-route.ts';
import { startServing } from '../serving/start-serving.ts';
import { connectToApi } from './api-connection.ts';
import type { RunningProcess } from './running-process.ts';

/** An out-of-tree plugin. */
export interface OwnPlugin extends EnabledPlugin {
  readonly factory: PluginFactory;
}

export interface SchedulerProcessOptions {
  readonly endpoint?: Endpoint;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly schedulerNames: readonly string[];
  /** Address and port of health and metrics; port 0 takes any free one. */
  readonly host: string;
  readonly port: number;
  readonly qps: number;
  readonly burst: number;
  /** Coscheduling off: every pod is a lone pod. For showing what goes wrong then. */
  readonly naive?: boolean;
  /** Plugins of the caller's own, enabled after ours; one that has the name of ours takes its place. */
  readonly plugins?: readonly OwnPlugin[];
  readonly logger: Logger;
}

/**
 * The scheduler process: resolves once its endpoints answer; it schedules as soon as it has seen the cluster, and keeps trying
 * to. Rejects with KubeconfigError, PortUnavailableError, or what a plugin's factory throws.
 */
export async function runScheduler(options: SchedulerProcessOptions): Promise<RunningProcess> {
  const { logger, naive = false, plugins: own = [] } = options;
  const isOwn = (name: string): boolean => own.some((plugin) => plugin.name === name);
  const clock = systemClock;
  const connection = await connectToApi({ ...options, clock, userAgent: 'tutti-scheduler' });
  try {
    const registry = createMetricRegistry({ processMetrics: true });
    const scheduler = new Scheduler({
      client: connection.client,
      clock,
      random: Math.random,
      logger,
      registry,
      schedulerNames: options.schedulerNames,
      plugins: new Map([...pluginRegistry, ...own.map(({ name, factory }) => [name, factory] as const)]),
      enabled: [...defaultPlugins.filter(({ name }) => !isOwn(name) && !(naive && name === 'Coscheduling')), ...own],
      identity: `${hostname()}-${process.pid}`,
      defer: (callback) => void setImmediate(callback),
    });
    const serving = await startServing({
      host: options.host,
      port: options.port,
      portFlag: '--metrics-port',
      routes: [
        ...healthRoutes([
          { name: 'cluster-synced', check: () => scheduler.isReady || 'the cluster has not been seen whole yet' },
        ]),
        metricsRoute(registry),
      ],
      logger,
    });
    // Rejects only when it is stopped before the cluster has been seen.
    scheduler.start().catch((error: unknown) => logger.debug('not started', { error }));
    return {
      url: serving.url,
      async stop() {
        await Promise.all([serving.close(), scheduler.stop()]);
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
