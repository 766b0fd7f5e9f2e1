import type { Clock } from '../base/clock.ts';
import { packageVersion } from '../base/package-files.ts';
import { systemClock } from '../base/system-clock.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { EventRecorder } from '../client/event-recorder.ts';
import { configurationObject } from '../config/format-configuration.ts';
import { ignoringManagedResources } from '../config/ignored-resources.ts';
import type { SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import type { Logger } from '../observability/logger.ts';
import { LoopStalls } from '../observability/loop-stalls.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { ApiPodBinder } from '../scheduler/api/api-pod-binder.ts';
import { ApiPodEvictor } from '../scheduler/api/api-pod-evictor.ts';
import { ApiVerdictSink } from '../scheduler/api/api-verdict-sink.ts';
import { ApiVolumeWriter } from '../scheduler/api/api-volume-writer.ts';
import { openHttpExtenders } from '../scheduler/api/http-extenders.ts';
import type { HttpExtenders } from '../scheduler/api/http-extenders.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { cacheRoute } from '../serving/debug/cache-route.ts';
import { eventsRoute } from '../serving/debug/events-route.ts';
import { explainRoute } from '../serving/debug/explain-route.ts';
import { groupsRoute } from '../serving/debug/groups-route.ts';
import { snapshotRoute } from '../serving/debug/snapshot-route.ts';
import { snapshotConfigurationOf } from '../config/snapshot-configuration.ts';
import { queueRoute } from '../serving/debug/queue-route.ts';
import { loopCheck } from '../serving/loop-check.ts';
import { countDroppedEvents } from './dropped-events.ts';
import { withDroppedStatusEvents } from './dropped-status-events.ts';
import { openProcess } from './open-process.ts';
import { registryWith } from './own-plugins.ts';
import type { ServingChoice } from './process-serving.ts';
import type { RunningProcess } from './running-process.ts';
import { UnsupportedConfigurationError } from './unsupported-configuration-error.ts';
import { watchServedSchema } from './watch-served-schema.ts';

export interface SchedulerProcessOptions {
  /** The API server; absent: the one of `configuration.clientConnection.kubeconfig`. */
  readonly endpoint?: Endpoint;
  /** Context of the kubeconfig. */
  readonly context?: string;
  readonly configuration: SchedulerConfiguration;
  readonly serving: ServingChoice;
  /** Plugins that profiles may enable besides Tutti's; a plugin with the name of one of Tutti's replaces it. */
  readonly plugins?: readonly OwnPlugin[];
  readonly logger: Logger;
  /**
   * How long a stop may take to finish binding gangs whose binding has started, in milliseconds. The whole stop takes up to 10 s
   * longer. Default 1 s.
   */
  readonly drainMs?: number;
  /** As in SchedulerOptions. */
  readonly maxRepairGraceMs?: number;
  /** Default: the process's real clock. */
  readonly clock?: Clock;
}

/**
 * Runs the scheduler process. Resolves once its endpoints respond. It schedules as soon as its caches have synced, and retries
 * until then. Rejects with KubeconfigError, CertificateError, AuthenticationLookupError, PortUnavailableError, ProfileError,
 * UnsupportedConfigurationError or ExtenderConfigurationError.
 */
export async function runScheduler(options: SchedulerProcessOptions): Promise<RunningProcess> {
  const { logger, configuration, plugins: own = [], drainMs = 1_000, clock = systemClock } = options;
  const { extenders: configurations } = configuration;
  const preempting = configurations.findIndex(({ preemptVerb }) => preemptVerb !== undefined);
  if (preempting >= 0) {
    throw new UnsupportedConfigurationError(
      `extenders[${preempting}].preemptVerb is not supported yet: remove it. Tutti does not call extenders for preemption`,
    );
  }
  const random = Math.random;
  const { endpoint, context } = options;
  const process = await openProcess({
    name: 'tutti-scheduler',
    api: {
      ...configuration.clientConnection,
      ...(endpoint !== undefined && { endpoint }),
      ...(context !== undefined && { context }),
    },
    serving: options.serving,
    leaderElection: configuration.leaderElection,
    clock,
    random,
    logger,
  });
  const { client, registry, identity, fence } = process;
  const events = new EventRecorder({
    client,
    clock,
    reportingController: configuration.profiles[0]?.schedulerName ?? '',
    reportingInstance: identity,
    // Events are not essential.
    onError: (error) => logger.debug('cannot write an Event', { error }),
  });
  countDroppedEvents(registry, events);
  const schema = watchServedSchema({ client, clock, logger, registry });
  let extending: HttpExtenders | undefined;
  try {
    extending = await openHttpExtenders({ configurations, client, clock, random, logger, fence });
    const scheduler = new Scheduler({
      client,
      ports: {
        binder: new ApiPodBinder({ client, clock, random, logger }),
        verdicts: new ApiVerdictSink({ client, clock, random }),
        events: withDroppedStatusEvents(events, schema),
        evictor: new ApiPodEvictor({ client, clock, random }),
        volumes: new ApiVolumeWriter({ client, clock, random }),
        ...(extending !== undefined && { extenders: extending.port }),
      },
      nodeRead: extending?.nodeRead,
      maxRepairGraceMs: options.maxRepairGraceMs,
      clock,
      random,
      logger,
      registry,
      profiles: configuration.profiles.map((profile) => ignoringManagedResources(profile, configurations)),
      backoff: configuration.podBackoff,
      plugins: registryWith(own),
      identity,
      defer: (callback) => void setImmediate(callback),
    });
    const serving = await process.serve({
      live: [loopCheck(scheduler)],
      ready: [
        {
          name: 'caches-synced',
          check: () => scheduler.hasSynced || scheduler.standsByWithoutCache || 'the caches have not synced yet',
        },
      ],
      configuration: ['kubescheduler.config.k8s.io', configurationObject(configuration)],
      debug: [
        queueRoute(scheduler, clock),
        cacheRoute(scheduler),
        groupsRoute(scheduler),
        explainRoute(scheduler, clock),
        eventsRoute({ scheduler, clock, logger }),
        snapshotRoute(scheduler, {
          tuttiVersion: packageVersion(),
          source: 'scheduler',
          ...snapshotConfigurationOf(configuration),
        }),
      ],
    });
    const elector = process.startElection();
    const candidacy = elector && {
      tried: () => elector.tried(),
      elected: () => elector.elected(),
      delayCacheUntilActive: configuration.delayCacheUntilActive,
    };
    process.logReached(scheduler.synced());
    const stalls = new LoopStalls({ registry, clock });
    // Rejects only if it is stopped before its caches have synced or before it is elected.
    scheduler.start(candidacy).catch((error: unknown) => logger.debug('not started', { error }));
    return {
      url: serving.url,
      lost: elector?.lost() ?? new Promise(() => undefined),
      async stop() {
        serving.drain();
        const isIdle = await scheduler.stop({ drainMs: fence?.signal.aborted === true ? 0 : drainMs });
        events.stop();
        stalls.stop();
        await schema.stop();
        await elector?.stop({ isIdle });
        await serving.close();
        await extending?.close();
        await process.close();
      },
    };
  } catch (error) {
    events.stop();
    await schema.stop();
    await extending?.close();
    await process.close();
    throw error;
  }
}
