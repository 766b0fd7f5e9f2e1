import type { MetricRegistry } from '../../src/observability/metric-registry.ts';

/** One series with its value, as /metrics shows it. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/y;

/** Parses the Prometheus text format; throws for an invalid line or a duplicate series. */
export function samplesIn(text: string): readonly Sample[] {
  const seen = new Set<string>();
  return text
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith('#'))
    .map((each) => {
      const match = line.exec(each);
      if (match === null) throw new Error(`no sample: ${each}`);
      const [, name, labels = '', value] = match;
      const series = `${name}{${labels}}`;
      if (seen.has(series)) throw new Error(`twice: ${series}`);
      seen.add(series);
      return { name: name!, labels: labelsIn(labels), value: Number(value) };
    });
}

function labelsIn(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < text.length) {
    const match = label.exec(text);
    if (match === null) throw new Error(`no labels: ${text}`);
    labels[match[1]!] = match[2]!.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

export async function samplesOf(registry: MetricRegistry): Promise<readonly Sample[]> {
  return samplesIn(await registry.metrics());
}

/** Returns the value of the only series with this name and these labels; undefined when there is none. */
export function valueOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  if (found.length > 1) throw new Error(`${found.length} series are ${name}${JSON.stringify(labels)}`);
  return found[0]?.value;
}
