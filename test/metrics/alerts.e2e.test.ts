import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { alertCases, lastsMinutes, selectors } from './alert-cases.ts';

const provision = await provideForSuite('ME3 the alerts', ['promtool']);

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
}

/** Interval of the minutes at which an alert that must not fire is checked. */
const everyMinutes = 10;

let folder: string;
let rules: readonly Rule[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-alerts-'));
  const chart = await readFile(new URL('../../charts/tutti/files/alerts.yaml', import.meta.url), 'utf8');
  const text = Object.entries(selectors).reduce((all, [name, selector]) => all.replaceAll(name, selector), chart);
  await writeFile(join(folder, 'rules.yaml'), text);
  rules = (parse(text) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('ME3 every alert fires in some case', () => {
  const fired = new Set(alertCases.flatMap(({ fires }) => Object.keys(fires)));
  expect([...fired].sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

describe.skipIf(provision.state === 'missing')('ME3 promtool on the alerts of the chart', () => {
  /** Returns the output of `promtool test rules` for one case; empty on success. */
  async function problemsOf(tests: object): Promise<string> {
    const file = join(folder, 'test.yaml');
    await writeFile(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests: [tests] }));
    if (provision.state === 'missing') return provision.message;
    const run = promisify(execFile)(provision.paths.promtool, ['test', 'rules', file]);
    return run.then(
      () => '',
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    );
  }

  /** Returns `ALERTS` at a minute as an expression test of promtool. */
  function expectation(alert: string, minute: number, isFiring: boolean): object {
    return {
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`,
      eval_time: `${minute}m`,
      exp_samples: isFiring ? [{ labels: '{}', value: 1 }] : [],
    };
  }

  test.each(alertCases)('$title', async ({ series, fires, silent = {} }) => {
    const promql_expr_test = rules.flatMap(({ alert }) => {
      const minutes = Array.from({ length: lastsMinutes / everyMinutes }, (_, i) => i * everyMinutes);
      if (!(alert in fires)) return minutes.map((minute) => expectation(alert, minute, false));
      return [
        ...fires[alert]!.map((minute) => expectation(alert, minute, true)),
        ...(silent[alert] ?? []).map((minute) => expectation(alert, minute, false)),
      ];
    });
    expect(await problemsOf({ interval: '1m', input_series: series, promql_expr_test })).toBe('');
  });

  test('detects a case whose expectation fails', async () => {
    const quiet = alertCases[0]!;
    const promql_expr_test = [expectation('TuttiDown', 100, true)];
    expect(await problemsOf({ interval: '1m', input_series: quiet.series, promql_expr_test })).toContain('FAILED');
  });
});
