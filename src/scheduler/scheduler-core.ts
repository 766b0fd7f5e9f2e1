import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import { hashText } from '../base/hash-text.ts';
import type { Verdict } from '../api/verdict.ts';
import { Amounts } from '../cluster/amounts.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { reservationKinds } from '../cluster/reservation.ts';
import { RunTimes } from '../cluster/run-times.ts';
import type { SchedulingEntity } from '../framework/scheduling-entity.ts';
import type { DryRunOptions, DryRunResult } from '../framework/dry-run.ts';
import type { WaitingPods } from '../framework/waiting-pods.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { EntityKey } from '../queue/queued-entity.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { BindingCycle } from './binding/binding-cycle.ts';
import { createBinding } from './binding/binding.ts';
import { Attempts } from './cycle/attempts.ts';
import type { Paused } from './cycle/attempts.ts';
import type { CycleResult, Rehearsed } from './cycle/cycle-result.ts';
import type { SchedulingCycle } from './cycle/scheduling-cycle.ts';
import { WaitCauses } from './cycle/wait-causes.ts';
import { workAtATime as defaultWorkAtATime } from './cycle/work-at-a-time.ts';
import { Explainer } from './explain/explainer.ts';
import type { ExplanationPart } from './explain/explainer.ts';
import type { SubjectName } from './explain/find-subject.ts';
import { answerAtOnce, Explanations } from './explain/explanations.ts';
import { Extenders } from './extenders/extenders.ts';
import type { EntityRouter } from './intake/entity-router.ts';
import { Intake } from './intake/intake.ts';
import type { IntakeOptions } from './intake/intake.ts';
import { Lifecycle } from './lifecycle.ts';
import type { Preemptions } from './preemption/preemptions.ts';
import { SchedulerMetrics, registerGauges } from './metrics/scheduler-metrics.ts';
import type { MetricSources } from './metrics/scheduler-metrics.ts';
import type { Profiles } from './profiles.ts';
import { TimelineFeed } from './timeline/timeline-feed.ts';
import { Recovery } from './recovery/recovery.ts';
import { Snapshots } from './snapshot/snapshots.ts';
import type { SnapshotSource } from './snapshot/snapshot-source.ts';

export type { Paused } from './cycle/attempts.ts';

export interface SchedulerCoreOptions extends Omit<IntakeOptions, 'metrics' | 'lifecycle'> {
  readonly registry: MetricRegistry;
  /** Identity of this process. It distinguishes the process's plans from those of other schedulers. */
  readonly identity: string;
  /** Runs the callback after the event loop has served pending I/O: setImmediate in a process. */
  readonly defer: (callback: () => void) => void;
  /** Work of one turn of the event loop, in the unit of SchedulerCore.attempt. Default: a value that keeps the process responsive. */
  readonly workAtATime?: number;
}

/** How long stop() waits for plugin calls to return. */
const stopGraceMs = 5_000;

/**
 * A scheduler without its network and its loop. It owns the cluster cache and the queue, and takes each entity from its first watch change
 * to its bindings or its verdict. `handlers` is the input; the ports are the output. The core reads only the clock and the random source
 * that it is given, so a process, a test and a simulation run the same code.
 *
 * Life cycle: fill the cache through `handlers`, call `begin`, call `attempt` whenever the core calls `onReady`, and finally call `stop`.
 */
export class SchedulerCore {
  readonly cluster: Cluster;
  readonly profiles: Profiles;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  /** Handlers for the informers. They are the only input. */
  readonly handlers: Intake['handlers'];
  readonly waitingPods: WaitingPods;
  readonly cycle: SchedulingCycle;
  /** For those who follow the timeline. */
  readonly timeline: TimelineFeed;
  readonly binding: BindingCycle;
  readonly #intake: Intake;
  readonly #recovery: Recovery;
  readonly #attempts: Attempts;
  readonly #explainer: Explainer;
  readonly #explanations: Explanations;
  readonly #snapshots: Snapshots;
  readonly #lifecycle = new Lifecycle();
  readonly #clock: Clock;
  readonly #identity: string;
  readonly #logger: Logger;

  /** Throws ProfileError. */
  constructor(options: SchedulerCoreOptions) {
    const { ports, logger, clock, identity, defer, workAtATime = defaultWorkAtATime } = options;
    const lifecycle = this.#lifecycle;
    const metrics = new SchedulerMetrics(options.registry);
    const intake = new Intake({ ...options, metrics, lifecycle });
    const { cluster, queue } = intake;
    const extenders = ports.extenders && new Extenders({ port: ports.extenders, cluster, logger });
    const recovery = new Recovery({ intake, extenders, ports, metrics, logger, lifecycle });
    const parts = { intake, recovery, extenders, metrics, logger, lifecycle };
    const binding = createBinding({ ...parts, events: ports.events, identity, defer, workAtATime });
    const attempts = new Attempts({ ...parts, binding, ports, clock, onReady: options.onReady });
    this.#explainer = this.#createExplainer(intake, attempts, recovery, extenders);
    this.#snapshots = this.#createSnapshots(intake, attempts);
    this.#explanations = new Explanations(() => {
      if (lifecycle.isRunning) options.onReady();
    });
    attempts.alternateWith(this.#explanations);
    this.cluster = cluster;
    this.profiles = intake.profiles;
    this.queue = queue;
    this.router = intake.router;
    this.handlers = intake.handlers;
    this.waitingPods = intake.waitingPods;
    this.cycle = attempts.cycle;
    const { timeline, profiles, verdicts } = intake;
    const verdictOf = (uid: string): Verdict | undefined => verdicts.of(uid);
    this.timeline = new TimelineFeed({ ...{ timeline, cluster, queue, profiles, clock }, verdictOf });
    this.binding = binding;
    this.#intake = intake;
    this.#recovery = recovery;
    this.#attempts = attempts;
    this.#clock = clock;
    this.#identity = identity;
    this.#logger = logger;
    registerGauges(options.registry, this.#sources());
  }

  /** Returns true after `begin` and before `stop`. */
  get isRunning(): boolean {
    return this.#lifecycle.isRunning;
  }

  /** The preemptions that wait for their victims. */
  get preemptions(): Pick<Preemptions, 'inFlight' | 'promisedTo' | 'isStuck'> {
    return this.#attempts.preemptions;
  }

  /** True while the core settles what an earlier process left unfinished. No attempt is made until then. */
  get isSettling(): boolean {
    return this.#attempts.preemptions.isSettling;
  }

  /** Fills the queue from the complete cache and starts it. Later calls do nothing. */
  begin(): void {
    if (!this.#lifecycle.begin()) return;
    this.#intake.begin(epochOf(this.#identity, this.#clock.now()));
    this.#recovery.begin();
    this.#attempts.begin();
    this.queue.start();
  }

  /**
   * Attempts the next entity. The call decides the entity, or makes one half of the attempt when extenders take part. A plan is then
   * bound in the background. Returns undefined if the active queue is empty or the core is not running.
   *
   * `work` is a budget, in visits of a node. With a budget, an attempt may take several calls. Each call spends the budget and then
   * finishes what it cannot interrupt, at most one pass over the nodes. Until the attempt is decided, the cluster cache looks as it did
   * before the attempt; changes to it are deferred and later run in order. Calls return `paused` until the attempt is decided and all
   * deferred changes have run.
   */
  attempt(): CycleResult | undefined;
  attempt(work: number): CycleResult | Paused | undefined;
  attempt(work = Infinity): CycleResult | Paused | undefined {
    return this.#attempts.attempt(work);
  }

  /**
   * Like `attempt`, for a core that writes nothing and has no extenders: the plan is not bound, but its pods count as bound at once. A preemption
   * only reserves the capacity of its victims. Must not alternate with `attempt`, and nothing may be awaited between two calls.
   */
  rehearse(): Rehearsed | undefined {
    return this.#attempts.rehearse();
  }

  /** Returns the latest verdict on the pod by this process. */
  verdictOf(uid: string): Verdict | undefined {
    return this.#intake.verdicts.of(uid);
  }

  /**
   * Returns whether the whole entity would fit if the cluster were different. Changes nothing, except that it first finishes a paused
   * attempt.
   */
  dryRun(schedulingEntity: SchedulingEntity, options?: DryRunOptions): DryRunResult {
    const { gate, dryRuns, profiles } = this.#intake;
    gate.settle();
    return dryRuns.run(profiles.of(schedulingEntity), schedulingEntity, options);
  }

  /**
   * Explains why a group or a pod waits, in parts between attempts. Resolves to undefined if the cluster cache knows neither. Rejects with
   * BusyError while another explanation is made, and if the core is not running or stops.
   */
  explain(name: SubjectName): Promise<ExplanationPart | undefined> {
    if (!this.isRunning) return Promise.reject(new Error('the scheduler is not running'));
    return this.#explanations.ask(this.#explainer.explain(name));
  }

  /** Like `explain`, at once: for a core that makes no attempts meanwhile, running or not. */
  explainNow(name: SubjectName): ExplanationPart | undefined {
    this.#intake.gate.settle();
    return answerAtOnce(this.#explainer.explain(name, true));
  }

  /**
   * Takes a snapshot between attempts, with new plans of what waits. Rejects with BusyError while another one, or an explanation, is made, and if the
   * core is not running or stops.
   */
  takeSnapshot(): Promise<SnapshotSource> {
    if (!this.isRunning) return Promise.reject(new Error('the scheduler is not running'));
    return this.#explanations.ask(this.#snapshots.take());
  }

  /** Like `takeSnapshot`, at once: for a core that makes no attempts meanwhile. Plans everything that waits. */
  takeSnapshotNow(): SnapshotSource {
    this.#intake.gate.settle();
    return answerAtOnce(this.#snapshots.take(Infinity));
  }

  /**
   * For a core that writes nothing and has no extenders: attempts an entity, whatever its place in the queue, and undoes the plan if there is one.
   * Returns undefined if the queue does not have the entity, or it is not ready.
   */
  retrace(key: EntityKey): Exclude<CycleResult, { kind: 'asking' }> | undefined {
    return this.#attempts.retrace(key);
  }

  /**
   * Stops all work. Resolves once nothing runs any more. A plan that has sent a binding gets up to `drainMs` to bind all its members, so
   * that the stop leaves no gang partially bound; then it is aborted. All other plans are undone. Resolves to false if a plugin call does
   * not return within the grace period: that call may still act.
   */
  async stop({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<boolean> {
    const reason = new Error('the scheduler is stopping');
    this.#lifecycle.stop(reason);
    this.#attempts.giveUp();
    this.#intake.stop();
    this.#explanations.stop(reason);
    this.#attempts.stop();
    this.#recovery.stop();
    if (drainMs > 0) await this.#within(drainMs, this.binding.drained());
    this.#lifecycle.abortBindings(reason);
    if (await this.#within(stopGraceMs, Promise.all([this.binding.idle(), this.#attempts.idle()]))) return true;
    this.#logger.warn('stopped before all plugin calls returned', { bindings: this.binding.running });
    return false;
  }

  /** Waits for the promise for at most `ms`. Returns false on timeout. */
  async #within(ms: number, promise: Promise<unknown>): Promise<boolean> {
    const late = deferred<false>();
    const timer = this.#clock.setTimer(ms, () => late.resolve(false));
    const inTime = await Promise.race([promise.then(() => true), late.promise]);
    timer.cancel();
    return inTime;
  }

  #createExplainer(
    intake: Intake,
    attempts: Attempts,
    { rejections }: Recovery,
    extenders: Extenders | undefined,
  ): Explainer {
    const { cluster, clock, dryRuns, planner, profiles, queue, runTimes } = intake;
    return new Explainer({
      ...{ cluster, clock, dryRuns, planner, profiles, queue },
      // Explanations must not use up what attempts may spend on their verdicts.
      waitCauses: new WaitCauses({ cluster, clock, dryRuns, rejections, extenders }),
      runTimes: runTimes ?? new RunTimes({ clock, listed: cluster.listed, penaltyMs: 0, overrun: () => undefined }),
      verdictOf: (uid) => intake.verdicts.of(uid),
      usableNodes: (members) => attempts.cycle.usableNodes(members),
      nodesToTry: (key, members) => attempts.cycle.nodesToTry(key, members),
      ignoredReservations: (entity, demand) => attempts.turns?.ignoredBy(entity, demand),
      extenders,
    });
  }

  #createSnapshots(
    { cluster, clock, dryRuns, planner, profiles, queue, verdicts }: Intake,
    attempts: Attempts,
  ): Snapshots {
    return new Snapshots({
      ...{ cluster, clock, dryRuns, profiles, queue },
      seed: planner.seed,
      verdictOf: (uid) => verdicts.of(uid),
      needsMemory: (schedulingEntity) => attempts.needsMemory(schedulingEntity),
    });
  }

  #sources(): MetricSources {
    const { cluster, queue } = this;
    const { metricsSnapshot } = this.#attempts;
    const { reservations, partial } = this.#recovery;
    return {
      profiles: () => this.profiles.all,
      queue: {
        pending: () => metricsSnapshot.take().pending,
        unschedulable: () => metricsSnapshot.take().unschedulable,
        flushed: () => queue.flushed,
        joined: () => queue.joined,
        inFlight: () => queue.eventsInFlight,
      },
      cache: {
        nodes: () => cluster.nodes.length,
        pods: () => cluster.podCount,
        assumed: () => cluster.assumedCount,
        reservations: () => {
          const counts = { nomination: 0, repair: 0, backfill: 0 };
          for (const { kind } of cluster.reservations()) counts[kind]++;
          return counts;
        },
        reservedCapacity: () => reservedCapacityIn(cluster),
        oldestReservation: () => reservations.oldestSeconds,
      },
      gangs: {
        waiting: () => metricsSnapshot.take().waiting,
        partial: () => partial.count,
        partialSeconds: () => partial.seconds,
        repairs: () => partial.repairs,
      },
      preemptions: {
        inFlight: () => this.#attempts.preemptions.inFlight,
        stuckVictims: () => this.#attempts.preemptions.stuckVictims,
      },
    };
  }
}

/** Returns a name for the time in which this process leads from now on. No other process and no other time has it. */
function epochOf(identity: string, now: number): string {
  return `${now.toString(36)}-${hashText(identity).toString(36)}`;
}

/** Returns the sums of the reservations by kind and resource. The resource `cpu` is in cores. */
function* reservedCapacityIn(cluster: Cluster): ReturnType<MetricSources['cache']['reservedCapacity']> {
  const sums = { nomination: new Amounts(), repair: new Amounts(), backfill: new Amounts() };
  for (const { kind, owner } of cluster.reservations()) sums[kind].add(owner.template.requests);
  for (const kind of reservationKinds) {
    for (const [id, amount] of sums[kind].entries()) {
      const resource = cluster.resources.nameOf(id);
      yield { kind, resource, amount: resource === 'cpu' ? amount / 1000 : amount };
    }
  }
}
