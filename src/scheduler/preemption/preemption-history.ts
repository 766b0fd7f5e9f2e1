import { backoffDelay } from '../../base/backoff.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';

/** What is known of an entity's earlier preemptions. */
interface PreemptionRecord {
  /** uid of the pod or of the group object. */
  readonly uid: string;
  /** Number of preemptions in a row that failed for a reason that a repetition may meet again. */
  readonly failures: number;
  /** Clock.monotonic() until which it must not preempt. */
  readonly notBefore: number;
  /** uids of pods that did not terminate in time */
  readonly stuck: ReadonlySet<string>;
  /** A sentence for its verdict. */
  readonly note: string;
}

/** A preemption that failed. */
export interface FailedPreemption extends Pick<PreemptionRecord, 'uid' | 'note'> {
  readonly key: EntityKey;
  readonly until: number;
  readonly stuck: Iterable<string>;
}

/** Pause before an entity may preempt again. Its ordinary attempts are not delayed. */
const pause = { initialMs: 60_000, maxMs: 3_600_000 };
const none: ReadonlySet<string> = new Set();

/** How the latest preemption of each entity ended, until the entity is bound or gone. */
export class PreemptionHistory {
  /** entity -> its record */
  readonly #records = new Map<EntityKey, PreemptionRecord>();

  /** Returns how long the entity must not preempt if it fails now, in milliseconds. */
  pauseAfter(key: EntityKey, uid: string): number {
    return backoffDelay(pause, (this.#of(key, uid)?.failures ?? 0) + 1);
  }

  /** A preemption failed. `until`: Clock.monotonic() until which the entity must not preempt. */
  failed({ key, uid, until, note, stuck }: FailedPreemption): void {
    const before = this.#of(key, uid);
    this.#records.set(key, {
      uid,
      failures: (before?.failures ?? 0) + 1,
      notBefore: until,
      stuck: new Set([...(before?.stuck ?? none), ...stuck]),
      note,
    });
  }

  /** Returns when the entity may preempt again, as Clock.monotonic(). */
  notBefore(key: EntityKey, uid: string): number {
    return this.#of(key, uid)?.notBefore ?? -Infinity;
  }

  /** Returns how the latest preemption ended, for the verdict. */
  noteOf(key: EntityKey, uid: string): string | undefined {
    return this.#of(key, uid)?.note;
  }

  /** Returns the uids of pods that did not terminate when the entity waited for them. It must not choose them again. */
  stuckFor(key: EntityKey, uid: string): ReadonlySet<string> {
    return this.#of(key, uid)?.stuck ?? none;
  }

  /** The entity is bound or gone. */
  forget(key: EntityKey): void {
    this.#records.delete(key);
  }

  /** A new object of the same name has no history. */
  #of(key: EntityKey, uid: string): PreemptionRecord | undefined {
    const record = this.#records.get(key);
    return record?.uid === uid ? record : undefined;
  }
}
