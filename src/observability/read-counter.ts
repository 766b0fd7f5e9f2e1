import { Counter } from 'prom-client';
import type { MetricRegistry } from './metric-registry.ts';

/** One series of a counter that is counted elsewhere: its label values and its current value. */
export type Reading<Label extends string> = readonly [labels: Readonly<Record<Label, string>>, value: number];

/** Registers a counter whose owner counts by itself in the cheapest way; it is read when metrics are collected. */
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
