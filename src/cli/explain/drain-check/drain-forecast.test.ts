import { beforeEach, describe, expect, it } from 'vitest';
import { defaultPlugins } from '../../../plugins/registry.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';
import { forecastDrain } from './drain-forecast.ts';
import type { DrainForecast } from './drain-forecast.ts';
import { shortBudgets } from './short-budgets.ts';

let scheduling: Scheduling;

beforeEach(() => {
  scheduling = new Scheduling({ plugins: defaultPlugins }, 'listing');
  for (const name of ['a', 'b', 'c']) scheduling.node({ name, cpu: 4, labels: { pool: name } });
});

function group(name: string, minMember: number, nodes: readonly string[], options: PodOptions = {}): void {
  scheduling.group({ name, minMember });
  for (const [index, nodeName] of nodes.entries())
    scheduling.pod({ name: `${name}-${index}`, group: name, job: name, cpu: 2, nodeName, ...options });
}

function drain(...nodes: readonly string[]): DrainForecast {
  return forecastDrain(scheduling.harness.core, nodes, scheduling.harness.clock.now());
}

function outcomes({ items }: DrainForecast): readonly (readonly [string, string?, number?])[] {
  return items.map(({ subject, outcome, fit }) => [subject.name, outcome, fit]);
}

describe('WI19: the forecast of a drain', () => {
  it('distinguishes groups that keep their quorum from those that are interrupted', () => {
    group('many', 1, ['a', 'b']);
    group('all', 2, ['a', 'c']);
    expect(outcomes(drain('a'))).toEqual([
      ['all', 'interrupts', 1],
      ['many', 'safe', 1],
    ]);
  });

  it('distinguishes groups that keep their quorum without all members from those that do not', () => {
    group('many', 1, ['a', 'b'], { nodeSelector: { pool: 'a' } });
    group('all', 2, ['a', 'c'], { nodeSelector: { pool: 'a' } });
    expect(outcomes(drain('a'))).toEqual([
      ['all', 'strands', 0],
      ['many', 'shrinks', 0],
    ]);
  });

  it('is another one for two nodes together than for each alone', () => {
    group('red', 2, ['a', 'a']);
    scheduling.pod({ name: 'busy', nodeName: 'c', cpu: 4 });
    expect(outcomes(drain('a', 'b', 'a'))).toEqual([['red', 'strands', 0]]);
  });

  it('WI21: is the same for a node that is cordoned already', () => {
    scheduling.node({ name: 'a', cpu: 4, labels: { pool: 'a' }, unschedulable: true });
    group('red', 2, ['a', 'a']);
    expect(outcomes(drain('a'))).toEqual([['red', 'interrupts', 2]]);
  });

  it('leaves groups on other nodes out', () => {
    group('red', 2, ['b', 'c']);
    expect(drain('a').items).toEqual([]);
  });

  it('counts members without a controller as lost', () => {
    group('red', 2, ['a', 'b']);
    scheduling.pod({ name: 'red-2', group: 'red', nodeName: 'a', cpu: 1 });
    const forecast = drain('a');
    expect(forecast.items).toMatchObject([{ here: 2, after: 1, fit: 1, outcome: 'shrinks' }]);
    expect(forecast.lost.map(({ name }) => name)).toEqual(['red-2']);
  });

  it('counts pods of other schedulers, and leaves pods that stay or go anyway', () => {
    scheduling.pod({ name: 'other', schedulerName: 'other', nodeName: 'a', job: 'x' });
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true };
    const pod = scheduling.pod({ name: 'daemon', nodeName: 'a' });
    scheduling.show({ ...pod, template: { ...pod.template, isOfDaemonSet: true }, controller: owner });
    scheduling.pod({ name: 'static', nodeName: 'a', annotations: { 'kubernetes.io/config.mirror': 'x' } });
    scheduling.pod({ name: 'going', nodeName: 'a', deleting: true });
    const { displaced, notJudged, lost } = drain('a');
    expect([displaced.map(({ name }) => name), notJudged, lost]).toEqual([['other'], 1, []]);
  });

  it('WI21: knows no node of another name', () => {
    expect(() => drain('a', 'x')).toThrow('there is no node named x');
  });
});

describe('budgets that are too small for a drain', () => {
  it('are those that allow fewer evictions than the pods that they select', () => {
    group('red', 1, ['a', 'a', 'b'], { labels: { app: 'red' } });
    const { displaced } = drain('a');
    const budget = (name: string, disruptionsAllowed: number, namespace = 'default') => ({
      ...({ kind: 'PodDisruptionBudget', selector: { matchLabels: { app: 'red' } }, disruptedPods: [] } as const),
      ...{ name, namespace, disruptionsAllowed },
    });
    expect(shortBudgets([budget('enough', 2), budget('short', 1), budget('elsewhere', 0, 'ml')], displaced)).toEqual([
      { namespace: 'default', name: 'short', allowed: 1, needed: 2 },
    ]);
  });
});
