import { describe, expect, it } from 'vitest';
import { describeConfiguration } from './describe-configuration.ts';
import type { KnownPlugin } from './known-plugin.ts';
import { parseConfiguration } from './parse-configuration.ts';
import { defaultsAt } from './testing/defaults-at.ts';
import { header, diagnosticsOf } from './testing/diagnostics-of.ts';

const everything = ['preFilter', 'filter', 'preScore', 'score'] as const;
const own: readonly KnownPlugin[] = [
  { name: 'Mine', points: everything },
  { name: 'Other', points: ['filter', 'score'] },
];

const defaults = {
  preEnqueue: 'SchedulingGates, Coscheduling',
  queueSort: 'PrioritySort',
  preFilter: defaultsAt('preFilter'),
  filter: defaultsAt('filter'),
  postFilter: 'DefaultPreemption',
  preScore: defaultsAt('preScore'),
  score: defaultsAt('score'),
  reserve: 'VolumeBinding, Coscheduling',
  permit: 'Coscheduling',
  preBind: 'VolumeBinding',
  bind: 'DefaultBinder',
};

/** Returns point -> plugins, for the first profile of a file. */
function pointsOf(text: string): Record<string, string> {
  const { configuration } = parseConfiguration('f.yaml', text, own);
  const [first] = configuration.profiles;
  const [, ...lines] = describeConfiguration({ ...configuration, profiles: [first!] }, own);
  return Object.fromEntries(lines.map((line) => line.trim().split(': ', 2) as [string, string]));
}

/** Returns the same for a profile with these plugins. */
function pointsWith(plugins: string): Record<string, string> {
  return pointsOf(`${header}profiles:\n- plugins: ${plugins}`);
}

describe('the plugins of a profile', () => {
  it('are the defaults if it sets none', () => {
    expect(pointsOf(header)).toEqual(defaults);
    expect(pointsOf(`${header}profiles: [{plugins: {}}]`)).toEqual(defaults);
  });

  it.each([
    [
      '{multiPoint: {enabled: [{name: Mine, weight: 4}]}}',
      'are enabled at all their points, after the defaults',
      {
        preFilter: `${defaults.preFilter}, Mine`,
        filter: `${defaults.filter}, Mine`,
        preScore: `${defaults.preScore}, Mine`,
        score: `${defaults.score}, Mine(4)`,
      },
    ],
    [
      '{filter: {enabled: [{name: Mine}]}}',
      'are enabled at one point, after the defaults',
      { filter: `${defaults.filter}, Mine` },
    ],
    [
      '{multiPoint: {enabled: [{name: Mine}]}, preScore: {disabled: [{name: "*"}]}, score: {disabled: [{name: "*"}]}}',
      'are enabled everywhere except where all are disabled',
      {
        preFilter: `${defaults.preFilter}, Mine`,
        filter: `${defaults.filter}, Mine`,
        preScore: undefined,
        score: undefined,
      },
    ],
    [
      '{multiPoint: {enabled: [{name: NodeAffinity}, {name: Mine}]}}',
      'keep the position of a default that is enabled again, with the new weight',
      {
        preFilter: `${defaults.preFilter}, Mine`,
        filter: `${defaults.filter}, Mine`,
        preScore: `${defaults.preScore}, Mine`,
        score: `${defaultsAt('score', { weights: { NodeAffinity: 1 } })}, Mine(1)`,
      },
    ],
    [
      '{multiPoint: {enabled: [{name: Mine}], disabled: [{name: NodeAffinity}]}}',
      'exclude a default that is disabled everywhere',
      {
        preFilter: `${defaultsAt('preFilter', { without: ['NodeAffinity'] })}, Mine`,
        filter: `${defaultsAt('filter', { without: ['NodeAffinity'] })}, Mine`,
        preScore: `${defaultsAt('preScore', { without: ['NodeAffinity'] })}, Mine`,
        score: `${defaultsAt('score', { without: ['NodeAffinity'] })}, Mine(1)`,
      },
    ],
    [
      '{score: {enabled: [{name: NodeResourcesFit, weight: 5}]}}',
      'run first at a point that enables them, with its weight',
      {
        score: `NodeResourcesFit(5), ${defaultsAt('score', { without: ['NodeResourcesFit'] })}`,
      },
    ],
    [
      '{score: {enabled: [{name: NodeResourcesFit}]}}',
      'have weight 1 if none is set',
      {
        score: `NodeResourcesFit(1), ${defaultsAt('score', { without: ['NodeResourcesFit'] })}`,
      },
    ],
    [
      '{score: {enabled: [{name: NodeResourcesFit, weight: 0}]}}',
      'have weight 1 if 0 is set',
      {
        score: `NodeResourcesFit(1), ${defaultsAt('score', { without: ['NodeResourcesFit'] })}`,
      },
    ],
    [
      '{filter: {enabled: [{name: NodePorts}, {name: NodeName}], disabled: [{name: "*"}]}}',
      'can be reordered',
      {
        filter: 'NodePorts, NodeName',
      },
    ],
    [
      '{filter: {enabled: [{name: NodeName}], disabled: [{name: NodeName}]}}',
      'are enabled where they are both enabled and disabled',
      {
        filter: `${defaultsAt('filter', { without: ['NodeName'] })}, NodeName`,
      },
    ],
    [
      '{multiPoint: {enabled: [{name: NodeName}, {name: PrioritySort}, {name: DefaultBinder}], disabled: [{name: "*"}]}}',
      'are only the enabled ones where all are disabled',
      {
        preEnqueue: undefined,
        postFilter: undefined,
        preFilter: 'NodeName',
        filter: 'NodeName',
        preScore: undefined,
        score: undefined,
        reserve: undefined,
        permit: undefined,
        preBind: undefined,
      },
    ],
  ])('%s: %s', (plugins, _, different) => {
    expect(pointsWith(plugins)).toEqual(
      Object.fromEntries(Object.entries({ ...defaults, ...different }).filter(([, value]) => value !== undefined)),
    );
  });

  it('of kube-scheduler that Tutti does not have may be disabled without a warning', () => {
    const text = `${header}profiles:\n- plugins: {placementGenerate: {}, multiPoint: {disabled: [{name: GangScheduling}]}}`;
    expect(diagnosticsOf(text)).toEqual({ problems: [], warnings: [] });
    expect(pointsOf(text)).toEqual(defaults);
  });

  it('of the caller may be enabled although their points are unknown', () => {
    const text = `${header}profiles:\n- plugins: {multiPoint: {enabled: [{name: Later}], disabled: [{name: PrioritySort}, {name: DefaultBinder}]}}`;
    expect(diagnosticsOf(text, [{ name: 'Later' }])).toEqual({ problems: [], warnings: [] });
  });

  it('of the caller validate their arguments by their own schema, or later', () => {
    const text = `${header}profiles:\n- plugins: {multiPoint: {enabled: [{name: Later}]}}\n  pluginConfig: [{name: Later, args: {x: [1]}}]`;
    const { configuration } = parseConfiguration('f.yaml', text, [{ name: 'Later' }]);
    expect(configuration.profiles[0]!.plugins.at(-1)).toEqual({ name: 'Later', weight: 1, args: { x: [1] } });
  });

  it('get their arguments with the defaults, wherever they are enabled', () => {
    const text = `${header}profiles:\n- plugins: {filter: {enabled: [{name: NodeResourcesFit}]}}\n  pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/a]}}]`;
    const [profile] = parseConfiguration('f.yaml', text).configuration.profiles;
    const args = {
      ignoredResources: ['example.com/a'],
      ignoredResourceGroups: [],
      scoringStrategy: {
        type: 'LeastAllocated',
        resources: [
          { name: 'cpu', weight: 1 },
          { name: 'memory', weight: 1 },
        ],
      },
    };
    expect(profile!.plugins.find(({ name }) => name === 'NodeResourcesFit')).toEqual({
      name: 'NodeResourcesFit',
      weight: 1,
      args,
    });
    expect(profile!.points).toEqual({ filter: { enabled: [{ name: 'NodeResourcesFit', args }] } });
  });
});

describe('Coscheduling as the queueSort plugin', () => {
  it.each([
    ['{multiPoint: {enabled: [{name: Coscheduling}], disabled: [{name: PrioritySort}]}}'],
    ['{queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}}'],
    ['{queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: PrioritySort}]}}'],
    ['{multiPoint: {enabled: [{name: Coscheduling}]}}'],
  ])('is replaced by PrioritySort: %s', (plugins) => {
    expect(pointsWith(plugins)).toEqual(defaults);
  });

  it('is not replaced unless it is enabled', () => {
    expect(
      diagnosticsOf(`${header}profiles:\n- plugins: {multiPoint: {disabled: [{name: PrioritySort}]}}`).problems,
    ).toHaveLength(1);
    const prevented =
      '{multiPoint: {enabled: [{name: Coscheduling}], disabled: [{name: PrioritySort}]}, queueSort: {disabled: [{name: "*"}]}}';
    expect(diagnosticsOf(`${header}profiles:\n- plugins: ${prevented}`).problems).toHaveLength(1);
  });
});

describe('an older version', () => {
  const old = (version: string): string => header.replace('/v1', `/${version}`);

  it('v1beta3 is read like v1, with a warning', () => {
    expect(pointsOf(old('v1beta3'))).toEqual(defaults);
    expect(diagnosticsOf(old('v1beta3')).warnings).toEqual([
      '1:1: apiVersion is deprecated: use kubescheduler.config.k8s.io/v1',
    ]);
  });

  it('v1beta2 has its own weights, and no multiPoint', () => {
    const score = defaultsAt('score', { weights: { TaintToleration: 1, NodeAffinity: 1, InterPodAffinity: 1 } });
    expect(pointsOf(old('v1beta2'))).toEqual({ ...defaults, score });
    expect(diagnosticsOf(old('v1beta2')).warnings).toEqual([
      '1:1: apiVersion is deprecated: use kubescheduler.config.k8s.io/v1, ' +
        'in which the weight of TaintToleration is 3 and that of NodeAffinity 2, instead of 1',
    ]);
    expect(diagnosticsOf(`${old('v1beta2')}profiles: [{plugins: {multiPoint: {}}}]`).problems).toEqual([
      '3:23: profiles[0].plugins.multiPoint does not exist in v1beta2: set apiVersion to kubescheduler.config.k8s.io/v1',
    ]);
  });

  it('v1beta2 appends the enabled plugins of a point to its defaults, or replaces one', () => {
    const text = `${old('v1beta2')}profiles:\n- plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 7}, {name: Mine, weight: 2}], disabled: [{name: NodeAffinity}]}}`;
    expect(pointsOf(text).score).toBe(
      `${defaultsAt('score', { without: ['NodeAffinity'], weights: { TaintToleration: 1, NodeResourcesFit: 7, InterPodAffinity: 1 } })}, Mine(2)`,
    );
  });

  it('v1beta2 accepts a disabled insecure port', () => {
    expect(diagnosticsOf(`${old('v1beta2')}healthzBindAddress: ""\nmetricsBindAddress: 0.0.0.0:0`).problems).toEqual(
      [],
    );
    expect(diagnosticsOf(`${old('v1beta2')}healthzBindAddress: 0.0.0.0:10251`).problems).toEqual([
      '3:1: healthzBindAddress must be empty or have port 0, as in kube-scheduler: set --bind-address and --secure-port instead',
    ]);
  });
});
