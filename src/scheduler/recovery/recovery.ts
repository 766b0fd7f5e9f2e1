import { isUnbound } from '../../api/pod.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ExtenderResults, Extenders } from '../extenders/extenders.ts';
import type { Intake } from '../intake/intake.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';
import type { SchedulerPorts } from '../ports.ts';
import { Reservations } from '../preemption/reservations.ts';
import type { CompletionCheckParts } from './completion-check.ts';
import { GroupRecords } from './group-records.ts';
import { MemberLosses } from './member-losses.ts';
import { NodeRejections } from './node-rejections.ts';
import { PartiallyBoundGangs } from './partially-bound-gangs.ts';
import { GangEvictions } from './gang-evictions.ts';

export interface RecoveryOptions {
  readonly intake: Intake;
  readonly extenders: Extenders | undefined;
  readonly ports: Pick<SchedulerPorts, 'events' | 'evictor'>;
  readonly metrics: Pick<SchedulerMetrics, 'gangs'>;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/** The second part of the core: reservations, partially bound gangs, member losses, and nodes that reject pods. */
export class Recovery {
  readonly reservations: Reservations;
  readonly partial: PartiallyBoundGangs;
  readonly rejections: NodeRejections;
  readonly memberLosses: Pick<MemberLosses, 'bindingFailed' | 'bound' | 'keptMembers'>;
  readonly #gangEvictions: GangEvictions;
  #turnsIgnoredBy: CompletionCheckParts['turnsIgnoredBy'] = () => undefined;

  constructor({ intake, extenders, ports, metrics, logger, lifecycle }: RecoveryOptions) {
    const { cluster, queue, router, profiles, dryRuns, clock, timeline } = intake;
    const { events, evictor } = ports;
    const reservations = new Reservations({ cluster, queue, clock });
    reservations.made.add((reservation) => timeline.reserved(reservation));
    reservations.ended.add((reservation) => timeline.reservationEnded(reservation));
    const records = new GroupRecords();
    const partial = new PartiallyBoundGangs({
      ...{ cluster, profiles, records, clock },
      trustEnded: (key) => router.groupChanged(key, 'TrustEnded', clock.now()),
    });
    const rejections = new NodeRejections({
      clock,
      opened: (template) => queue.retryAlike(template, 'NodeOpened'),
    });
    const gangEvictions = new GangEvictions({
      ...{ intake, partial, records, rejections, extenders, evictor, events, logger },
      metrics: metrics.gangs,
      turnsIgnoredBy: (gang) => this.#turnsIgnoredBy(gang),
      signal: lifecycle.stopping,
    });
    const isHeld = (key: string): boolean => gangEvictions.isHeld(key);
    const memberLosses = new MemberLosses({
      cluster,
      reservations,
      dryRuns,
      rejections,
      profiles,
      records,
      isHeld,
      events,
      clock,
      logger,
    });
    this.reservations = reservations;
    this.partial = partial;
    this.rejections = rejections;
    this.#gangEvictions = gangEvictions;
    this.memberLosses = memberLosses;
    router.holdWhile(isHeld);
    intake.podSeen.add((uid, pod) => {
      if (pod === undefined || !isUnbound(pod)) rejections.forget(uid);
      memberLosses.podSeen(uid, pod);
    });
    intake.groupSeen.add((key) => {
      partial.reconcile(key);
      gangEvictions.reconcile(key);
      memberLosses.reconcile(key);
      records.prune(key, cluster.gang(key) === undefined);
    });
    intake.capacityFreed.add((nodeName) => rejections.capacityFreed(nodeName));
    intake.podLost.add((pod, nodeName) => memberLosses.lost(pod, nodeName));
    intake.nodeChanged.add((name) => {
      rejections.nodeChanged(name);
      memberLosses.nodeChanged(name);
    });
  }

  /** There are reservations for predicted starts; see CompletionCheckParts. */
  respectTurns(turnsIgnoredBy: CompletionCheckParts['turnsIgnoredBy']): void {
    this.#turnsIgnoredBy = turnsIgnoredBy;
  }

  /** Starts the checks. The cache has synced, and the queue was filled from it. */
  begin(): void {
    this.partial.begin();
    this.#gangEvictions.begin();
  }

  /** The extenders have responded in an attempt of the group. */
  extendersResponded(key: string, results: ExtenderResults): void {
    this.#gangEvictions.extendersResponded(key, results);
  }

  /** Returns a sentence for the verdict of a partially bound gang that keeps its nodes although the scheduler cannot complete it. */
  noteOf(gang: GangView): string | undefined {
    return this.#gangEvictions.noteOf(gang);
  }

  stop(): void {
    this.reservations.stop();
    this.rejections.stop();
    this.partial.stop();
  }
}
