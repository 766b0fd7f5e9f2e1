import type { Clock, Timer } from '../base/clock.ts';
import { Histogram } from './histogram.ts';
import { exponentialBounds } from './metric-registry.ts';
import type { MetricRegistry } from './metric-registry.ts';

/** Prime, so that it does not run in step with what else is done at regular times. */
const everyMs = 97;

/** Looks some ten times a second how late a timer comes: what is being done meanwhile keeps everything else waiting. */
export class LoopStalls {
  #timer: Timer | undefined;

  constructor({ registry, clock }: { readonly registry: MetricRegistry; readonly clock: Clock }) {
    const late = new Histogram({
      name: 'tutti_loop_stall_seconds',
      help: 'Seconds by which a timer that is due some ten times a second came late: for so long everything else had to wait.',
      labelNames: [],
      buckets: exponentialBounds(0.001, 2, 14),
      registry,
    }).of({});
    const next = (): void => {
      const due = clock.monotonic() + everyMs;
      this.#timer = clock.setTimer(everyMs, () => {
        late.observe((clock.monotonic() - due) / 1000);
        next();
      });
    };
    next();
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
