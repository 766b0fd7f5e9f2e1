import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../observability/logger.ts';

const remindMs = 60_000;

/**
 * Logs a warning, at most once a minute, when another process binds pods with this scheduler's name. Two such schedulers take capacity
 * that the other one has just assigned. Bindings that a former leader sent shortly before count as well.
 */
export class ConflictingSchedulers {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #unreported = 0;
  #reportedAt = -Infinity;

  constructor(options: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** A pod of this scheduler was bound to a node that this process did not choose. */
  bound({ key, nodeName, schedulerName }: Pod): void {
    this.#unreported++;
    const now = this.#clock.monotonic();
    if (now - this.#reportedAt < remindMs) return;
    this.#logger.warn(
      'another process binds pods with this schedulerName: run one scheduler per schedulerName, or enable leader election',
      {
        schedulerName,
        pod: key,
        node: nodeName,
        pods: this.#unreported,
      },
    );
    this.#reportedAt = now;
    this.#unreported = 0;
  }
}
