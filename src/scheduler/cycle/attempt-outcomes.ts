import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Candidate } from '../../framework/candidate.ts';
import type { Profile } from '../../framework/profile.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Line } from '../../queue/line.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { BindingCycle } from '../binding/binding-cycle.ts';
import type { EntityRouter } from '../intake/entity-router.ts';
import { OutdatedLines } from './outdated-lines.ts';
import { demandOf } from '../placement/planning/demand.ts';
import type { Preemptions } from '../preemption/preemptions.ts';
import type { QueueCensus } from './queue-census.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';
import type { CycleResult, Retelling } from './scheduling-cycle.ts';
import type { Verdicts } from '../verdicts/verdicts.ts';

export interface AttemptOutcomesOptions {
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  readonly binding: Pick<BindingCycle, 'start'>;
  readonly preemptions: Pick<Preemptions, 'carryOut'>;
  readonly verdicts: Pick<Verdicts, 'report'>;
  readonly census: Pick<QueueCensus, 'refused'>;
  readonly metrics: Pick<SchedulerMetrics, 'attempts'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Refused = Extract<CycleResult, { kind: 'refused' }>;

/** What the latest of a line was told, and how to say it to the others. */
interface Told {
  readonly verdict: Verdict;
  readonly retell: Retelling;
  /** Of the nodes that it was found out on. */
  readonly nodesRevision: number;
}

/** What follows from an attempt that has ended: what becomes of its entity in the queue, and what is said of it. */
export class AttemptOutcomes {
  readonly #options: AttemptOutcomesOptions;
  /** line -> what equal ones are told */
  readonly #told = new WeakMap<Line, Told>();
  readonly #outdated: OutdatedLines;

  constructor(options: AttemptOutcomesOptions) {
    this.#options = options;
    this.#outdated = new OutdatedLines({ clock: options.clock, tell: (entity, line) => this.#retell(entity, line) });
  }

  /** The attempt, which began at `startedAt` (Clock.monotonic()), has ended so. */
  handle(
    entity: QueuedEntity,
    profile: Profile,
    result: Exclude<CycleResult, { kind: 'asking' }>,
    startedAt: number,
  ): void {
    const { queue, binding, census, preemptions } = this.#options;
    switch (result.kind) {
      case 'settled':
        queue.remove(entity.key);
        this.#route(entity.candidate, 'Settled');
        return;
      case 'notReady':
        queue.notReady(entity);
        return;
      case 'planned':
        queue.done(entity);
        this.#route(entity.candidate, 'Planned');
        binding.start(result.plan);
        return;
      case 'ruledOut':
        this.#count(entity, profile, result, startedAt);
        queue.failed(entity, result.failure);
        return;
      case 'foreseen': {
        const { line, pods } = result;
        const verdict = this.#told.get(line)!.retell(entity.candidate, pods);
        census.refused(entity, verdict.waitsFor);
        queue.joins(entity, line);
        this.#sayWhy(entity, { pods, verdict });
        return;
      }
      case 'refused':
        this.#count(entity, profile, result, startedAt);
        if (result.preemption !== undefined) preemptions.carryOut(entity.candidate, result.preemption);
        census.refused(entity, result.verdict.waitsFor);
        queue.failed(entity, result.failure);
        this.#remember(entity, result);
        this.#sayWhy(entity, result);
        return;
    }
  }

  /**
   * The line of those that ask for the same, whose answer is the entity's too. None where nodes have changed since in what helps
   * nobody: what is lacking may have other names, and the entity finds them out for all.
   */
  lineBefore(entity: QueuedEntity, question: string): Line | undefined {
    const { cluster, queue } = this.#options;
    const line = queue.lineBefore(entity, question);
    const isOutdated = line?.isAtRest === true && this.#told.get(line)?.nodesRevision !== cluster.nodesRevision;
    return isOutdated ? undefined : line;
  }

  stop(): void {
    this.#outdated.stop();
  }

  #count(
    { candidate }: QueuedEntity,
    { schedulerName: profile }: Profile,
    { pods, failure }: Pick<Refused, 'pods' | 'failure'>,
    startedAt: number,
  ): void {
    const { metrics, clock } = this.#options;
    metrics.attempts.attempted({
      candidate,
      profile,
      result: failure.error ? 'error' : 'unschedulable',
      pods: pods.length,
      seconds: (clock.monotonic() - startedAt) / 1000,
    });
  }

  #remember(entity: QueuedEntity, { verdict, retell }: Refused): void {
    const { cluster, queue } = this.#options;
    const line = queue.lineOf(entity);
    if (line === undefined || retell === undefined) return;
    const before = this.#told.get(line)?.verdict;
    this.#told.set(line, { verdict, retell, nodesRevision: cluster.nodesRevision });
    if (before === undefined || (before.cause === verdict.cause && before.waitsFor === verdict.waitsFor)) return;
    this.#outdated.add(line);
  }

  #retell(entity: QueuedEntity, line: Line): void {
    const { candidate } = entity;
    const { members } = demandOf(this.#options.cluster, candidate);
    if (members.length === 0) return;
    let verdict: Verdict;
    try {
      verdict = this.#told.get(line)!.retell(candidate, members);
    } catch {
      // A plugin that fails on one of them says so at the next attempt.
      return;
    }
    this.#options.census.refused(entity, verdict.waitsFor);
    this.#sayWhy(entity, { pods: members, verdict });
  }

  /** On the pods and in the log, there at level debug when it was said before. */
  #sayWhy(
    { key, candidate, attempts }: QueuedEntity,
    { pods, verdict }: { readonly pods: readonly Pod[]; readonly verdict: Verdict },
  ): void {
    const { verdicts, logger } = this.#options;
    const isNews = verdicts.report(pods, verdict, candidate.kind === 'gang' ? candidate.gang : undefined);
    const fields = {
      entity: key,
      attempts,
      reason: verdict.reason,
      waitsFor: verdict.waitsFor,
      verdict: verdict.message,
    };
    if (isNews) logger.info('unschedulable', fields);
    else logger.debug('still unschedulable', fields);
  }

  #route(candidate: Candidate, event: string): void {
    const { router, clock } = this.#options;
    const now = clock.now();
    if (candidate.kind === 'gang') router.groupChanged(candidate.gang.key, event, now);
    else router.podChanged(candidate.pod, event, now);
  }
}
