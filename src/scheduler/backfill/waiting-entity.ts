import type { QueuedEntity } from '../../queue/queued-entity.ts';

/** A prediction that found no pool with enough capacity. */
interface Failure {
  /** How many predictions have failed, one after the other. */
  readonly count: number;
  readonly retryAt: number;
  /** True if the next prediction may drain nodes, or looks into other pools, unlike this one. */
  readonly isDifferentNext: boolean;
  /** The pools that were not open, because an entity ahead has its turn there. */
  readonly closed: readonly string[];
  /** How many of the open pools were tried in this round. */
  readonly tried: number;
}

/** Maximum number of pools in which one attempt looks for a turn. */
const maxPools = 16;
/** Time until the prediction after all pools have been tried; it doubles with each further round. */
const firstRetryMs = 30_000;
const maxRetryMs = 600_000;

/** An entity that does not fit now, and would fit if other pods were gone. Times are those of Clock.monotonic(): the wall clock may jump. */
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

  /** Returns whether nodes may be drained for it. */
  mayDrain(now: number): boolean {
    return now >= this.#drainAt;
  }

  /** Returns whether the next prediction may have another result than the last one only because other pods have changed. */
  isRetry(isOpen: (pool: string) => boolean): boolean {
    return this.#failure !== undefined && !this.#failure.isDifferentNext && !this.#failure.closed.some(isOpen);
  }

  /** Returns whether a prediction may be made. */
  isReady(now: number, isOpen: (pool: string) => boolean): boolean {
    return now >= this.notBefore || this.#failure?.closed.some(isOpen) === true;
  }

  /** Returns those of the open pools, in a fixed order, in which the next prediction looks for capacity. */
  poolsToTry<Pool>(open: readonly Pool[]): readonly Pool[] {
    const tried = this.#failure?.tried ?? 0;
    return open.slice(tried < open.length ? tried : 0).slice(0, maxPools);
  }

  /** There is enough capacity in a pool. */
  succeeded(): void {
    this.#failure = undefined;
  }

  /** Records that the pools that were tried will not have enough capacity. `open`: number of open pools; `closed`: those that were not open. */
  failed(now: number, open: number, closed: readonly string[]): void {
    const { tried: before = 0, count: rounds = 0 } = this.#failure ?? {};
    const tried = (before < open ? before : 0) + maxPools;
    if (tried < open) {
      this.#failure = { count: rounds, retryAt: now, isDifferentNext: true, closed, tried };
      return;
    }
    const count = rounds + 1;
    const retryAt = now + Math.min(firstRetryMs * 2 ** (count - 1), maxRetryMs);
    const mayDrain = now < this.#drainAt && this.#drainAt <= retryAt;
    this.#failure = { count, retryAt: mayDrain ? this.#drainAt : retryAt, isDifferentNext: mayDrain, closed, tried: 0 };
  }
}
