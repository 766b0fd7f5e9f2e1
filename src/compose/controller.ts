import { defaultMaxRepairGraceMs } from '../api/pod-group.ts';
import { systemClock } from '../base/system-clock.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { EventRecorder } from '../client/event-recorder.ts';
import type { LeaderElectionConfiguration } from '../config/scheduler-configuration.ts';
import { defaultSchedulerNames, startPodGroupController } from '../controller/start-pod-group-controller.ts';
import type { Logger } from '../observability/logger.ts';
import { LoopStalls } from '../observability/loop-stalls.ts';
import { countDroppedEvents } from './dropped-events.ts';
import { openProcess } from './open-process.ts';
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
  /** Absent: this process is the only controller and always leads. */
  readonly leaderElection?: LeaderElectionConfiguration;
  /** Maximum number of concurrent reconciliations. */
  readonly workers: number;
  /** As in StartPodGroupControllerOptions. */
  readonly maxRepairGraceMs?: number;
  readonly schedulerNames?: readonly string[] | undefined;
  readonly logger: Logger;
}

/** Runs the controller process. It resolves and rejects like `runScheduler`, except for plugins. */
export async function runController(options: ControllerProcessOptions): Promise<RunningProcess> {
  const { logger, workers, maxRepairGraceMs = defaultMaxRepairGraceMs, qps, burst, leaderElection } = options;
  const { schedulerNames = defaultSchedulerNames } = options;
  const clock = systemClock;
  const random = Math.random;
  const process = await openProcess({
    name: 'tutti-controller',
    api: options,
    serving: options.serving,
    leaderElection,
    clock,
    random,
    logger,
  });
  const { client, registry, identity } = process;
  const events = new EventRecorder({
    client,
    clock,
    reportingController: 'tutti-controller',
    reportingInstance: identity,
    // Events are not essential.
    onError: (error) => logger.debug('cannot write an Event', { error }),
  });
  countDroppedEvents(registry, events);
  try {
    let state: () => true | string = () => 'not started yet';
    const serving = await process.serve({
      live: [],
      ready: [{ name: 'caches-synced', check: () => state() }],
      configuration: [
        'tutti-controller',
        { clientConnection: { qps, burst }, workers, maxRepairGraceMs, schedulerNames },
      ],
      debug: [],
    });
    const elector = process.startElection();
    const controller = startPodGroupController({
      client,
      clock,
      random,
      logger,
      registry,
      events,
      workers,
      maxRepairGraceMs,
      schedulerNames,
      ...(elector !== undefined && { candidacy: elector }),
    });
    state = () => controller.state();
    process.logReached(controller.synced());
    const schema = watchServedSchema({ client, clock, logger, registry });
    const stalls = new LoopStalls({ registry, clock });
    return {
      url: serving.url,
      lost: elector?.lost() ?? new Promise(() => undefined),
      async stop() {
        stalls.stop();
        serving.drain();
        await Promise.all([controller.stop(), schema.stop()]);
        events.stop();
        await elector?.stop();
        await serving.close();
        await process.close();
      },
    };
  } catch (error) {
    events.stop();
    await process.close();
    throw error;
  }
}
