import { systemClock } from '../base/system-clock.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { startPodGroupController } from '../controller/start-pod-group-controller.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { connectToApi } from './api-connection.ts';
import { prepareServing } from './process-serving.ts';
import type { ServingChoice } from './process-serving.ts';
import type { RunningProcess } from './running-process.ts';

export interface ControllerProcessOptions {
  readonly endpoint?: Endpoint;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly serving: ServingChoice;
  readonly qps: number;
  readonly burst: number;
  /** Groups reconciled at once. */
  readonly workers: number;
  readonly logger: Logger;
}

/** The controller process; resolves and rejects as `runScheduler` does, plugins aside. */
export async function runController(options: ControllerProcessOptions): Promise<RunningProcess> {
  const { logger, workers, qps, burst } = options;
  const clock = systemClock;
  const connection = await connectToApi({ ...options, clock, userAgent: 'tutti-controller' });
  const prepared = await prepareServing({
    choice: options.serving,
    name: 'tutti-controller',
    api: options,
    clock,
    logger,
  });
  const registry = createMetricRegistry({ processMetrics: true });
  try {
    let state: () => true | string = () => 'not started yet';
    const serving = await prepared.start({
      registry,
      live: [],
      ready: [{ name: 'caches-synced', check: () => state() }],
      configuration: ['tutti-controller', { clientConnection: { qps, burst }, workers }],
      debug: [],
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
        serving.drain();
        await controller.stop();
        await serving.close();
        await prepared.close();
        await connection.close();
      },
    };
  } catch (error) {
    await prepared.close();
    await connection.close();
    throw error;
  }
}
