import type { EveryMetric, MetricDefinition } from './every-metric.ts';
import { leftOut, notThereYet } from './left-out.ts';

/** Returns docs/metrics.md. */
export function metricsPage({ scheduler, controller }: EveryMetric): string {
  const shared = new Set(scheduler.map(({ name }) => name).filter((name) => controller.some((c) => c.name === name)));
  const own = scheduler.filter(({ name }) => !shared.has(name));
  const ofKubeScheduler = own.filter(({ name }) => name.startsWith('scheduler_'));
  const ofGangs = own.filter(({ name }) => !name.startsWith('scheduler_'));
  const ofController = controller.filter(({ name }) => !shared.has(name));
  return [
    '# Metrics',
    '',
    '<!-- Made by scripts/generate-metrics-page.ts from the metrics that the processes register; do not edit. -->',
    '',
    'This page lists the metrics that the scheduler and the controller export at `/metrics`, besides the usual `process_*` and `nodejs_*`. Times are in seconds. Metrics with the same meaning as in kube-scheduler have its names, labels and buckets. No label contains the name or UID of a pod, group or node, so the number of series does not grow with the cluster. It grows only with the number of enabled plugins, whose names are label values.',
    '',
    'A standby exports the same metrics. Its groups and queues are 0, because it schedules nothing. Use the `max` of all replicas, as the dashboard does. Counters start at 0 when the process starts.',
    '',
    '## Scheduler metrics shared with kube-scheduler',
    '',
    table(ofKubeScheduler),
    '',
    '## Scheduler metrics specific to Tutti',
    '',
    table(ofGangs),
    '',
    'For the values of the label `waits_for`, see [What a gang waits for](concepts.md#what-a-gang-waits-for).',
    '',
    '## Controller metrics',
    '',
    table(ofController),
    '',
    '## Metrics of both processes',
    '',
    table(scheduler.filter(({ name }) => shared.has(name))),
    '',
    '## Omitted metrics',
    '',
    'Tutti does not have these metrics of kube-scheduler:',
    '',
    reasons(Object.entries(leftOut).map(([name, reason]) => [`\`${name}\``, reason])),
    '',
    'These figures have no metric either:',
    '',
    reasons(Object.entries(notThereYet), 'Figure'),
    '',
  ].join('\n');
}

function table(metrics: readonly MetricDefinition[]): string {
  const rows = metrics.map(({ name, type, labelNames, help, buckets }) => {
    const labels = labelNames.length === 0 ? '' : `{${labelNames.join(',')}}`;
    return `| \`${name}${labels}\` | ${type}${bounds(buckets)} | ${help.replaceAll('|', '\\|')} |`;
  });
  return ['| Metric | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

function bounds(buckets: readonly number[]): string {
  return buckets.length === 0 ? '' : `, ${buckets.length} buckets from ${buckets[0]} to ${buckets.at(-1)}`;
}

function reasons(entries: readonly (readonly [string, string])[], subject = 'Metric'): string {
  const rows = entries.map(([what, reason]) => `| ${what} | ${reason} |`);
  return [`| ${subject} | Reason |`, '| --- | --- |', ...rows].join('\n');
}
