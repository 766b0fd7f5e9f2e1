import { Gauge } from 'prom-client';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { Reflector } from './reflector.ts';

/** `reflectors`: resource -> what keeps its objects. */
export function registerCacheAge(
  registry: MetricRegistry,
  reflectors: Readonly<Record<string, Pick<Reflector<unknown>, 'silentMs'>>>,
): void {
  new Gauge({
    name: 'tutti_picture_age_seconds',
    help: 'Seconds since the API server last told of this resource, by a list, a change or a bookmark, which comes about every minute.',
    labelNames: ['resource'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [resource, { silentMs }] of Object.entries(reflectors)) {
        if (silentMs !== undefined) this.set({ resource }, silentMs / 1000);
      }
    },
  });
}
