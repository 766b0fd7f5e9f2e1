import type { Clock } from '../../base/clock.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import { Status } from '../../framework/status.ts';
import type { Logger } from '../../observability/logger.ts';
import { CapacityLines } from '../../queue/capacity-lines.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
import type { BindingCycle } from '../binding/binding-cycle.ts';
import type { BindingPlan } from '../binding/binding-plan.ts';
import type { Extenders } from '../extenders/extenders.ts';
import { ExtenderRequests } from '../extenders/extender-requests.ts';
import type { Intake } from '../intake/intake.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { QueueMetricsSnapshot } from '../metrics/queue-metrics-snapshot.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';
import type { SchedulerPorts } from '../ports.ts';
import { Preemptions } from '../preemption/preemptions.ts';
import { Turns } from '../backfill/turns.ts';
import { demandOf } from '../placement/planning/demand.ts';
import { VictimSearch } from '../preemption/search/victim-search.ts';
import type { Recovery } from '../recovery/recovery.ts';
import { AttemptOutcomes } from './attempt-outcomes.ts';
import { OpenAttempt } from './open-attempt.ts';
import type { AttemptSubject } from './open-attempt.ts';
import { SchedulingCycle } from './scheduling-cycle.ts';
import type { CycleResult, Rehearsed } from './cycle-result.ts';
import type { SideWork } from './side-work.ts';
import { WaitCauses } from './wait-causes.ts';

export interface AttemptsOptions {
  readonly intake: Intake;
  readonly recovery: Recovery;
  readonly binding: BindingCycle;
  readonly extenders: Extenders | undefined;
  readonly ports: Pick<SchedulerPorts, 'events' | 'evictor'>;
  readonly metrics: SchedulerMetrics;
  /** Measures how long attempts take. */
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly onReady: () => void;
}

/** An attempt, or changes that it deferred, are unfinished. The next call continues with them. */
export interface Paused {
  readonly kind: 'paused';
}

interface RunningAttempt {
  readonly subject: AttemptSubject;
  readonly run: OpenAttempt<CycleResult>;
}

const paused: Paused = { kind: 'paused' };
/** Maximum cost of one deferred change, in node checks. */
const workPerChange = 500;

/** The fourth part of the core. Makes one attempt at a time, at once or in steps. */
export class Attempts {
  readonly metricsSnapshot: QueueMetricsSnapshot;
  readonly cycle: SchedulingCycle;
  readonly preemptions: Preemptions;
  /** Undefined: no profile reserves capacity until a predicted start. */
  readonly turns: Turns | undefined;
  readonly #intake: Intake;
  readonly #recovery: Recovery;
  readonly #outcomes: AttemptOutcomes;
  /** Those of rehearsed attempts. */
  readonly #rehearsed: AttemptOutcomes;
  readonly #extenders: Extenders | undefined;
  /** Undefined if no extender is configured. */
  readonly #extenderRequests: ExtenderRequests | undefined;
  readonly #metrics: SchedulerMetrics;
  readonly #clock: Clock;
  readonly #lifecycle: Lifecycle;
  readonly #ready: () => void;
  /** Set from the attempt's first step until the changes that it deferred have run. */
  #open: RunningAttempt | undefined;
  /** The same for a part of the side work. Never set while `#open` is. */
  #openSide: OpenAttempt<void> | undefined;
  #sideWork: SideWork | undefined;
  /** Attempts and parts of side work alternate. */
  #isSideNext = false;

  constructor(options: AttemptsOptions) {
    const { intake, recovery, binding, extenders, ports, metrics, logger, lifecycle, onReady } = options;
    const { cluster, queue, profiles, planner, dryRuns, waitingPods, keys, clock } = intake;
    const signal = lifecycle.stopping;
    const { evictor, events } = ports;
    const { memberLosses, reservations, rejections } = recovery;
    const { runTimes } = intake;
    const turns = runTimes && new Turns({ intake, runTimes, reservations, metrics: metrics.backfill, logger });
    this.turns = turns;
    const turnsIgnoredBy = (key: EntityKey, starts: 'now' | 'later'): ((uid: string) => boolean) | undefined => {
      const entity = turns?.hasAny === true ? queue.get(key) : undefined;
      return entity && turns!.ignoredBy(entity, demandOf(cluster, entity.schedulingEntity), starts);
    };
    recovery.respectTurns(({ key }) => turnsIgnoredBy(`gang/${key}`, 'now'));
    const preemptions = new Preemptions({
      ...{ intake, memberLosses, reservations, rejections, evictor, events, logger, signal },
      turnsIgnoredBy: (key) => turnsIgnoredBy(key, 'later'),
      victimSearch: new VictimSearch(cluster, planner, binding.recalls),
      plans: binding.recalls,
      metrics: metrics.preemptions,
    });
    this.preemptions = preemptions;
    const lines = new CapacityLines({
      get: (key) => queue.get(key),
      compare: (a, b) => profiles.compare(a, b),
    });
    this.cycle = new SchedulingCycle({
      ...{ keys, queue, cluster, planner, preemptions, waitingPods, clock, extenders, lines },
      rejections,
      waitCauses: new WaitCauses({ cluster, dryRuns, clock, rejections, extenders, turns }),
      noteOf: (gang) => recovery.noteOf(gang),
      turns,
    });
    const metricsSnapshot = new QueueMetricsSnapshot({
      ...{ cluster, queue, profiles, clock },
      onPermit: () => binding.onPermit,
      starting: () => binding.starting,
      isRunning: () => lifecycle.isRunning,
    });
    this.metricsSnapshot = metricsSnapshot;
    const outcomes = { intake, preemptions, turns, lines, metricsSnapshot, metrics, logger };
    this.#outcomes = new AttemptOutcomes({ ...outcomes, binding });
    this.#rehearsed = new AttemptOutcomes({ ...outcomes, binding: { start: (plan) => this.#showAsBound(plan) } });
    this.#extenders = extenders;
    this.#ready = () => {
      if (lifecycle.isRunning) onReady();
    };
    const ready = this.#ready;
    this.#extenderRequests = extenders && new ExtenderRequests({ extenders, queue, clock, ready, signal });
    this.#intake = intake;
    this.#recovery = recovery;
    this.#metrics = metrics;
    this.#clock = options.clock;
    this.#lifecycle = lifecycle;
  }

  /** See SchedulerCore.attempt. */
  attempt(work: number): CycleResult | Paused | undefined {
    if (!this.#lifecycle.isRunning || this.preemptions.isSettling) return undefined;
    if (this.#open === undefined && this.#openSide === undefined) {
      const early = this.#isSideNext ? this.#sideWork?.nextPart() : undefined;
      const subject = early === undefined ? this.#next() : undefined;
      const part = early ?? (subject === undefined ? this.#sideWork?.nextPart() : undefined);
      this.#isSideNext = part === undefined;
      if (part !== undefined) this.#beginSideWork(part, this.#sideWork!);
      else if (subject === undefined) return undefined;
      else if (subject.resumed === undefined && this.#mustWaitForExtenders(subject.entity)) {
        this.#extenderRequests!.enqueue(subject.entity);
        return { kind: 'asking', requests: [] };
      } else this.#begin(subject);
    }
    if (this.#openSide !== undefined) return this.#continueSideWork(this.#openSide, work);
    const open = this.#open!;
    const { run } = open;
    if (run.result === undefined) {
      this.#advance(open, work);
      if (run.result === undefined) return paused;
      // Return first: the attempt's effects precede the deferred changes, as if it had ended before they arrived.
      if (this.#intake.gate.isClosed && work < Infinity) return paused;
    }
    if (!this.#catchUp(work)) return paused;
    this.#open = undefined;
    return run.result.value;
  }

  /** See SchedulerCore.rehearse. */
  rehearse(): Rehearsed | undefined {
    const entity = this.#lifecycle.isRunning ? this.#intake.queue.pop() : undefined;
    if (entity === undefined) return undefined;
    const { schedulingEntity } = entity;
    const startedAt = this.#clock.monotonic();
    const profile = this.#intake.profiles.of(schedulingEntity);
    const result = this.cycle.run(entity, profile);
    if (result.kind === 'asking') throw new Error('cannot rehearse an attempt that needs extenders');
    this.#rehearsed.handle(entity, profile, result, startedAt);
    return { schedulingEntity, result };
  }

  /** See SchedulerCore.retrace. */
  retrace(key: EntityKey): Exclude<CycleResult, { kind: 'asking' }> | undefined {
    const { cluster, planner, profiles, queue } = this.#intake;
    const entity = queue.get(key);
    if (entity === undefined || entity.state.kind === 'gated') return undefined;
    const profile = profiles.of(entity.schedulingEntity);
    const result = this.cycle.run(entity, profile);
    if (result.kind === 'asking') throw new Error('cannot retrace an attempt that needs extenders');
    if (result.kind !== 'planned') return result;
    planner.unreserve(profile, result.plan.assignments);
    for (const { pod } of result.plan.assignments) cluster.forget(pod);
    return result;
  }

  /** Returns whether an attempt of the entity depends on what only this process knows, besides the cluster cache and the queue. */
  needsMemory(schedulingEntity: SchedulingEntity): boolean {
    const { rejections } = this.#recovery;
    if (this.#extenders !== undefined || this.turns !== undefined || !rejections.isEmpty) return true;
    if (this.preemptions.hasHistory(schedulingEntity)) return true;
    return schedulingEntity.kind === 'gang' && this.#recovery.noteOf(schedulingEntity.gang) !== undefined;
  }

  /** Changes the cache and the queue as the watch does once the plan is bound. */
  #showAsBound({ assignments }: BindingPlan): void {
    const { cluster, handlers } = this.#intake;
    for (const { pod, nodeName } of assignments) {
      const known = cluster.pod(pod.uid)!;
      handlers.pods.onUpdate(known, { ...known, nodeName });
    }
  }

  /** Runs the parts of this work between attempts from now on. Call it once. */
  alternateWith(sideWork: SideWork): void {
    this.#sideWork = sideWork;
  }

  #beginSideWork(part: (budget: WorkBudget) => Yielding<void>, sideWork: SideWork): void {
    const run = this.#opened(function* (budget): Yielding<void> {
      try {
        yield* part(budget);
      } catch (error) {
        sideWork.failed(error);
      }
    });
    this.#openSide = run;
    this.#intake.gate.close(() => {
      if (run.isPaused) this.#continueSideWork(run, Infinity);
    });
  }

  #continueSideWork(run: OpenAttempt<void>, work: number): Paused {
    if (run.result === undefined) {
      try {
        run.advance(work);
      } finally {
        if (!run.isPaused) this.#intake.gate.open();
        // A plugin may have stopped the scheduler during the step.
        if (!this.#lifecycle.isRunning) this.giveUp();
      }
    }
    if (run.result !== undefined && this.#catchUp(work)) this.#openSide = undefined;
    return paused;
  }

  /** Abandons a paused attempt and runs the changes that it deferred. Does nothing inside a step of the attempt. */
  giveUp(): void {
    const run = this.#open?.run ?? this.#openSide;
    if (run?.isPaused === true) {
      run.abandon();
      this.#open = undefined;
      this.#openSide = undefined;
      this.#intake.gate.open();
    }
    this.#catchUp(Infinity);
  }

  /** The cache has synced, and the queue was filled from it. The first attempt follows once the marks of an earlier process are settled. */
  begin(): void {
    this.preemptions.begin(() => this.#ready());
  }

  stop(): void {
    this.preemptions.stop();
    this.turns?.stop();
    this.#outcomes.stop();
    this.#rehearsed.stop();
  }

  /** Resolves when no extender call is running. */
  async idle(): Promise<void> {
    await this.#extenderRequests?.idle();
  }

  #next(): AttemptSubject | undefined {
    const resumed = this.#extenderRequests?.take();
    const entity = resumed?.entity ?? this.#intake.queue.pop();
    return entity && { entity, resumed, profile: this.#intake.profiles.of(entity.schedulingEntity) };
  }

  #begin(subject: AttemptSubject): void {
    const run = this.#opened((budget) => this.#steps(subject, budget));
    const open = { subject, run };
    this.#open = open;
    this.#intake.gate.close(() => {
      if (run.isPaused) this.#advance(open, Infinity);
    });
  }

  #opened<Result>(steps: (budget: WorkBudget) => Yielding<Result>): OpenAttempt<Result> {
    return new OpenAttempt({ cluster: this.#intake.cluster, clock: this.#clock, steps });
  }

  *#steps({ entity, profile, resumed }: AttemptSubject, budget: WorkBudget): Yielding<CycleResult> {
    const extenderResults = resumed?.extenderResults;
    if (extenderResults instanceof Status) return this.cycle.giveUp(entity, extenderResults);
    const { schedulingEntity } = entity;
    if (extenderResults !== undefined && schedulingEntity.kind === 'gang')
      this.#recovery.extendersResponded(schedulingEntity.gang.key, extenderResults);
    const continuation = extenderResults && { extenderResults, startedAt: resumed.startedAt, rounds: resumed.rounds };
    return yield* this.cycle.steps(entity, profile, budget, continuation);
  }

  /** Runs steps for this amount of work. Afterwards `open.result` is set if the attempt is decided. */
  #advance(open: RunningAttempt, work: number): void {
    const { run } = open;
    let isHandled = false;
    try {
      run.advance(work);
      if (run.result !== undefined) this.#handle(open, run.result.value);
      isHandled = true;
    } finally {
      if (!run.isPaused) this.#intake.gate.open();
      if (!isHandled) this.#open = undefined;
      // A plugin may have stopped the scheduler during the step.
      if (!this.#lifecycle.isRunning) this.giveUp();
    }
  }

  #handle({ subject, run }: RunningAttempt, result: CycleResult): void {
    const { entity, profile, resumed } = subject;
    const startedAt = resumed?.startedAt ?? run.startedAt;
    const workedMs = (resumed?.workedMs ?? 0) + run.workedMs;
    if (result.kind === 'asking') {
      const rounds = (resumed?.rounds ?? 0) + 1;
      this.#extenderRequests!.start(entity, result.requests, { startedAt, workedMs, rounds });
      return;
    }
    this.#metrics.attempts.algorithmRan(entity.schedulingEntity, profile.schedulerName, workedMs / 1000);
    this.#extenderRequests?.ended(entity);
    this.#outcomes.handle(entity, profile, result, startedAt);
  }

  /** Runs some of the deferred changes. Returns whether all have run. */
  #catchUp(work: number): boolean {
    return this.#intake.gate.catchUp(Math.max(1, Math.ceil(work / workPerChange)));
  }

  /** The entity needs extenders, and the maximum number of entities is already waiting for them. */
  #mustWaitForExtenders({ schedulingEntity }: QueuedEntity): boolean {
    if (this.#extenderRequests?.isFull !== true) return false;
    const pods = schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : schedulingEntity.gang.pending.values();
    return this.#extenders!.concern(pods);
  }
}
