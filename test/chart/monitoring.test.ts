import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { chartFolder } from '../planes/helm.ts';
import { exportedMetrics, metricsOfPrometheus, selectorsIn } from './metrics.ts';
import { rendered, theObject } from './rendered-chart.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

let exported: ReadonlyMap<string, string>;
beforeAll(async () => {
  exported = await exportedMetrics();
});

const isKnown = (name: string): boolean => exported.has(name) || metricsOfPrometheus.has(name);

test('selectorsIn finds the selectors in an expression and rejects invalid ones', () => {
  const types = new Map([['a_seconds', 'histogram']]);
  expect(
    selectorsIn('histogram_quantile(0.99, sum by (le) (rate(a_seconds_bucket{b="c", d=~"e{f}"}[5m]))) > up', types),
  ).toEqual([
    { metric: 'a_seconds', matchers: ['b="c"', 'd=~"e{f}"'] },
    { metric: 'up', matchers: [] },
  ]);
  expect(() => selectorsIn('sum by (le (up)', types)).toThrow('not PromQL');
});

describe('The alerts', () => {
  const values = { metrics: { prometheusRule: { enabled: true, renderMode: 'alwaysRender' } } };
  const alertsOf = async (more: object = {}, options = {}): Promise<readonly Alert[]> => {
    const rule = { ...values.metrics.prometheusRule, ...more };
    const objects = await rendered({ metrics: { prometheusRule: rule } }, options);
    const { spec } = theObject<{ spec: { groups: { rules: Alert[] }[] } }>(objects, 'PrometheusRule/tutti');
    return spec.groups.flatMap(({ rules }) => rules);
  };
  let alerts: readonly Alert[];
  beforeAll(async () => {
    alerts = await alertsOf();
  });

  test('read only existing metrics, of this release', () => {
    for (const { alert, expr } of alerts) {
      const selectors = selectorsIn(expr, exported);
      expect(selectors.length, alert).toBeGreaterThan(0);
      for (const { metric, matchers } of selectors) {
        expect(isKnown(metric), `${alert} reads ${metric}`).toBe(true);
        expect(matchers[0], alert).toMatch(/^job="tutti-(scheduler|controller)"$/);
        expect(matchers[1], alert).toBe('namespace="tutti-system"');
      }
    }
  });

  test('have a severity, a summary, a description and a unique name', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { alert, labels, annotations, expr } of alerts) {
      expect(alert).toMatch(/^Tutti[A-Z][A-Za-z]+$/);
      expect(labels.severity, alert).toMatch(/^(critical|warning|info)$/);
      expect(Object.keys(annotations).sort(), alert).toEqual(['description', 'summary']);
      const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
      for (const [, label] of annotations.summary!.matchAll(/\$labels\.(\w+)/g)) expect(kept, alert).toContain(label);
    }
  });

  test('link to their runbooks', async () => {
    const [first] = await alertsOf({ runbookUrl: 'https://example.com/runbooks/' });
    expect(first!.annotations.runbook_url).toBe('https://example.com/runbooks/tuttidown');
  });

  test('use a custom threshold instead of the chart’s', async () => {
    const expr = 'max(tutti_oldest_waiting_seconds) > 60';
    const changed = await alertsOf({ overrides: { TuttiGroupStarving: { expr, labels: { team: 'batch' } } } });
    const starving = changed.find(({ alert }) => alert === 'TuttiGroupStarving')!;
    expect(starving).toMatchObject({ expr, for: '15m', labels: { severity: 'warning', team: 'batch' } });
  });
});

describe('The dashboard', () => {
  let panels: readonly Panel[];
  let text: string;
  beforeAll(async () => {
    const objects = await rendered({ metrics: { dashboard: { enabled: true } } });
    const map = theObject<{ data: Record<string, string> }>(objects, 'ConfigMap/tutti-dashboard');
    text = map.data['tutti.json']!;
    panels = (JSON.parse(text) as { panels: Panel[] }).panels;
  });

  test('ME12 is the JSON file of the chart', async () => {
    expect(JSON.parse(text)).toEqual(JSON.parse(await readFile(join(chartFolder, 'files', 'dashboard.json'), 'utf8')));
  });

  test('ME12 queries only existing metrics, of the selected jobs', () => {
    for (const { title, type, targets = [] } of panels) {
      if (type !== 'row') expect(targets.length, title).toBeGreaterThan(0);
      for (const { expr } of targets) {
        // Grafana inserts a duration here.
        const selectors = selectorsIn(expr.replaceAll('$__rate_interval', '5m'), exported);
        expect(selectors.length, title).toBeGreaterThan(0);
        for (const { metric, matchers } of selectors) {
          expect(isKnown(metric), `${title} reads ${metric}`).toBe(true);
          expect(matchers[0], title).toBe('job=~"$job"');
        }
      }
    }
  });

  test('describes each panel, and no two panels overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = new Set<string>();
    for (const { title, type, description, gridPos } of panels) {
      if (type !== 'row') expect(description, title).toMatch(/\S/);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(cells.has(`${x},${y}`), title).toBe(false);
          cells.add(`${x},${y}`);
        }
      }
    }
  });
});
