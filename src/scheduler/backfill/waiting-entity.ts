import type { QueuedEntity } from '../../queue/queued-entity.ts';

/** A prediction that found no pool with enough capacity. */
interface Failure {
  /** How many predictions have failed, one after the other. */
  readonly count: number;
  readonly retryAt: number;
  /** True if the next prediction may drain nodes, unlike this one. */
  readonly mayDrainNext: boolean;
  /** The pools that were not open, because an entity ahead has its turn there. */
  readonly closed: readonly string[];
}

/** Time until the second prediction; it doubles with each further one. */
const firstRetryMs = 30_000;
const maxRetryMs = 600_000;

/** An entity that does not fit now, and would fit if other pods were gone. Times are in milliseconds since the epoch. */
export class WaitingEntity {
  readonly entity: QueuedEntity;
  readonly #reserveAt: number;
  readonly #drainAt: number;
  #failure: Failure | undefined;

  /** No capacity is reserved for it before `reserveAt`, and no nodes are drained for it before `drainAt`. */
  constructor(options: { readonly entity: QueuedEntity; readonly reserveAt: number; readonly drainAt: number }) {
    this.entity = options.entity;
    this.#reserveAt = options.reserveAt;
    this.#drainAt = options.drainAt;
  }

  /** When the next prediction may be made, unless a pool becomes open to the entity before. */
  get notBefore(): number {
    return this.#failure?.retryAt ?? this.#reserveAt;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Returns whether the next prediction may have another result than the last one only because other pods have changed. */
  isRetry(isOpen: (pool: string) => boolean): boolean {
    return this.#failure !== undefined && !this.#failure.mayDrainNext && !this.#failure.closed.some(isOpen);
  }

  /** Returns whether a prediction may be made. */
  isReady(now: number, isOpen: (pool: string) => boolean): boolean {
    return now >= this.notBefore || this.#failure?.closed.some(isOpen) === true;
  }

  /** Records that no pool will have enough capacity. `closed`: the pools that are not open to the entity. */
  failed(now: number, closed: readonly string[]): void {
    const count = (this.#failure?.count ?? 0) + 1;
    const retryAt = now + Math.min(firstRetryMs * 2 ** (count - 1), maxRetryMs);
    const mayDrainNext = now < this.#drainAt && this.#drainAt <= retryAt;
    this.#failure = { count, retryAt: mayDrainNext ? this.#drainAt : retryAt, mayDrainNext, closed };
  }
}
