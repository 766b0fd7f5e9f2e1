import type { Histogram as PromHistogram } from 'prom-client';
import type { MetricRegistry } from './metric-registry.ts';

export interface HistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** Upper bounds, ascending, without infinity. */
  readonly buckets: readonly number[];
  readonly registry: MetricRegistry;
}

/**
 * One series of a histogram. NaN and negative values count as 0: a wall clock that was set back must not lower or corrupt the
 * sum.
 */
export class HistogramSeries {
  readonly #bounds: readonly number[];
  /** Observations per bucket, not cumulative; the last bucket is beyond all bounds. */
  readonly #counts: Float64Array;
  readonly #sum = new Float64Array(1);

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Allocates nothing. */
  observe(value: number): void {
    const observed = value > 0 ? value : 0;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && observed > bounds[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sum[0]! += observed;
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sum[0] = 0;
  }

  get sum(): number {
    return this.#sum[0]!;
  }

  get counts(): Float64Array {
    return this.#counts;
  }
}

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
  readonly series: HistogramSeries;
}

/**
 * A histogram for hot paths: callers keep the series, so that observing needs no label lookup. It is exported like a prom-client
 * histogram; a series exists from the first call of `of`.
 */
export class Histogram<Label extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly labelNames: readonly Label[];
  readonly buckets: readonly number[];
  /** values of the labels -> the series */
  readonly #series = new Map<string, Labelled>();

  constructor({ name, help, labelNames, buckets, registry }: HistogramOptions<Label>) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    this.buckets = buckets;
    if (labelNames.length === 0) this.of({} as Record<Label, string>);
    // A registry only uses the name and `get` of a metric; its types require the class of prom-client.
    registry.registerMetric(this as unknown as PromHistogram);
  }

  /** Returns the series of these labels; the same one for the same values. */
  of(labels: Readonly<Record<Label, string>>): HistogramSeries {
    let key = '';
    for (let i = 0; i < this.labelNames.length; i++) key += `${labels[this.labelNames[i]!]}\u0000`;
    let labelled = this.#series.get(key);
    if (labelled === undefined) {
      labelled = { labels: { ...labels }, series: new HistogramSeries(this.buckets) };
      this.#series.set(key, labelled);
    }
    return labelled.series;
  }

  /** Returns the values in the form of prom-client's metrics. */
  get(): Promise<unknown> {
    const { name, help, type, buckets } = this;
    const values: { labels: object; value: number; metricName: string }[] = [];
    for (const { labels, series } of this.#series.values()) {
      let count = 0;
      series.counts.forEach((inBucket, index) => {
        count += inBucket;
        const le = index < buckets.length ? buckets[index]! : '+Inf';
        values.push({ labels: { ...labels, le }, value: count, metricName: `${name}_bucket` });
      });
      values.push({ labels, value: series.sum, metricName: `${name}_sum` });
      values.push({ labels, value: count, metricName: `${name}_count` });
    }
    return Promise.resolve({ name, help, type, values, aggregator: 'sum' });
  }

  /** Resets every series. */
  reset(): void {
    for (const { series } of this.#series.values()) series.reset();
  }
}
