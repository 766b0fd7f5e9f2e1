import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Profile } from '../../framework/profile.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CapacityLines } from '../../queue/capacity-lines.ts';
import { ClassNotifications } from '../../queue/equivalence/class-notifications.ts';
import type { ClassReport } from '../../queue/equivalence/equivalence-class.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { BindingCycle } from '../binding/binding-cycle.ts';
import type { Intake } from '../intake/intake.ts';
import type { Turns } from '../backfill/turns.ts';
import { demandOf } from '../placement/planning/demand.ts';
import { waitsForVictims } from '../preemption/preemptions.ts';
import type { Preemptions } from '../preemption/preemptions.ts';
import type { QueueMetricsSnapshot } from '../metrics/queue-metrics-snapshot.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';
import type { CycleResult } from './cycle-result.ts';

export interface AttemptOutcomesOptions {
  readonly intake: Pick<Intake, 'clock' | 'cluster' | 'queue' | 'router' | 'timeline' | 'verdicts'>;
  readonly binding: Pick<BindingCycle, 'start'>;
  readonly preemptions: Pick<Preemptions, 'awaitedBy' | 'carryOut' | 'committed'>;
  /** Absent: no profile reserves capacity until a predicted start. */
  readonly turns: Turns | undefined;
  readonly metricsSnapshot: Pick<QueueMetricsSnapshot, 'rejected'>;
  readonly lines: Pick<CapacityLines, 'rejected'>;
  readonly metrics: Pick<SchedulerMetrics, 'attempts'>;
  readonly logger: Logger;
}

type Rejected = Extract<CycleResult, { kind: 'rejected' }>;

/** Applies the result of an attempt: moves the entity in the queue and reports the verdict. */
export class AttemptOutcomes {
  readonly #options: AttemptOutcomesOptions;
  readonly #notifications: ClassNotifications;

  constructor(options: AttemptOutcomesOptions) {
    this.#options = options;
    this.#notifications = new ClassNotifications({
      clock: options.intake.clock,
      notify: (entity, report) => this.#notify(entity, report),
    });
  }

  /** Handles the result of an attempt that began at `startedAt` (Clock.monotonic()). */
  handle(
    entity: QueuedEntity,
    profile: Profile,
    result: Exclude<CycleResult, { kind: 'asking' }>,
    startedAt: number,
  ): void {
    const { intake, binding, preemptions, turns } = this.#options;
    const { queue } = intake;
    switch (result.kind) {
      case 'settled':
        queue.remove(entity.key);
        turns?.left(entity.key);
        this.#route(entity.schedulingEntity, 'Settled');
        return;
      case 'notReady':
        queue.notReady(entity);
        turns?.left(entity.key);
        return;
      case 'planned':
        queue.done(entity);
        intake.timeline.planned(entity, result.plan.assignments);
        this.#route(entity.schedulingEntity, 'Planned');
        turns?.committed(entity, result.plan.assignments);
        preemptions.committed(entity.key, entity.schedulingEntity, result.plan.assignments);
        binding.start(result.plan);
        return;
      case 'ruledOut':
        this.#count(entity, profile, result, startedAt);
        queue.failed(entity, result.failure);
        return;
      case 'joined': {
        const { joined, pods } = result;
        const verdict = joined.report!.verdictFor(entity.schedulingEntity, pods);
        entity.verdictAt = joined.report!.changes;
        this.#waits(entity, verdict);
        queue.join(entity, joined);
        turns?.rejected(entity, profile, verdict.waitsFor, undefined);
        this.#reportVerdict(entity, { pods, verdict });
        return;
      }
      case 'rejected':
        this.#count(entity, profile, result, startedAt);
        entity.verdictAt = intake.cluster.changes;
        // Before the preemption, which reserves capacity for the same pods.
        if (waitsForVictims(result.preemption)) turns?.left(entity.key);
        else turns?.rejected(entity, profile, result.verdict.waitsFor, result.predicted);
        if (result.preemption !== undefined) preemptions.carryOut(entity.schedulingEntity, result.preemption);
        this.#waits(entity, result.verdict);
        queue.failed(entity, { ...result.failure, awaited: preemptions.awaitedBy(entity.key) });
        this.#reportToClass(entity, result);
        this.#reportVerdict(entity, result);
        return;
    }
  }

  stop(): void {
    this.#notifications.stop();
  }

  /** Records what the entity waits for, by its verdict. */
  #waits(entity: QueuedEntity, { waitsFor, shortOf }: Verdict): void {
    this.#options.metricsSnapshot.rejected(entity, waitsFor);
    this.#options.lines.rejected(entity, waitsFor === 'capacity' ? shortOf : undefined);
  }

  #count(
    { schedulingEntity }: QueuedEntity,
    { schedulerName: profile }: Profile,
    { pods, failure }: Pick<Rejected, 'pods' | 'failure'>,
    startedAt: number,
  ): void {
    const { metrics, intake } = this.#options;
    metrics.attempts.attempted({
      schedulingEntity,
      profile,
      result: failure.error ? 'error' : 'unschedulable',
      pods: pods.length,
      seconds: (intake.clock.monotonic() - startedAt) / 1000,
    });
  }

  #reportToClass(entity: QueuedEntity, { verdict, verdictFor }: Rejected): void {
    const { cluster, queue } = this.#options.intake;
    const of = queue.classOf(entity);
    if (of === undefined || verdictFor === undefined) return;
    this.#notifications.report(of, {
      verdict,
      verdictFor,
      nodesRevision: cluster.nodesRevision,
      changes: cluster.changes,
    });
  }

  #notify(entity: QueuedEntity, { verdictFor, changes }: ClassReport): void {
    const { schedulingEntity } = entity;
    const { members } = demandOf(this.#options.intake.cluster, schedulingEntity);
    if (members.length === 0) return;
    let verdict: Verdict;
    try {
      verdict = verdictFor(schedulingEntity, members);
    } catch {
      // The next attempt reports the plugin failure.
      return;
    }
    entity.verdictAt = changes;
    this.#waits(entity, verdict);
    this.#reportVerdict(entity, { pods: members, verdict });
  }

  /** Reports the verdict on the pods and in the log. Logs a repeated verdict at level debug. */
  #reportVerdict(
    entity: QueuedEntity,
    { pods, verdict }: { readonly pods: readonly Pod[]; readonly verdict: Verdict },
  ): void {
    const { intake, logger } = this.#options;
    const { key, schedulingEntity, attempts } = entity;
    intake.timeline.rejected(entity, verdict);
    const isNew = intake.verdicts.report(
      pods,
      verdict,
      schedulingEntity.kind === 'gang' ? schedulingEntity.gang : undefined,
    );
    const fields = {
      entity: key,
      attempts,
      reason: verdict.reason,
      waitsFor: verdict.waitsFor,
      verdict: verdict.message,
    };
    const waitsForTurn = verdict.waitsFor === 'turn';
    if (isNew) logger.info(waitsForTurn ? 'waiting for its turn' : 'unschedulable', fields);
    else logger.debug(waitsForTurn ? 'still waiting for its turn' : 'still unschedulable', fields);
  }

  #route(schedulingEntity: SchedulingEntity, event: string): void {
    const { router, clock } = this.#options.intake;
    const now = clock.now();
    if (schedulingEntity.kind === 'gang') router.groupChanged(schedulingEntity.gang.key, event, now);
    else router.podChanged(schedulingEntity.pod, event, now);
  }
}
