import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { isAdmissionRefusal } from '../api/admission-refusal.ts';
import { isUnbound } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import { ResourceNames } from '../api/resource-names.ts';
import type { Verdict } from '../api/verdict.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import type { Pace } from '../base/pace.ts';
import type { Steps } from '../base/steps.ts';
import type { Candidate } from '../framework/candidate.ts';
import { roomFreed } from '../framework/cluster-event.ts';
import type { PluginRegistry } from '../framework/profile.ts';
import { PluginClock } from '../framework/plugin-clock.ts';
import { outcomeOf } from '../framework/plugin-meter.ts';
import { Status } from '../framework/status.ts';
import type { TrialOptions, TrialResult } from '../framework/trial.ts';
import { WaitingPods } from '../framework/waiting-pods.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { QueuedEntity } from '../queue/queued-entity.ts';
import { EquivalenceKeys } from '../queue/equivalence/equivalence-keys.ts';
import { SchedulingQueue } from '../queue/scheduling-queue.ts';
import { AttemptOutcomes } from './cycle/attempt-outcomes.ts';
import { BindingCycle } from './binding/binding-cycle.ts';
import { BindingOutcomes } from './binding/binding-outcomes.ts';
import { EntityRouter } from './intake/entity-router.ts';
import { Extenders } from './extenders/extenders.ts';
import { Inquiries } from './extenders/inquiries.ts';
import { KeptClaims } from './preemption/kept-claims.ts';
import { LostMembers } from './recovery/lost-members.ts';
import { MembershipWarnings } from './verdicts/membership-warnings.ts';
import { NodeRefusals } from './recovery/node-refusals.ts';
import { NotReadyVerdicts } from './verdicts/not-ready-verdicts.ts';
import { OpenAttempt } from './cycle/open-attempt.ts';
import type { AttemptSubject } from './cycle/open-attempt.ts';
import { Outlook } from './cycle/outlook.ts';
import { PartialGroups } from './recovery/partial-groups.ts';
import { NodeCheck } from './placement/planning/node-check.ts';
import { Planner } from './placement/planning/planner.ts';
import { Trials } from './placement/planning/trials.ts';
import { workPerMember } from './placement/planning/work-per-member.ts';
import type { SchedulerPorts } from './ports.ts';
import { Preemptions } from './preemption/preemptions.ts';
import { Profiles } from './profiles.ts';
import { QueueCensus } from './cycle/queue-census.ts';
import { Releases } from './recovery/releases.ts';
import { Rivals } from './intake/rivals.ts';
import { SchedulerMetrics } from './metrics/scheduler-metrics.ts';
import type { MetricSources } from './metrics/scheduler-metrics.ts';
import { SchedulingCycle } from './cycle/scheduling-cycle.ts';
import type { CycleResult } from './cycle/scheduling-cycle.ts';
import { Standstill } from './cycle/standstill.ts';
import { StandstillClock } from './cycle/standstill-clock.ts';
import { stillHolds } from './binding/still-holds.ts';
import { Verdicts } from './verdicts/verdicts.ts';
import { timedHandler } from './metrics/timed-handler.ts';
import { WatchHandlers } from './intake/watch-handlers.ts';

export interface SchedulerCoreOptions {
  readonly profiles: readonly ProfileConfiguration[];
  readonly plugins: PluginRegistry;
  /** How long what failed stays out of the queue. Default: 1 s, doubling to 10 s. */
  readonly backoff?: BackoffPolicy;
  readonly ports: SchedulerPorts;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  /** Tells the plans of this process from those of others. */
  readonly identity: string;
  /** `attempt` has something to do. Told again and again until it has none. */
  readonly onReady: () => void;
}

/** An attempt is under way, and there is more to do of it, or of what it made wait: nothing else is begun before. */
export interface Paused {
  readonly kind: 'paused';
}

const paused: Paused = { kind: 'paused' };
/** What a change that was put off takes at most, in looks at a node. */
const workPerChange = 500;

/** What plugins get to end their work when the scheduler stops. */
const stopGraceMs = 5_000;

/**
 * All of a scheduler that is neither network nor loop: the picture of the cluster, the queue, and what becomes of an entity from
 * its first watch change to its Bindings or its verdict. It is told what the API says through `handlers`, acts through its
 * ports, and reads no clock and no random source but those that it is given; so a process, a test and a simulation drive the
 * same thing.
 *
 * Life: fill the picture through `handlers`, `begin`, then `attempt` whenever `onReady` was called; in the end `stop`.
 */
export class SchedulerCore {
  readonly cluster: Cluster;
  readonly profiles: Profiles;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  /** What the informers tell: the only way in. */
  readonly handlers: Pick<WatchHandlers, 'nodes' | 'pods' | 'podGroups' | 'listed'>;
  readonly waitingPods: WaitingPods;
  readonly cycle: SchedulingCycle;
  readonly binding: BindingCycle;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #trials: Trials;
  readonly #refusals: NodeRefusals;
  readonly #claims: KeptClaims;
  readonly #preemptions: Preemptions;
  readonly #verdicts: Verdicts;
  readonly #notReady: NotReadyVerdicts;
  readonly #membershipWarnings: MembershipWarnings;
  readonly #metrics: SchedulerMetrics;
  readonly #census: QueueCensus;
  readonly #partial: PartialGroups;
  readonly #releases: Releases;
  readonly #lostMembers: LostMembers;
  /** Undefined where nobody outside has a say. */
  readonly #outside: { readonly extenders: Extenders; readonly inquiries: Inquiries } | undefined;
  readonly #attempts: AttemptOutcomes;
  readonly #standstill = new Standstill();
  #open: OpenAttempt | undefined;
  /** How the last one ended, while not all that it made wait is done. */
  #decided: CycleResult | undefined;
  readonly #stop = new AbortController();
  /** Cuts the Bindings that are under way, after `#stop` has ended all else. */
  readonly #cut = new AbortController();
  #hasBegun = false;
  #plans = 0;

  /** Throws ProfileError. */
  constructor(options: SchedulerCoreOptions) {
    const { logger, ports, random } = options;
    const { signal } = this.#stop;
    const standstill = this.#standstill;
    this.#clock = options.clock;
    const clock = new StandstillClock(options.clock, standstill);
    this.#logger = logger;
    const cluster = new Cluster(new ResourceNames());
    this.cluster = cluster;
    const waitingPods = new WaitingPods(clock);
    this.waitingPods = waitingPods;
    const planner = new Planner(cluster, random);
    const trials = new Trials(cluster, planner);
    this.#trials = trials;
    this.#metrics = new SchedulerMetrics(options.registry, this.#sources());
    const { gangs: gangMetrics } = this.#metrics;
    const pluginClock = new PluginClock(clock, logger);
    const profiles = new Profiles({
      configurations: options.profiles,
      registry: options.plugins,
      handle: (profile, schedulerName) => ({
        schedulerName,
        Status,
        clock: pluginClock,
        random,
        logger,
        cluster,
        waitingPods,
        binder: ports.binder,
        volumes: ports.volumes,
        trial: (candidate, trialOptions) => {
          this.#endOpenAttempt();
          return trials.run(profile(), candidate, trialOptions);
        },
        activate: (pods) => {
          const activated = [...pods];
          standstill.run(() => {
            // Plugins are made before the queue is.
            for (const pod of activated) (this.queue as SchedulingQueue | undefined)?.activate(pod);
          });
        },
        betweenAttempts: (change) => standstill.run(change),
      }),
      meters: {
        plugins: (schedulerName) => this.#metrics.plugins.meterOf(schedulerName),
        hints: (...call) => this.#metrics.plugins.hintMeter(...call),
      },
    });
    this.profiles = profiles;
    const queue = new SchedulingQueue({
      clock,
      policy: profiles,
      ...(options.backoff !== undefined && { backoff: options.backoff }),
      observer: {
        ready: () => {
          if (this.isRunning) options.onReady();
        },
        gated: (entity, status) => {
          // The picture may still be told of changes while the last Bindings are sent.
          if (!signal.aborted) this.#notReady.gated(entity, status);
        },
        moved: (store, event) => this.#metrics.queue.entered(store, event),
      },
    });
    this.queue = queue;
    this.#census = new QueueCensus({
      cluster,
      queue,
      profiles,
      clock,
      onPermit: () => this.binding.onPermit,
      starting: () => this.binding.starting,
      isRunning: () => this.isRunning,
    });
    this.#partial = new PartialGroups({ cluster, profiles, clock });
    const { verdicts: sink, events } = ports;
    this.#verdicts = new Verdicts({ sink, events, metrics: gangMetrics, cluster, clock, logger, signal });
    this.#notReady = new NotReadyVerdicts({ queue, verdicts: this.#verdicts, clock, profiles });
    this.#membershipWarnings = new MembershipWarnings(ports.events);
    const isHeld = (key: string): boolean => this.#releases.isHeld(key);
    const isHeldOrStarting = (key: string): boolean => isHeld(key) || this.binding.isStarting(cluster.gang(key));
    this.router = new EntityRouter({ cluster, queue, profiles, isHeld: isHeldOrStarting });
    const claims = new KeptClaims({ cluster, queue, clock });
    this.#claims = claims;
    const { evictor } = ports;
    const { preemptions: metrics } = this.#metrics;
    this.#preemptions = new Preemptions({ cluster, trials, claims, evictor, events, metrics, logger, signal });
    const outlook = new Outlook({ cluster, trials, clock });
    const { extenders: port } = ports;
    const extenders = port && new Extenders({ port, cluster, planner, logger });
    this.#outside = extenders && {
      extenders,
      inquiries: new Inquiries({
        extenders,
        queue,
        clock,
        ready: () => {
          if (this.isRunning) options.onReady();
        },
        signal,
      }),
    };
    const keys = new EquivalenceKeys({ cluster, profiles, workPerMember });
    const refusals = new NodeRefusals({
      clock,
      ended: (pod, nodeName) => queue.moveOnEvent(roomFreed(pod, nodeName)),
    });
    this.#refusals = refusals;
    this.#lostMembers = new LostMembers({ cluster, claims, trials, refusals, profiles, isHeld, events, clock, logger });
    this.#releases = new Releases({
      cluster,
      partial: this.#partial,
      trials,
      refusals,
      profiles,
      queue,
      router: this.router,
      evictor,
      events,
      verdicts: this.#verdicts,
      metrics: gangMetrics,
      betweenAttempts: (change) => standstill.run(change),
      clock,
      logger,
      signal,
    });
    this.cycle = new SchedulingCycle({
      keys,
      refusals,
      queue,
      cluster,
      planner,
      outlook,
      preemptions: this.#preemptions,
      waitingPods,
      clock,
      noteOf: (gang) => this.#releases.noteOf(gang),
      extenders,
    });
    const outcomes = new BindingOutcomes({
      cluster,
      queue,
      router: this.router,
      claims,
      refusals,
      verdicts: this.#verdicts,
      events,
      metrics: this.#metrics,
      partial: this.#partial,
      clock,
      logger,
      signal,
    });
    const nodeCheck = new NodeCheck(cluster);
    this.binding = new BindingCycle({
      report: (result) => standstill.run(() => outcomes.handle(result)),
      atRest: (look) => standstill.ask(look),
      stillHolds: (plan, placement, lost) => stillHolds(cluster, plan, placement, lost),
      revision: () => cluster.generation,
      // While a plan is being made nobody can look at the nodes as they are.
      stillFits: ({ profile }, placement, since) =>
        cluster.isPlanning ? undefined : nodeCheck.stillFits(profile, placement, since),
      bindOutside: extenders && ((pod, binding, end) => extenders.bind(pod, binding, end)),
      permitWaited: (status, ms) => this.#metrics.plugins.permitWaited(outcomeOf(status), ms),
      clock,
      planId: () => `${options.identity}-${++this.#plans}`,
      signal,
      cut: this.#cut.signal,
    });
    this.#attempts = new AttemptOutcomes({
      cluster,
      queue,
      router: this.router,
      binding: this.binding,
      preemptions: this.#preemptions,
      verdicts: this.#verdicts,
      census: this.#census,
      metrics: this.#metrics,
      clock,
      logger,
    });
    const rivals = new Rivals({ clock, logger });
    const handlers = new WatchHandlers({
      cluster,
      queue,
      router: this.router,
      clock,
      hasSynced: () => this.#hasBegun,
      // Extenders read all of a pod.
      readsAll: extenders !== undefined,
      looksAlike: (before, now) => extenders === undefined && keys.looksAlike(before, now),
      podSeen: (uid, pod) => this.#podSeen(uid, pod),
      groupSeen: (key) => this.#groupSeen(key),
      podLeft: (pod, nodeName) => {
        // Who was not admitted had no room there that would be free now.
        if (!isAdmissionRefusal(pod.failedBecause)) refusals.roomFreed(nodeName);
      },
      podLost: (pod, nodeName) => this.#lostMembers.lost(pod, nodeName),
      boundElsewhere: (pod) => {
        if (profiles.isOurs(pod.schedulerName)) rivals.bound(pod);
      },
      nodeChanged: (name) => {
        refusals.nodeChanged(name);
        this.#lostMembers.nodeChanged(name);
      },
    });
    const { queue: handling } = this.#metrics;
    this.handlers = {
      nodes: standstill.handler(timedHandler(handlers.nodes, clock, handling.handlingOf('Node'))),
      pods: standstill.handler(timedHandler(handlers.pods, clock, handling.handlingOf('Pod'))),
      podGroups: standstill.handler(timedHandler(handlers.podGroups, clock, handling.handlingOf('PodGroup'))),
      listed: standstill.handler(handlers.listed),
    };
  }

  /** The picture is complete and the core has not been stopped. */
  get isRunning(): boolean {
    return this.#hasBegun && !this.#stop.signal.aborted;
  }

  /** The picture is complete: fills the queue from it, once. */
  begin(): void {
    if (this.#hasBegun || this.#stop.signal.aborted) return;
    this.#hasBegun = true;
    this.cluster.allNodesShown();
    this.router.routeAll();
    for (const pod of this.cluster.pods()) this.#podSeen(pod.uid, pod);
    this.#partial.begin();
    this.#releases.begin();
    this.queue.start();
  }

  /**
   * One attempt for what comes next, decided in this call, or half of one where extenders have a say; a plan is then bound in the
   * background. Undefined when nothing comes next, or the core does not run.
   *
   * With `work`, counted in looks at a node, it may be decided in several calls instead: each does as much and then ends what cannot
   * be left half done, a pass over the nodes at most. Meanwhile the picture looks as it did before the attempt, and what would change
   * it waits, in order. Until the attempt is decided and all of that is done they answer `paused`.
   */
  attempt(): CycleResult | undefined;
  attempt(work: number): CycleResult | Paused | undefined;
  attempt(work = Infinity): CycleResult | Paused | undefined {
    if (!this.isRunning) return undefined;
    if (this.#decided === undefined) {
      if (this.#open === undefined) {
        const subject = this.#next();
        if (subject === undefined) return undefined;
        if (subject.returned === undefined && this.#mustWaitToAsk(subject.entity)) {
          this.#outside!.inquiries.hold(subject.entity);
          return { kind: 'asking', questions: [] };
        }
        this.#begin(subject);
      }
      this.#decided = this.#advance(this.#open!, work);
      if (this.#decided === undefined) return paused;
      // First what it has set off, as if it had been decided before all that came meanwhile.
      if (this.#standstill.isOn && work < Infinity) return paused;
    }
    if (!this.#catchUp(work)) return paused;
    const result = this.#decided;
    this.#decided = undefined;
    return result;
  }

  #begin(subject: AttemptSubject): void {
    const { cluster } = this;
    const clock = this.#clock;
    this.#open = new OpenAttempt({ subject, cluster, clock, steps: (pace) => this.#steps(subject, pace) });
    this.#standstill.begin();
  }

  /** How it ended; undefined: there is more to do. */
  #advance(open: OpenAttempt, work: number): CycleResult | undefined {
    try {
      const result = open.advance(work);
      if (result !== undefined) this.#handle(open, result);
      return result;
    } finally {
      if (!open.isPaused) this.#ended();
      // A plugin has stopped it in the middle of the step.
      if (!this.isRunning) this.#giveUp();
    }
  }

  #next(): AttemptSubject | undefined {
    const returned = this.#outside?.inquiries.take();
    const entity = returned?.entity ?? this.queue.pop();
    return entity && { entity, returned, profile: this.profiles.of(entity.candidate) };
  }

  #handle({ subject, startedAt, workedMs }: OpenAttempt, result: CycleResult): void {
    const { entity, profile, returned } = subject;
    this.#metrics.attempts.algorithmRan(entity.candidate, profile.schedulerName, workedMs / 1000);
    if (result.kind === 'asking') {
      const rounds = (returned?.rounds ?? 0) + 1;
      this.#outside!.inquiries.start(entity, result.questions, returned?.startedAt ?? startedAt, rounds);
    } else {
      this.#attempts.handle(entity, profile, result, returned?.startedAt ?? startedAt);
    }
  }

  /** Unless a step is being made right now. */
  #giveUp(): void {
    if (this.#open?.isPaused === true) {
      this.#open.abandon();
      this.#ended();
    }
    this.#catchUp(Infinity);
  }

  #ended(): void {
    this.#open = undefined;
    this.#standstill.end();
  }

  /** For who may not wait; not where it is part of the attempt, or of what the attempt made wait, itself. */
  #endOpenAttempt(): void {
    if (this.#open?.isPaused === true) this.#decided = this.#advance(this.#open, Infinity);
    this.#catchUp(Infinity);
  }

  /** Does some of what an attempt made wait. Whether all of it is done. */
  #catchUp(work: number): boolean {
    return this.#standstill.catchUp(Math.max(1, Math.ceil(work / workPerChange)));
  }

  /** Why the pod is not scheduled, as this process last said. */
  verdictOf(uid: string): Verdict | undefined {
    return this.#verdicts.of(uid);
  }

  /**
   * Would the candidate fit, whole, if the cluster were otherwise? Leaves everything as it was, but that an attempt which is paused
   * is decided first.
   */
  trial(candidate: Candidate, options?: TrialOptions): TrialResult {
    this.#endOpenAttempt();
    return this.#trials.run(this.profiles.of(candidate), candidate, options);
  }

  /**
   * Gives up what is under way; resolves when nothing runs any more. Plans of which a Binding has been sent get `drainMs` to be bound whole, so
   * that no gang is left in part because of it, and are then cut; all others are undone. A plugin that does not end is left behind
   * after some seconds: false then, for it may still do something.
   */
  async stop({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<boolean> {
    const reason = new Error('the scheduler is stopping');
    this.#stop.abort(reason);
    this.#giveUp();
    this.queue.stop();
    this.#notReady.stop();
    this.#attempts.stop();
    this.#claims.stop();
    this.#refusals.stop();
    this.#partial.stop();
    if (drainMs > 0) await this.#within(drainMs, this.binding.drained());
    this.#cut.abort(reason);
    const idle = Promise.all([this.binding.idle(), this.#outside?.inquiries.idle()]);
    if (await this.#within(stopGraceMs, idle)) return true;
    this.#logger.warn('stopped without waiting for a plugin that does not end', { bindings: this.binding.running });
    return false;
  }

  /** Waits for the promise, though no longer than that; whether it was in time. */
  async #within(ms: number, promise: Promise<unknown>): Promise<boolean> {
    const late = deferred<false>();
    const timer = this.#clock.setTimer(ms, () => late.resolve(false));
    const inTime = await Promise.race([promise.then(() => true), late.promise]);
    timer.cancel();
    return inTime;
  }

  *#steps({ entity, profile, returned }: AttemptSubject, pace: Pace): Steps<CycleResult> {
    const answers = returned?.answers;
    if (answers instanceof Status) return this.cycle.giveUp(entity, answers);
    const continuation = answers && { answers, startedAt: returned.startedAt, rounds: returned.rounds };
    return yield* this.cycle.steps(entity, profile, pace, continuation);
  }

  /** Extenders would have to be asked about it, and are being asked about as much as they may be. */
  #mustWaitToAsk({ candidate }: QueuedEntity): boolean {
    if (this.#outside?.inquiries.isFull !== true) return false;
    const pods = candidate.kind === 'pod' ? [candidate.pod] : candidate.gang.pending.values();
    return this.#outside.extenders.concern(pods);
  }

  #podSeen(uid: string, pod: Pod | undefined): void {
    this.#verdicts.podSeen(uid);
    if (pod === undefined || !isUnbound(pod)) this.#refusals.forget(uid);
    if (!this.cluster.isAssumed(uid)) this.waitingPods.get(uid)?.reject('', 'the pod was deleted or bound elsewhere');
    if (pod === undefined) this.#membershipWarnings.podGone(uid);
    else if (this.profiles.isOurs(pod.schedulerName)) this.#membershipWarnings.podSeen(pod);
  }

  #groupSeen(key: string): void {
    this.#partial.look(key);
    this.#releases.look(key);
    this.#lostMembers.look(key);
    this.binding.look(key);
  }

  /** Read long after the constructor has ended. */
  #sources(): MetricSources {
    return {
      profiles: () => this.profiles.all,
      queue: {
        pending: () => this.#census.take().pending,
        unschedulable: () => this.#census.take().unschedulable,
        flushed: () => this.queue.flushed,
        joined: () => this.queue.joined,
        inFlight: () => this.queue.eventsInFlight,
      },
      picture: {
        nodes: () => this.cluster.nodes.length,
        pods: () => this.cluster.podCount,
        assumed: () => this.cluster.assumedCount,
        claims: () => {
          const counts = { nomination: 0, repair: 0 };
          for (const { kind } of this.cluster.claims()) counts[kind]++;
          return counts;
        },
        oldestClaim: () => this.#claims.oldestSeconds,
      },
      gangs: {
        waiting: () => this.#census.take().waiting,
        partial: () => this.#partial.count,
        partialSeconds: () => this.#partial.seconds,
        repairs: () => this.#partial.repairs,
      },
    };
  }
}
