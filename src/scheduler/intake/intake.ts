import { isAdmissionRejection } from '../../api/admission-rejection.ts';
import type { Pod } from '../../api/pod.ts';
import { ResourceNames } from '../../api/resource-names.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { GatedClock } from '../../base/gated-clock.ts';
import { Listeners } from '../../base/listeners.ts';
import type { Random } from '../../base/random.ts';
import { Cluster } from '../../cluster/cluster.ts';
import type { TieBreaks } from '../../cluster/tie-breaks.ts';
import { RunTimes } from '../../cluster/run-times.ts';
import type { ProfileConfiguration } from '../../config/scheduler-configuration.ts';
import { PluginClock } from '../../framework/plugin-clock.ts';
import type { PluginRegistry } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import { WaitingPods } from '../../framework/waiting-pods.ts';
import type { Logger } from '../../observability/logger.ts';
import { EquivalenceKeys } from '../../queue/equivalence/equivalence-keys.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
import { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';
import { timedHandler } from '../metrics/timed-handler.ts';
import { Planner } from '../placement/planning/planner.ts';
import { DryRuns } from '../placement/planning/dry-runs.ts';
import type { SchedulerPorts } from '../ports.ts';
import { Profiles } from '../profiles.ts';
import { PodWarnings } from '../verdicts/pod-warnings.ts';
import { NotReadyVerdicts } from '../verdicts/not-ready-verdicts.ts';
import { Verdicts } from '../verdicts/verdicts.ts';
import { Timeline } from '../timeline/timeline.ts';
import { EntityRouter } from './entity-router.ts';
import { MutationGate } from './mutation-gate.ts';
import { ConflictingSchedulers } from './conflicting-schedulers.ts';
import { PodsOfJobs } from './pods-of-jobs.ts';
import { WatchHandlers } from './watch-handlers.ts';

export interface IntakeOptions {
  readonly profiles: readonly ProfileConfiguration[];
  readonly plugins: PluginRegistry;
  /** Backoff of a failed entity. Default: 1 s, doubling to 10 s. */
  readonly backoff?: BackoffPolicy;
  readonly ports: SchedulerPorts;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: SchedulerMetrics;
  readonly lifecycle: Lifecycle;
  /** Called when `SchedulerCore.attempt` has work to do. The caller then repeats `attempt` until it has none. */
  readonly onReady: () => void;
  /** See TieBreaks. */
  readonly ties?: TieBreaks | undefined;
}

/**
 * The first part of the core: builds the cluster cache from watch changes, and entities in the queue from the cache. The other parts build
 * on it and add themselves as listeners.
 */
export class Intake {
  readonly gate = new MutationGate();
  /** Its timers fire behind the gate. */
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly planner: Planner;
  readonly dryRuns: DryRuns;
  readonly waitingPods: WaitingPods;
  readonly profiles: Profiles;
  readonly queue: SchedulingQueue;
  readonly keys: EquivalenceKeys;
  /** Undefined unless a profile reserves capacity until a predicted start. */
  readonly runTimes: RunTimes | undefined;
  readonly router: EntityRouter;
  readonly verdicts: Verdicts;
  readonly timeline: Timeline;
  readonly handlers: Pick<WatchHandlers, 'nodes' | 'pods' | 'podGroups' | 'listed'>;
  /** A pod as the API now shows it; undefined: it was deleted. Emitted after the cache and the queue are up to date. */
  readonly podSeen = new Listeners<[uid: string, pod: Pod | undefined]>();
  /** A group or one of its members has changed. Emitted after the cache and the queue are up to date. */
  readonly groupSeen = new Listeners<[key: string]>();
  /** An entity has left the queue without having been scheduled. */
  readonly removed = new Listeners<[key: EntityKey]>();
  /** A pod has left its node and freed its capacity. Emitted before the queue wakes entities for it. */
  readonly capacityFreed = new Listeners<[nodeName: string]>();
  /** A pod has left its node: it has succeeded, failed, or is gone. */
  readonly podLeft = new Listeners<[pod: Pod]>();
  /** A pod has left its node without having succeeded. */
  readonly podLost = new Listeners<[pod: Pod, nodeName: string]>();
  /** A node was deleted, or what scheduling reads of it has changed. */
  readonly nodeChanged = new Listeners<[name: string]>();
  readonly #notReady: NotReadyVerdicts;
  readonly #podsOfJobs = new PodsOfJobs();

  /** Throws ProfileError. */
  constructor(options: IntakeOptions) {
    const { ports, random, logger, metrics, lifecycle } = options;
    const { gate } = this;
    const cluster = new Cluster(new ResourceNames(), options.ties);
    this.cluster = cluster;
    const clock = new GatedClock(options.clock, gate);
    this.clock = clock;
    this.waitingPods = new WaitingPods(clock);
    this.planner = new Planner(cluster, random);
    this.dryRuns = new DryRuns(cluster, this.planner);
    const activated = new Listeners<[pods: readonly Pod[]]>();
    this.profiles = this.#profiles(options, activated);
    const { profiles } = this;
    const gated = new Listeners<[entity: QueuedEntity, status: Status]>();
    this.queue = new SchedulingQueue({
      clock,
      policy: profiles,
      ...(options.backoff !== undefined && { backoff: options.backoff }),
      observer: {
        ready: () => {
          if (lifecycle.isRunning) options.onReady();
        },
        gated: gated.emit,
        removed: this.removed.emit,
        moved: (store, event) => metrics.queue.entered(store, event),
      },
    });
    const { queue } = this;
    activated.add((pods) => {
      for (const pod of pods) queue.activate(pod);
    });
    const { verdicts: sink, events } = ports;
    const signal = lifecycle.stopping;
    this.verdicts = new Verdicts({ sink, events, metrics: metrics.gangs, cluster, clock, logger, signal });
    const notReady = new NotReadyVerdicts({ queue, verdicts: this.verdicts, clock, cluster, profiles });
    this.#notReady = notReady;
    gated.add((entity, status) => {
      // Changes still arrive while the last bindings are sent.
      if (!signal.aborted) notReady.gated(entity, status);
    });
    this.router = new EntityRouter({ cluster, queue, profiles });
    const timeline = new Timeline({ cluster, queue, profiles, clock });
    this.timeline = timeline;
    this.groupSeen.add((key) => timeline.groupChanged(key));
    this.runTimes = profiles.hasReservations ? this.#createRunTimes(options) : undefined;
    this.keys = new EquivalenceKeys({ cluster, profiles, runTimes: this.runTimes });
    this.#reportPods(ports);
    this.handlers = this.#handlers(options);
  }

  /** Fills the queue from the synced cache. `epoch`: see Timeline. */
  begin(epoch: string): void {
    this.cluster.allListed();
    this.router.routeAll();
    this.timeline.begin(epoch);
    for (const pod of this.cluster.pods()) this.podSeen.emit(pod.uid, pod);
  }

  stop(): void {
    this.queue.stop();
    this.#notReady.stop();
  }

  #profiles(
    { profiles, plugins, ports, random, logger, metrics }: IntakeOptions,
    activated: Listeners<[readonly Pod[]]>,
  ): Profiles {
    const { gate, cluster, waitingPods, dryRuns } = this;
    const clock = new PluginClock(this.clock, logger);
    return new Profiles({
      configurations: profiles,
      registry: plugins,
      handle: (profile, schedulerName) => ({
        schedulerName,
        Status,
        clock,
        random,
        logger,
        cluster,
        waitingPods,
        binder: ports.binder,
        volumes: ports.volumes,
        dryRun: (schedulingEntity, dryRunOptions) => {
          gate.settle();
          return dryRuns.run(profile(), schedulingEntity, dryRunOptions);
        },
        activate: (pods) => {
          const copied = [...pods];
          gate.run(() => activated.emit(copied));
        },
        betweenAttempts: (change) => gate.run(change),
      }),
      meters: {
        plugins: (schedulerName) => metrics.plugins.meterOf(schedulerName),
        hints: (...call) => metrics.plugins.hintMeter(...call),
      },
    });
  }

  #createRunTimes({ metrics, logger }: Pick<IntakeOptions, 'metrics' | 'logger'>): RunTimes {
    const { profiles, clock, cluster } = this;
    const runTimes = new RunTimes({
      clock,
      listed: cluster.listed,
      penaltyMs: Math.max(...profiles.all.map((profile) => profiles.reservationsOf(profile)?.overrunPenaltyMs ?? 0)),
      overrun: ({ key }, declaredSeconds) => {
        metrics.backfill.overrun();
        logger.info('a pod runs for longer than declared', { pod: key, declaredSeconds });
      },
    });
    this.podSeen.add((uid, pod) => {
      runTimes.seen(uid, pod !== undefined && cluster.nodeOf(pod) !== undefined ? pod : undefined);
      this.#podsOfJobs.podSeen(uid, pod);
    });
    this.podLeft.add((pod) => runTimes.left(pod));
    return runTimes;
  }

  #reportPods({ events }: SchedulerPorts): void {
    const { cluster, profiles, verdicts, waitingPods } = this;
    const warnings = new PodWarnings(events);
    this.podSeen.add((uid, pod) => {
      verdicts.podSeen(uid);
      if (!cluster.isAssumed(uid)) waitingPods.get(uid)?.reject('', 'the pod was deleted or bound elsewhere');
      if (pod === undefined) warnings.podGone(uid);
      else if (profiles.isOurs(pod.schedulerName)) warnings.podSeen(pod);
    });
  }

  #handlers({ ports, logger, metrics, lifecycle }: IntakeOptions): Intake['handlers'] {
    const { cluster, queue, router, clock, gate, profiles, keys } = this;
    const conflictingSchedulers = new ConflictingSchedulers({ clock, logger });
    // Extenders receive the whole pod.
    const readsAll = ports.extenders !== undefined;
    const handlers = new WatchHandlers({
      cluster,
      queue,
      router,
      clock,
      hasSynced: () => lifecycle.hasBegun,
      readsAll,
      looksAlike: (before, now) => !readsAll && keys.looksAlike(before, now),
      podsOfJob: (uid) => this.#podsOfJobs.of(uid),
      podChanged: (before, now, time) => this.timeline.podChanged(before, now, time),
      podSeen: this.podSeen.emit,
      groupSeen: this.groupSeen.emit,
      podLeft: (pod, nodeName) => {
        this.podLeft.emit(pod);
        // A pod that the node rejected at admission used no capacity there.
        if (!isAdmissionRejection(pod.failedBecause)) this.capacityFreed.emit(nodeName);
      },
      podLost: this.podLost.emit,
      boundElsewhere: (pod) => {
        if (profiles.isOurs(pod.schedulerName)) conflictingSchedulers.bound(pod);
      },
      nodeChanged: this.nodeChanged.emit,
    });
    const { queue: handling } = metrics;
    return {
      nodes: gate.handler(timedHandler(handlers.nodes, clock, handling.handlingOf('Node'))),
      pods: gate.handler(timedHandler(handlers.pods, clock, handling.handlingOf('Pod'))),
      podGroups: gate.handler(timedHandler(handlers.podGroups, clock, handling.handlingOf('PodGroup'))),
      listed: gate.handler(handlers.listed),
    };
  }
}
