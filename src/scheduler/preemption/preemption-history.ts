import { backoffDelay } from '../../base/backoff.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';

/** An entity's latest preemption that failed. */
export interface FailedPreemption {
  /** uid of the pod or of the group object. */
  readonly uid: string;
  /** Number of failures so far. */
  readonly times: number;
  /** Clock.monotonic() until which the entity must not preempt. */
  readonly notBefore: number;
  /** Why it failed: a part of a sentence for the verdict. */
  readonly note: string;
}

/** Pause before an entity may preempt again. Its ordinary attempts are not delayed. */
const pause = { initialMs: 60_000, maxMs: 3_600_000 };

/** The failed preemptions of each entity, until it is bound or gone. */
export class PreemptionHistory {
  /** entity -> its latest failure */
  readonly #failures = new Map<EntityKey, FailedPreemption>();

  get isEmpty(): boolean {
    return this.#failures.size === 0;
  }

  /** A new object of the same name has no history. */
  of(schedulingEntity: SchedulingEntity): FailedPreemption | undefined {
    const failure = this.#failures.get(entityKeyOf(schedulingEntity));
    return failure?.uid === uidOf(schedulingEntity) ? failure : undefined;
  }

  /** A preemption failed at `now` (Clock.monotonic()). Returns when the entity may preempt again. */
  failed(schedulingEntity: SchedulingEntity, now: number, note: string): number {
    const times = (this.of(schedulingEntity)?.times ?? 0) + 1;
    const notBefore = now + backoffDelay(pause, times);
    const failure = { uid: uidOf(schedulingEntity), times, notBefore, note };
    this.#failures.set(entityKeyOf(schedulingEntity), failure);
    return notBefore;
  }

  /** The entity is bound or gone. */
  forget(key: EntityKey): void {
    this.#failures.delete(key);
  }
}

function uidOf(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang' ? (schedulingEntity.gang.spec?.uid ?? '') : schedulingEntity.pod.uid;
}
