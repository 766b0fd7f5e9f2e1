import type { Clock } from '../../base/clock.ts';
import type { InformerHandler } from '../../informer/informer-handler.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import type { WatchAction } from './queue-metrics.ts';

/** Wraps the handler and observes the duration of each change, in seconds. */
export function timedHandler<T>(
  handler: InformerHandler<T>,
  clock: Pick<Clock, 'monotonic'>,
  series: Readonly<Record<WatchAction, HistogramSeries>>,
): InformerHandler<T> {
  const took = (action: WatchAction, begun: number): void => series[action].observe((clock.monotonic() - begun) / 1000);
  return {
    onAdd(object) {
      const begun = clock.monotonic();
      handler.onAdd(object);
      took('Add', begun);
    },
    onUpdate(previous, object) {
      const begun = clock.monotonic();
      handler.onUpdate(previous, object);
      took('Update', begun);
    },
    onDelete(last, isFinalStateUnknown) {
      const begun = clock.monotonic();
      handler.onDelete(last, isFinalStateUnknown);
      took('Delete', begun);
    },
    onListing: () => handler.onListing?.(),
    onReplaced: () => handler.onReplaced?.(),
  };
}
