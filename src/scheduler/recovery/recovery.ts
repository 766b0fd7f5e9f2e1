import { isUnbound } from '../../api/pod.ts';
import type { GangView } from '../../cluster/gang.ts';
import { roomFreed } from '../../framework/cluster-event.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Intake } from '../intake/intake.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';
import type { SchedulerPorts } from '../ports.ts';
import { KeptClaims } from '../preemption/kept-claims.ts';
import { LostMembers } from './lost-members.ts';
import { NodeRefusals } from './node-refusals.ts';
import { PartialGroups } from './partial-groups.ts';
import { Releases } from './releases.ts';

export interface RecoveryOptions {
  readonly intake: Intake;
  readonly ports: Pick<SchedulerPorts, 'events' | 'evictor'>;
  readonly metrics: Pick<SchedulerMetrics, 'gangs'>;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/** The second part of the core: reservations, partially bound gangs, lost members, and nodes that reject pods. */
export class Recovery {
  readonly claims: KeptClaims;
  readonly partial: PartialGroups;
  readonly refusals: NodeRefusals;
  readonly #releases: Releases;

  constructor({ intake, ports, metrics, logger, lifecycle }: RecoveryOptions) {
    const { cluster, queue, router, profiles, trials, clock } = intake;
    const { events, evictor } = ports;
    const claims = new KeptClaims({ cluster, queue, clock });
    const partial = new PartialGroups({ cluster, profiles, clock });
    const refusals = new NodeRefusals({
      clock,
      ended: (pod, nodeName) => queue.moveOnEvent(roomFreed(pod, nodeName)),
    });
    const releases = new Releases({
      ...{ intake, partial, refusals, evictor, events, logger },
      metrics: metrics.gangs,
      signal: lifecycle.stopping,
    });
    const isHeld = (key: string): boolean => releases.isHeld(key);
    const lostMembers = new LostMembers({ cluster, claims, trials, refusals, profiles, isHeld, events, clock, logger });
    this.claims = claims;
    this.partial = partial;
    this.refusals = refusals;
    this.#releases = releases;
    router.holdWhile(isHeld);
    intake.podSeen.add((uid, pod) => {
      if (pod === undefined || !isUnbound(pod)) refusals.forget(uid);
    });
    intake.groupSeen.add((key) => {
      partial.look(key);
      releases.look(key);
      lostMembers.look(key);
    });
    intake.capacityFreed.add((nodeName) => refusals.roomFreed(nodeName));
    intake.podLost.add((pod, nodeName) => lostMembers.lost(pod, nodeName));
    intake.nodeChanged.add((name) => {
      refusals.nodeChanged(name);
      lostMembers.nodeChanged(name);
    });
  }

  /** The cache is complete, and the queue is filled from it. */
  begin(): void {
    this.partial.begin();
    this.#releases.begin();
  }

  /** A sentence for the verdict of a group that keeps its nodes although it cannot be completed. */
  noteOf(gang: GangView): string | undefined {
    return this.#releases.noteOf(gang);
  }

  stop(): void {
    this.claims.stop();
    this.refusals.stop();
    this.partial.stop();
  }
}
