import { systemClock } from '../base/system-clock.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { startPodGroupController } from '../controller/start-pod-group-controller.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { healthRoutes } from '../serving/health-routes.ts';
import { metricsRoute } from '../serving/metrics-route.ts';
import { startServing } from '../serving/start-serving.ts';
import { connectToApi } from './api-connection.ts';
import type { RunningProcess } from './running-process.ts';

export interface ControllerProcessOptions {
  readonly endpoint?: Endpoint;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Address and port of health and metrics; port 0 takes any free one. */
  readonly host: string;
  readonly port: number;
  readonly qps: number;
  readonly burst: number;
  /** Groups reconciled at once. */
  readonly workers: number;
  readonly logger: Logger;
}

/** The controller process; resolves and rejects as `runScheduler` does, plugins aside. */
export async function runController(options: ControllerProcessOptions): Promise<RunningProcess> {
  const { logger, workers } = options;
  const clock = systemClock;
  const connection = await connectToApi({ ...options, clock, userAgent: 'tutti-controller' });
  const registry = createMetricRegistry({ processMetrics: true });
  try {
    let state: () => true | string = () => 'not started yet';
    const serving = await startServing({
      host: options.host,
      port: options.port,
      portFlag: '--metrics-port',
      routes: [...healthRoutes([{ name: 'informers-synced', check: () => state() }]), metricsRoute(registry)],
      logger,
    });
    const controller = startPodGroupController({
      client: connection.client,
      clock,
      random: Math.random,
      logger,
      registry,
      workers,
    });
    state = () => controller.state();
    return {
      url: serving.url,
      async stop() {
        await Promise.all([serving.close(), controller.stop()]);
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
