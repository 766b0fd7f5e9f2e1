import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';

/** An entity's latest preemption that failed, or why it had to wait for its first one. */
export interface FailedPreemption {
  /** uid of the pod or of the group object. */
  readonly uid: string;
  /** Number of failures so far; 0: none. */
  readonly times: number;
  /** Clock.monotonic() until which the entity must not preempt. */
  readonly notBefore: number;
  /** Why it failed or must wait: a part of a sentence for the verdict. */
  readonly note: string;
}

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

  hasFailed(schedulingEntity: SchedulingEntity): boolean {
    return (this.of(schedulingEntity)?.times ?? 0) > 0;
  }

  /** The entity asks for its first preemption, which it may begin at `notBefore` (Clock.monotonic()). */
  delayed(schedulingEntity: SchedulingEntity, notBefore: number, note: string): FailedPreemption {
    const delay = { uid: uidOf(schedulingEntity), times: 0, notBefore, note };
    this.#failures.set(entityKeyOf(schedulingEntity), delay);
    return delay;
  }

  /** A preemption failed at `now` (Clock.monotonic()). Returns when the entity may preempt again. `pause`: undefined: at once. */
  failed(schedulingEntity: SchedulingEntity, pause: BackoffPolicy | undefined, now: number, note: string): number {
    const times = (this.of(schedulingEntity)?.times ?? 0) + 1;
    const notBefore = now + (pause === undefined ? 0 : backoffDelay(pause, times));
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
