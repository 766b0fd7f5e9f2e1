import { systemClock } from '../base/system-clock.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { WriteFence } from '../client/write-fence.ts';
import type { LeaderElectionConfiguration } from '../config/scheduler-configuration.ts';
import { startPodGroupController } from '../controller/start-pod-group-controller.ts';
import type { Logger } from '../observability/logger.ts';
import { LoopStalls } from '../observability/loop-stalls.ts';
import { connectToApi } from './api-connection.ts';
import { standForElection } from './candidacy.ts';
import { processIdentity } from './process-identity.ts';
import { processRegistry } from './process-registry.ts';
import { prepareServing } from './process-serving.ts';
import type { ServingChoice } from './process-serving.ts';
import type { RunningProcess } from './running-process.ts';
import { watchServedSchema } from './watch-served-schema.ts';

export interface ControllerProcessOptions {
  readonly endpoint?: Endpoint;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly serving: ServingChoice;
  readonly qps: number;
  readonly burst: number;
  /** Absent: it is the only controller, and leads. */
  readonly leaderElection?: LeaderElectionConfiguration;
  /** Groups reconciled at once. */
  readonly workers: number;
  readonly logger: Logger;
}

/** The controller process; resolves and rejects as `runScheduler` does, plugins aside. */
export async function runController(options: ControllerProcessOptions): Promise<RunningProcess> {
  const { logger, workers, qps, burst, leaderElection } = options;
  const clock = systemClock;
  const random = Math.random;
  const fence = leaderElection?.leaderElect === true ? new WriteFence(clock) : undefined;
  const registry = processRegistry();
  const connection = await connectToApi({
    ...options,
    registry,
    ...(fence !== undefined && { fence }),
    clock,
    userAgent: 'tutti-controller',
  });
  const { client } = connection;
  const prepared = await prepareServing({
    choice: options.serving,
    name: 'tutti-controller',
    api: options,
    clock,
    logger,
  });
  try {
    let state: () => true | string = () => 'not started yet';
    const serving = await prepared.start({
      registry,
      live: [],
      ready: [{ name: 'caches-synced', check: () => state() }],
      configuration: ['tutti-controller', { clientConnection: { qps, burst }, workers }],
      debug: [],
    });
    const elector =
      fence &&
      standForElection({
        configuration: leaderElection!,
        identity: processIdentity(),
        client,
        fence,
        clock,
        random,
        logger,
        registry,
      });
    const controller = startPodGroupController({
      client,
      clock,
      random,
      logger,
      registry,
      workers,
      ...(elector !== undefined && { candidacy: elector }),
    });
    state = () => controller.state();
    const schema = watchServedSchema({ client, clock, logger, registry });
    const stalls = new LoopStalls({ registry, clock });
    return {
      url: serving.url,
      lost: elector?.lost() ?? new Promise(() => undefined),
      async stop() {
        stalls.stop();
        serving.drain();
        await Promise.all([controller.stop(), schema.stop()]);
        await elector?.stop();
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
