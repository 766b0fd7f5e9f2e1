import { Counter } from 'prom-client';
import type { MetricRegistry } from './metric-registry.ts';

/** One series of a counter that others count: the values of its labels, and how far it has come. */
export type Reading<Label extends string> = readonly [labels: Readonly<Record<Label, string>>, value: number];

/** A counter whose owner counts by itself, in the cheapest way that there is; it is read when metrics are collected. */
export function readCounter<Label extends string>(options: {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly registry: MetricRegistry;
  readonly read: () => Iterable<Reading<Label>>;
}): void {
  const { registry, read, ...rest } = options;
  new Counter({
    ...rest,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    },
  });
}
