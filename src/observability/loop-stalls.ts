import type { Clock, Timer } from '../base/clock.ts';
import { Histogram } from './histogram.ts';
import { exponentialBounds } from './metric-registry.ts';
import type { MetricRegistry } from './metric-registry.ts';

/** A prime number, so that it does not coincide with other periodic work. */
const everyMs = 97;

/** Measures about ten times a second how late a timer fires: so long other work blocked the event loop. */
export class LoopStalls {
  #timer: Timer | undefined;

  constructor({ registry, clock }: { readonly registry: MetricRegistry; readonly clock: Clock }) {
    const late = new Histogram({
      name: 'tutti_loop_stall_seconds',
      help: 'Seconds for which the event loop was blocked: the delay of a timer that is due about ten times a second.',
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
