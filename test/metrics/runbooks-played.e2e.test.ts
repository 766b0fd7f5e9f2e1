import { execFile } from 'node:child_process';
import { readFile, rm, writeFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { claimBlocks } from '../docs/block-claims.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import { selectors } from './alert-cases.ts';
import { diagnoses } from './diagnoses.ts';
import type { Sample } from './samples.ts';
import { TroubledRelease } from './troubled-release.ts';

const blocks = claimBlocks('docs/runbooks/*.md', 'console');
const programs = await provideForSuite('ME8 the runbooks', ['etcd', 'kube-apiserver']);
const tools = await provideForSuite('ME8 the alerts, on what processes export', ['promtool']);

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

const chartRules = await readFile('charts/tutti/files/alerts.yaml', 'utf8');
const rulesText = Object.entries(selectors).reduce((text, [name, labels]) => text.replaceAll(name, labels), chartRules);
const rules = (parse(rulesText) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

/** Reports whether a metric grows while nothing happens. */
const isAge = (name: string): boolean => /^tutti_(?:picture_age|oldest_\w+)_seconds$/.test(name);
const isCounter = (name: string): boolean => /_(?:total|bucket|count|sum)$/.test(name);

/**
 * Returns the series that Prometheus would have after a while if the trend between the two scrapes continued. Counters grow at the same rate
 * per minute, ages by a minute per minute, and everything else stays. `up` is a series that Prometheus adds.
 */
function seriesOf(
  component: 'SCHEDULER' | 'CONTROLLER',
  [before = [], after]: readonly [before: readonly Sample[] | undefined, after: readonly Sample[] | undefined],
  { expr }: Rule,
  minutes: number,
): object[] {
  const target = `${selectors[component]},pod="a"`;
  const up = { series: `up{${target}}`, values: `${after === undefined ? 0 : 1}x${minutes}` };
  const known = new Map(before.map(({ name, labels, value }) => [seriesName(name, labels), value]));
  const read = (after ?? []).filter(({ name }) => expr.includes(`${name}{`));
  const scraped = read.map(({ name, labels, value }) => {
    const was = known.get(seriesName(name, labels)) ?? 0;
    const own = Object.entries(labels).map(([key, text]) => `${key}=${JSON.stringify(text)}`);
    const growth = isAge(name) ? 60 : isCounter(name) ? value - was : 0;
    return { series: `${name}{${[target, ...own].join(',')}}`, values: `${value}+${growth}x${minutes}` };
  });
  return [up, ...scraped];
}

function seriesName(name: string, labels: Readonly<Record<string, string>>): string {
  return name + JSON.stringify(Object.entries(labels).sort());
}

/** Returns the output of promtool on failure, otherwise an empty string. */
async function promtool(
  input_series: readonly object[],
  { alert }: Rule,
  minutes: number,
  fires: boolean,
): Promise<string> {
  if (tools.state === 'missing') return tools.message;
  const folder = await mkdtemp(join(tmpdir(), 'tutti-runbooks-'));
  try {
    await writeFile(join(folder, 'rules.yaml'), rulesText);
    const expectation = {
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`,
      eval_time: `${minutes - 1}m`,
      exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
    };
    const tests = [{ interval: '1m', input_series, promql_expr_test: [expectation] }];
    const file = join(folder, 'test.yaml');
    await writeFile(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
    return await promisify(execFile)(tools.paths.promtool, ['test', 'rules', file]).then(
      () => '',
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('ME8 every runbook has a diagnosis', () => {
  const pages = new Set(blocks.map(({ page }) => page));
  expect(diagnoses.map(({ alert }) => `docs/runbooks/${alert.toLowerCase()}.md`).sort()).toEqual([...pages].sort());
});

test.skipIf(programs.state === 'missing').each(diagnoses)(
  'ME8 $alert',
  async ({ alert, component, begin, produce, minutes, notProduced }) => {
    const rule = rules.find((each) => each.alert === alert)!;
    if (programs.state === 'missing') return;
    const release = await TroubledRelease.open(await openRealPlane({ paths: programs.paths }));
    try {
      await begin(release);
      const before = await release.scrape(component);
      await produce(release);
      const after = await release.scrape(component);
      await release.diagnose(blocks.filter(({ page }) => page === `docs/runbooks/${alert.toLowerCase()}.md`));
      if (tools.state === 'missing') return;
      const from = component === 'scheduler' ? 'SCHEDULER' : 'CONTROLLER';
      const trouble = seriesOf(from, [before, after], rule, minutes);
      expect(await promtool(trouble, rule, minutes, notProduced === undefined)).toBe('');
      if (before === undefined) return;
      const peace = seriesOf(from, [before, before], rule, minutes).map((series) => ({
        ...series,
        values: (series as { values: string }).values.replace(/\+\d+x/, '+0x'),
      }));
      expect(await promtool(peace, rule, minutes, false)).toBe('');
    } finally {
      await release.close();
    }
  },
);
