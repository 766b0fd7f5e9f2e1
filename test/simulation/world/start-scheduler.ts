import { addCounts } from '../batch.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { BindPrecedence } from '../../../src/client/bind-precedence.ts';
import { CallGate } from '../../../src/client/call-gate.ts';
import { EventRecorder } from '../../../src/client/event-recorder.ts';
import { KubeClient } from '../../../src/client/kube-client.ts';
import { LeaderElector } from '../../../src/client/leader-elector.ts';
import { RateLimiter } from '../../../src/client/rate-limiter.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { WriteFence } from '../../../src/client/write-fence.ts';
import {
  defaultConfiguration,
  defaultLeaderElection,
  defaultProfile,
} from '../../../src/config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../../../src/config/scheduler-configuration.ts';
import { createMetricRegistry } from '../../../src/observability/metric-registry.ts';
import type { Logger } from '../../../src/observability/logger.ts';
import { pluginRegistry } from '../../../src/plugins/registry.ts';
import { ApiPodBinder } from '../../../src/scheduler/api/api-pod-binder.ts';
import { ApiPodEvictor } from '../../../src/scheduler/api/api-pod-evictor.ts';
import { ApiVerdictSink } from '../../../src/scheduler/api/api-verdict-sink.ts';
import { ApiVolumeWriter } from '../../../src/scheduler/api/api-volume-writer.ts';
import { Scheduler } from '../../../src/scheduler/scheduler.ts';
import { maxYieldMs } from '../scenario.ts';
import type { ExtenderPlan, SchedulerPlan } from '../scenario.ts';
import type { SimulatedProcess } from './process.ts';
import { simulatedExtender } from './simulated-extender.ts';
import { slowPermit, slowPreBind } from './slow-plugins.ts';

export const schedulerName = 'tutti';
/** A scheduler that does nothing. */
export const foreignName = 'other';
/** The second profile puts pods on the fullest nodes. */
export const packingName = 'tutti-packing';
export const schedulerNames: readonly string[] = [schedulerName, packingName];
const leaseNamespace = 'kube-system';

export interface Connection {
  readonly client: KubeClient;
  readonly fence: WriteFence | undefined;
}

/** Returns a client like that of a process, with a write fence if it runs for election. */
export function connect(
  transport: Transport,
  clock: Clock,
  { qps, burst, elects }: { readonly qps: number; readonly burst: number; readonly elects: boolean },
): Connection {
  const fence = elects ? new WriteFence(clock) : undefined;
  const gate = new CallGate({
    limiter: new RateLimiter({ clock, qps, burst }),
    precedence: new BindPrecedence({ clock }),
  });
  return { client: new KubeClient({ transport, clock, gate, ...(fence !== undefined && { fence }) }), fence };
}

export function standForLease(
  { client, fence }: Connection,
  { clock, random, name: identity }: Pick<SimulatedProcess, 'clock' | 'random' | 'name'>,
  options: { readonly lease: string; readonly logger: Logger; readonly lost: () => void },
): LeaderElector | undefined {
  if (fence === undefined) return undefined;
  const elector = new LeaderElector({
    ...defaultLeaderElection,
    client,
    fence,
    clock,
    random,
    identity,
    logger: options.logger,
    namespace: leaseNamespace,
    name: options.lease,
  });
  elector.start();
  void elector.lost().then(options.lost);
  return elector;
}

/** Gets a scheduler that starts, with its profiles. */
export type StartedScheduler = (scheduler: Scheduler, profiles: readonly ProfileConfiguration[]) => void;

/** Gets a log line of level debug or info. */
export type LoggedLine = (message: string, fields: Readonly<Record<string, unknown>> | undefined) => void;

export interface RunningScheduler {
  /** Returns the number of attempts it has made, from its metrics. */
  attempts(): Promise<number>;
  /** Returns what happened to reservations with a predicted start, from its metrics. */
  turns(): Promise<Readonly<Record<string, number>>>;
}

/** Starts the scheduler as src/compose/scheduler.ts does, without its HTTP endpoints. */
export function startScheduler(
  process: SimulatedProcess,
  options: {
    readonly plan: SchedulerPlan;
    readonly extender: ExtenderPlan | undefined;
    readonly transport: Transport;
    readonly logger: Logger;
    readonly lost: () => void;
    readonly started?: StartedScheduler | undefined;
    readonly logged?: LoggedLine | undefined;
  },
): RunningScheduler {
  const { clock, random, name: identity } = process;
  const { plan, extender, transport, logged } = options;
  const logger = logged === undefined ? options.logger : tapped(options.logger, logged);
  const connection = connect(transport, clock, plan);
  const { client } = connection;
  const { podBackoff } = defaultConfiguration();
  const registry = createMetricRegistry({ processMetrics: false });
  const profiles = [profileOf(schedulerName, plan), profileOf(packingName, plan, packs)];
  const scheduler = new Scheduler({
    client,
    ports: {
      binder: new ApiPodBinder({ client, clock, random, logger }),
      verdicts: new ApiVerdictSink({ client, clock, random }),
      events: new EventRecorder({ client, clock, reportingController: schedulerName, reportingInstance: identity }),
      evictor: new ApiPodEvictor({ client, clock, random }),
      volumes: new ApiVolumeWriter({ client, clock, random }),
      ...(extender !== undefined && { extenders: simulatedExtender(extender, { client, clock, random }) }),
    },
    clock,
    random,
    logger,
    registry,
    profiles,
    backoff: podBackoff,
    plugins: new Map([
      ...pluginRegistry,
      ['SlowPermit', slowPermit(clock, plan)],
      ['SlowPreBind', slowPreBind(clock, random, plan)],
    ]),
    identity,
    // Small steps model a busy machine: much can happen between them.
    defer: (callback) => process.defer(callback, plan.workAtATime === undefined ? 0 : random() * maxYieldMs),
    ...(plan.workAtATime !== undefined && { workAtATime: plan.workAtATime }),
  });
  options.started?.(scheduler, profiles);
  const elector = standForLease(connection, process, { lease: 'tutti', logger, lost: options.lost });
  const candidacy = elector && {
    tried: () => elector.tried(),
    elected: () => elector.elected(),
    delayCacheUntilActive: false,
  };
  scheduler.start(candidacy).catch(() => undefined);
  return {
    async attempts() {
      const counted = await registry.getSingleMetric('scheduler_scheduling_algorithm_duration_seconds')?.get();
      const samples = (counted?.values ?? []) as readonly { readonly metricName?: string; readonly value: number }[];
      return samples
        .filter(({ metricName }) => metricName?.endsWith('_count'))
        .reduce((sum, { value }) => sum + value, 0);
    },
    async turns() {
      const read = async (name: string): Promise<readonly { readonly labels: any; readonly value: number }[]> =>
        (await registry.getSingleMetric(name)?.get())?.values ?? [];
      const counts: Record<string, number> = {};
      for (const { value } of await read('tutti_backfill_turns_total')) addCounts(counts, { 'turns given': value });
      for (const { labels, value } of await read('tutti_backfill_turn_outcomes_total'))
        addCounts(counts, { [`turns ${labels.outcome}`]: value });
      for (const { value } of await read('tutti_runtime_overruns_total')) addCounts(counts, { overruns: value });
      return counts;
    },
  };
}

function tapped(logger: Logger, logged: LoggedLine): Logger {
  return {
    ...logger,
    debug(message, fields) {
      logged(message, fields);
      logger.debug(message, fields);
    },
    info(message, fields) {
      logged(message, fields);
      logger.info(message, fields);
    },
  };
}

const packs = { NodeResourcesFit: { scoringStrategy: { type: 'MostAllocated' } } };

function profileOf(
  name: string,
  { permitMs, preBindMs, reservations }: SchedulerPlan,
  args: Readonly<Record<string, object>> = {},
): ProfileConfiguration {
  const profile = defaultProfile(name);
  const more = [...(permitMs > 0 ? ['SlowPermit'] : []), ...(preBindMs > 0 ? ['SlowPreBind'] : [])];
  const plugins = [...profile.plugins, ...more.map((plugin) => ({ name: plugin, weight: 1 }))];
  const hasReservations = reservations !== undefined && (name === schedulerName || !reservations.isForOneProfile);
  return {
    ...profile,
    plugins: plugins.map((plugin) => ({ ...plugin, args: args[plugin.name] })),
    ...(hasReservations && { reservations }),
  };
}
