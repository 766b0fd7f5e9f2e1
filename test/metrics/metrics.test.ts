import { readFile } from 'node:fs/promises';
import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { everyMetric } from '../../scripts/metrics/every-metric.ts';
import { leftOut } from '../../scripts/metrics/left-out.ts';
import { createMetricRegistry } from '../../src/observability/metric-registry.ts';
import type { Plugin } from '../../src/framework/plugin.ts';
import { Status } from '../../src/framework/status.ts';
import { defaultPlugins } from '../../src/plugins/registry.ts';
import { CoreHarness } from '../../src/testkit/core-harness.ts';
import { Scheduling } from '../../src/testkit/scheduling.ts';
import { samplesIn, samplesOf, valueOf } from './samples.ts';
import type { Sample } from './samples.ts';
import { cpuMsOf } from '../expect/cpu-ms.ts';

const { scheduler, controller } = everyMetric();
const all = [...scheduler, ...controller];

/** Returns the metric of a series: the name without the suffix of a histogram. */
const familyOf = (name: string): string => {
  const base = name.replace(/_(bucket|sum|count)$/, '');
  return all.some((metric) => metric.name === base && metric.type === 'histogram') ? base : name;
};

test('ME1 the page lists exactly the exported metrics', async () => {
  const page = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const [exported] = page.split('## Omitted metrics');
  const named = [...exported!.matchAll(/^\| `([a-z_]+)(?:\{([^}]*)\})?`/gm)];
  expect(named.map(([, name]) => name).sort()).toEqual([...new Set(all.map(({ name }) => name))].sort());
  for (const [, name, labels = ''] of named) {
    expect(labels, name).toBe(all.find((metric) => metric.name === name)!.labelNames.join(','));
  }
});

test('ME1 names, labels and buckets follow the conventions of Prometheus and Kubernetes', () => {
  for (const { name, type, labelNames, help, buckets } of all) {
    expect(name).toMatch(/^(scheduler|tutti|rest_client|workqueue|leader_election)_[a-z]+(_[a-z]+)*$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    if (/duration|delay|spread|age|stall|oldest|whole/.test(name)) expect(name).toMatch(/_seconds$/);
    expect(help, name).toMatch(/^[A-Z].*\.$/s);
    for (const label of labelNames) expect(label, name).not.toMatch(/uid|node$|^pod|group|namespace/);
    if (type === 'histogram') expect(buckets.length, name).toBeGreaterThanOrEqual(5);
    expect(buckets, name).toEqual([...buckets].sort((a, b) => a - b));
  }
});

/** kube-scheduler's labels and buckets: first, factor, count. */
const upstream: Readonly<Record<string, readonly [labels: string, buckets?: readonly [number, number, number]]>> = {
  schedule_attempts_total: ['result,profile'],
  scheduling_attempt_duration_seconds: ['result,profile', [0.001, 2, 15]],
  scheduling_algorithm_duration_seconds: ['', [0.001, 2, 15]],
  event_handling_duration_seconds: ['event', [0.0001, 2, 12]],
  pending_pods: ['queue'],
  queue_incoming_pods_total: ['queue,event'],
  inflight_events: ['event'],
  pod_scheduling_sli_duration_seconds: ['attempts', [0.01, 2, 20]],
  pod_scheduling_attempts: ['', [1, 2, 5]],
  pod_scheduled_after_flush_total: [''],
  framework_extension_point_duration_seconds: ['extension_point,status,profile', [0.0001, 2, 12]],
  plugin_execution_duration_seconds: ['plugin,extension_point,status', [0.00001, 1.5, 20]],
  plugin_evaluation_total: ['plugin,extension_point,profile'],
  queueing_hint_execution_duration_seconds: ['plugin,event,hint', [0.00001, 1.5, 20]],
  permit_wait_duration_seconds: ['result', [0.001, 2, 15]],
  cache_size: ['type'],
  unschedulable_pods: ['plugin,profile'],
  preemption_attempts_total: [''],
  preemption_victims: ['', [1, 2, 7]],
  podgroup_schedule_attempts_total: ['result,profile,type'],
  podgroup_scheduling_attempt_duration_seconds: ['result,profile,type', [0.001, 2, 15]],
  podgroup_scheduling_algorithm_duration_seconds: ['profile,type', [0.001, 2, 15]],
};

test('ME1 metrics named as in kube-scheduler have its labels and buckets; no metric is both exported and listed as left out', () => {
  const named = scheduler.filter(({ name }) => name.startsWith('scheduler_'));
  expect(named.map(({ name }) => name.replace('scheduler_', '')).sort()).toEqual(Object.keys(upstream).sort());
  for (const { name, labelNames, buckets } of named) {
    const [labels, wanted] = upstream[name.replace('scheduler_', '')]!;
    expect(labelNames.join(','), name).toBe(labels);
    if (wanted === undefined) continue;
    const [start, factor, count] = wanted;
    expect(buckets.length, name).toBe(count);
    buckets.forEach((bound, i) => expect(bound / (start * factor ** i), name).toBeCloseTo(1, 9));
  }
  expect(all.filter(({ name }) => name in leftOut)).toEqual([]);
});

async function afterGroups(count: number): Promise<readonly Sample[]> {
  const core = new Scheduling({ plugins: defaultPlugins });
  for (let i = 0; i < count; i++) core.node({ name: `node-${i}`, cpu: 4 });
  // Some fit, some wait for capacity, some for members, some for gates.
  for (let i = 0; i < count; i++) {
    const name = `group-${i}`;
    core.group({ name, minMember: i % 4 === 2 ? 3 : 2 });
    core.members(2, { group: name, cpu: i % 4 === 1 ? 100 : 1, ...(i % 4 === 3 && { gates: ['wait'] }) });
  }
  while ((await core.attempt()) !== undefined);
  while (core.binds.length > 0) await core.accept(core.binds[0]!.binding.name);
  const samples = await samplesOf(core.harness.registry);
  core.queue.stop();
  return samples;
}

test('ME1 the number of series does not depend on the number of groups, nodes and pods', async () => {
  const seriesOf = (samples: readonly Sample[]): string[] =>
    samples
      // The calls that Tutti times are a random sample.
      .filter(({ name }) => !/plugin_execution|queueing_hint/.test(name))
      .map(({ name, labels }) => `${name}${JSON.stringify(labels)}`);
  const few = seriesOf(await afterGroups(300));
  expect(seriesOf(await afterGroups(1_200)).sort()).toEqual(few.sort());
  expect(few.filter((series) => /group-|node-|default/.test(series.replace('default-scheduler', '')))).toEqual([]);
});

test('ME1 a running core exports only registered metrics, and every value is a number', async () => {
  const samples = await afterGroups(40);
  for (const { name, value } of samples) {
    expect(
      scheduler.map((metric) => metric.name),
      name,
    ).toContain(familyOf(name));
    expect(value, name).toSatisfy((number: number) => Number.isFinite(number) && number >= 0);
  }
});

test('ME1 a plugin may have any name', async () => {
  const name = 'A "plugin"\nby {the} \\ name="x"';
  const odd: Plugin = { name, sign: () => '', filter: () => new Status('Unschedulable', 'never') };
  const core = new Scheduling({ plugins: defaultPlugins, extra: [odd] });
  core.node({ name: 'a', cpu: 4 });
  core.pod({ name: 'p', cpu: 1 });
  await core.attempt();
  const samples = await samplesOf(core.harness.registry);
  expect(
    valueOf(samples, 'scheduler_plugin_evaluation_total', { plugin: name, extension_point: 'Filter' }),
  ).toBeGreaterThan(0);
  expect(valueOf(samples, 'scheduler_unschedulable_pods', { plugin: name })).toBe(1);
});

test('ME1 two schedulers in one process have separate metrics', async () => {
  const [one, other] = [new Scheduling({ plugins: defaultPlugins }), new Scheduling({ plugins: defaultPlugins })];
  one.node({ name: 'a', cpu: 4 });
  one.pod({ name: 'p', cpu: 1 });
  await one.attempt();
  expect(valueOf(await samplesOf(one.harness.registry), 'scheduler_scheduling_algorithm_duration_seconds_count')).toBe(
    1,
  );
  expect(
    valueOf(await samplesOf(other.harness.registry), 'scheduler_scheduling_algorithm_duration_seconds_count'),
  ).toBe(0);
});

test('ME1 no counter ever decreases', async () => {
  const core = new Scheduling({ plugins: defaultPlugins });
  const counters = new Set(scheduler.filter(({ type }) => type !== 'gauge').map(({ name }) => name));
  let before = new Map<string, number>();
  const look = async (): Promise<void> => {
    const now = new Map<string, number>();
    for (const { name, labels, value } of await samplesOf(core.harness.registry)) {
      if (counters.has(familyOf(name))) now.set(`${name}${JSON.stringify(labels)}`, value);
    }
    for (const [series, value] of before) expect(now.get(series), series).toBeGreaterThanOrEqual(value);
    before = now;
  };
  core.group({ name: 'red', minMember: 2 });
  core.members(2, { group: 'red', cpu: 1 });
  await core.attempt();
  await look();
  core.node({ name: 'a', cpu: 4 });
  core.harness.clock.advance(20_000);
  await core.attempt();
  await core.accept('red-0');
  await core.reject('red-1', 'no');
  core.change('red-0', { nodeName: 'a' });
  core.harness.clock.advance(5_000);
  await look();
  await core.attempt();
  await look();
  core.removePod('red-0');
  core.removePod('red-1');
  core.removeGroup('default/red');
  core.removeNode('a');
  await look();
  while (core.binds.length > 0) await core.reject(core.binds[0]!.binding.name, 'not found');
  await core.harness.core.stop();
  await look();
});

test('ME11 with 50,000 pods /metrics is small and fast', async () => {
  const registry = createMetricRegistry({ processMetrics: true });
  const harness = new CoreHarness({ plugins: defaultPlugins });
  const { handlers } = harness.core;
  for (let i = 0; i < 500; i++) handlers.nodes.onAdd(harness.build.projectedNode({ name: `n${i}`, cpu: 4, pods: 110 }));
  for (let g = 0; g < 2_500; g++) {
    harness.group({ name: `g${g}`, minMember: 10 });
    for (const pod of harness.build.projectedPods(10, { group: `g${g}`, cpu: 1 })) handlers.pods.onAdd(pod);
  }
  for (const pod of harness.build.projectedPods(25_000, { name: 'lone', cpu: 100 })) handlers.pods.onAdd(pod);
  harness.core.begin();
  for (let i = 0; i < 500; i++) harness.core.attempt();
  expect(harness.cluster.podCount).toBe(50_000);
  const times: number[] = [];
  let text = '';
  for (let i = 0; i < 15; i++) {
    times.push(await cpuMsOf(async () => (text = await harness.registry.metrics())));
  }
  expect(valueOf(samplesIn(text), 'scheduler_cache_size', { type: 'pods' })).toBe(50_000);
  expect(Buffer.byteLength(text) + (await registry.metrics()).length).toBeLessThanOrEqual(200_000);
  // A garbage collection may interfere, so only the fastest run counts.
  expect(Math.min(...times)).toBeLessThanOrEqual(20);
  await harness.core.stop();
});
