import type { EveryMetric, MetricDefinition } from './every-metric.ts';
import { leftOut, notThereYet } from './left-out.ts';

/** Markdown. */
export function metricsPage({ scheduler, controller }: EveryMetric): string {
  const shared = new Set(scheduler.map(({ name }) => name).filter((name) => controller.some((c) => c.name === name)));
  const own = scheduler.filter(({ name }) => !shared.has(name));
  const ofKubeScheduler = own.filter(({ name }) => name.startsWith('scheduler_'));
  const ofGangs = own.filter(({ name }) => !name.startsWith('scheduler_'));
  const ofController = controller.filter(({ name }) => !shared.has(name));
  return [
    '# Metrics',
    '',
    '<!-- Made by scripts/generate-metrics-page.ts from what the processes register; do not edit. -->',
    '',
    'What `/metrics` of scheduler and controller exports, besides the usual `process_*` and `nodejs_*`. Times are in seconds. Names, labels and buckets are kube-scheduler’s wherever the meaning is the same. No label holds the name or uid of a pod, a group or a node, so the number of series does not grow with the cluster; a plugin’s name is a label, so it grows with the plugins that are enabled.',
    '',
    'A standby exports the same names: its groups and queues are 0, because it schedules nobody. Take the `max` over the replicas, as the dashboard does. Counters begin anew with the process.',
    '',
    '## Of the scheduler, as kube-scheduler has them',
    '',
    table(ofKubeScheduler),
    '',
    '## Of the scheduler alone',
    '',
    table(ofGangs),
    '',
    'What a group waits for (`waits_for`): `members` that are missing, `gates` of members that are there, its `turn`, the end of a `backoff`, a `permit` plugin, `capacity` (it fits once other pods are gone), `never` (not even then, on the nodes as they are), the `error` to be over, or `unknown` (neither was worth finding out).',
    '',
    '## Of the controller alone',
    '',
    table(ofController),
    '',
    '## Of both',
    '',
    table(scheduler.filter(({ name }) => shared.has(name))),
    '',
    '## Left out',
    '',
    'Metrics of kube-scheduler that Tutti does not have:',
    '',
    reasons(Object.entries(leftOut).map(([name, reason]) => [`\`${name}\``, reason])),
    '',
    'And what one would look for:',
    '',
    reasons(Object.entries(notThereYet)),
    '',
  ].join('\n');
}

function table(metrics: readonly MetricDefinition[]): string {
  const rows = metrics.map(({ name, type, labelNames, help, buckets }) => {
    const labels = labelNames.length === 0 ? '' : `{${labelNames.join(',')}}`;
    return `| \`${name}${labels}\` | ${type}${bounds(buckets)} | ${help.replaceAll('|', '\\|')} |`;
  });
  return ['| metric | type | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

function bounds(buckets: readonly number[]): string {
  return buckets.length === 0 ? '' : `, ${buckets.length} buckets from ${buckets[0]} to ${buckets.at(-1)}`;
}

function reasons(entries: readonly (readonly [string, string])[]): string {
  const rows = entries.map(([what, reason]) => `| ${what} | ${reason} |`);
  return ['| metric | why |', '| --- | --- |', ...rows].join('\n');
}
