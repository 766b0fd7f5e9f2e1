import { Gauge } from 'prom-client';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { Reflector } from './reflector.ts';

/** Registers the gauge of cache ages. `reflectors`: resource -> the reflector that holds its objects. */
export function registerCacheAge(
  registry: MetricRegistry,
  reflectors: Readonly<Record<string, Pick<Reflector<unknown>, 'silentMs'>>>,
): void {
  new Gauge({
    name: 'tutti_picture_age_seconds',
    help: 'Seconds since the API server last sent data for this resource: a list, a change or a bookmark, which arrives about every minute.',
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
