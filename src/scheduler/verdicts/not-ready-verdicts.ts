import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import { safeMessage } from '../../base/safe-text.ts';
import { DueTimes } from '../../base/due-times.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { onlyGatesAreShut } from '../../cluster/gang-view.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Status } from '../../framework/status.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Profiles } from '../profiles.ts';
import type { Verdicts } from './verdicts.ts';

/** A group gets its verdict once it has not changed for this long. Most groups become ready sooner and need no verdict. */
const quietMs = 1_000;
/** A group that keeps changing gets its verdict after this long. */
const latestMs = 5_000;

/** A gated group whose current reason is not reported yet. */
interface PendingReport {
  readonly entity: QueuedEntity;
  /** When the verdict is reported even if the group keeps changing, as Clock.monotonic(). */
  readonly latest: number;
  readonly reason: string;
  /** Number of members that would get the verdict. */
  readonly pending: number;
}

interface Waiters {
  readonly gang: GangView;
  /** uid -> pod */
  readonly pods: ReadonlyMap<string, Pod>;
}

/**
 * Reports to the members of a group that is not ready why it waits. Each group has its own timing: the report follows when the group has
 * not changed for a while. Pods behind scheduling gates of their own need no verdict: the API server sets their condition.
 */
export class NotReadyVerdicts {
  readonly #queue: Pick<SchedulingQueue, 'get'>;
  readonly #verdicts: Pick<Verdicts, 'report'>;
  readonly #clock: Clock;
  readonly #cluster: Pick<Cluster, 'gang'>;
  readonly #profiles: Pick<Profiles, 'decidesGangs'>;
  /** entity -> its report; a report whose entity is no longer gated when it is due is dropped */
  readonly #reports: DueTimes<EntityKey, PendingReport>;

  constructor(options: {
    readonly queue: Pick<SchedulingQueue, 'get'>;
    readonly verdicts: Pick<Verdicts, 'report'>;
    readonly clock: Clock;
    readonly cluster: Pick<Cluster, 'gang'>;
    readonly profiles: Pick<Profiles, 'decidesGangs'>;
  }) {
    this.#queue = options.queue;
    this.#verdicts = options.verdicts;
    this.#clock = options.clock;
    this.#cluster = options.cluster;
    this.#profiles = options.profiles;
    this.#reports = new DueTimes(options.clock, (key, { entity }) => this.#report(key, entity));
  }

  /**
   * PreEnqueue has rejected the entity. The queue's observer calls this on every change of the entity. Only a new reason or a new number of
   * members delays the verdict.
   */
  gated(entity: QueuedEntity, { message: reason }: Status): void {
    const pending = this.#waitersOf(entity)?.pods.size;
    if (pending === undefined) return;
    const now = this.#clock.monotonic();
    const known = this.#reports.get(entity.key);
    const isKnown = known?.entity === entity;
    if (isKnown && known.reason === reason && known.pending === pending) return;
    const latest = isKnown ? known.latest : now + latestMs;
    this.#reports.set(entity.key, Math.min(now + quietMs, latest), { entity, latest, reason, pending });
  }

  stop(): void {
    this.#reports.stop();
  }

  #report(key: EntityKey, entity: QueuedEntity): void {
    if (this.#queue.get(key) !== entity || entity.state.kind !== 'gated') return;
    const waiters = this.#waitersOf(entity);
    if (waiters === undefined) return;
    const { gang, pods } = waiters;
    const { status } = entity.state;
    const ours = [...pods.values()].filter((pod) => this.#profiles.decidesGangs(pod.schedulerName));
    const cause = status.message.replaceAll(counts, '');
    this.#verdicts.report(ours, { ...notReadyKindOf(gang), message: notReadyMessage(status), cause }, gang);
  }

  /** Returns the group that is not ready, and its members that wait with the entity; undefined if the entity waits for something of its own. */
  #waitersOf({ schedulingEntity }: QueuedEntity): Waiters | undefined {
    if (schedulingEntity.kind === 'gang') return { gang: schedulingEntity.gang, pods: schedulingEntity.gang.pending };
    const { pod } = schedulingEntity;
    const gang = pod.podGroupKey === undefined ? undefined : this.#cluster.gang(pod.podGroupKey);
    if (gang?.pending.has(pod.uid) !== true) return undefined;
    if (!gang.isHeldBack && gang.misfits.get(pod.uid) === undefined) return undefined;
    return { gang, pods: new Map([[pod.uid, pod]]) };
  }
}

/** Returns the message of a verdict on an entity that PreEnqueue rejects with this status. */
export function notReadyMessage({ message }: Status): string {
  return safeMessage(`${message}.`);
}

/** Returns the rest of the verdict on a group that is not ready. */
export function notReadyKindOf(gang: GangView): Pick<Verdict, 'reason' | 'waitsFor'> {
  if (gang.spec?.unsupported !== undefined || gang.misfits.size > 0)
    return { reason: 'SchedulerError', waitsFor: 'error' };
  return { reason: 'WaitingForGang', waitsFor: onlyGatesAreShut(gang) ? 'gates' : 'members' };
}

/** Standalone numbers, not digits within names. */
const counts = /(?<= )\d+(?=[ ,]|$)/g;
