import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../observability/logger.ts';

const remindMs = 60_000;

/**
 * Says loudly, and once a minute at most, that pods which name this scheduler are bound, and not by this process: another one with the
 * same schedulerName runs, and each takes room that the other has just chosen. The Bindings that a former leader had sent count as well, for a
 * moment.
 */
export class ConflictingSchedulers {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #unsaid = 0;
  #saidAt = -Infinity;

  constructor(options: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** The pod, one of ours, has got a node that nobody here has chosen. */
  bound({ key, nodeName, schedulerName }: Pod): void {
    this.#unsaid++;
    const now = this.#clock.monotonic();
    if (now - this.#saidAt < remindMs) return;
    this.#logger.warn(
      'somebody else binds pods that name this scheduler: run one with that schedulerName, or elect a leader',
      {
        schedulerName,
        pod: key,
        node: nodeName,
        pods: this.#unsaid,
      },
    );
    this.#saidAt = now;
    this.#unsaid = 0;
  }
}
