import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { readValues } from '../../scripts/chart/values-page.ts';
import { chartFolder } from '../planes/helm.ts';
import { deployment, differences, idOf, rendered, schedulerFile, theObject } from './rendered-chart.ts';
import type { ChartObject, RenderOptions } from './rendered-chart.ts';
import { rightsOf } from './right.ts';
import type { RoleObject } from './right.ts';
import { notRendered, valueEffects } from './value-effects.ts';

function nested(path: string, value: unknown): object {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;
}

function merged(a: unknown, b: unknown): object {
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap(a) || !isMap(b)) return b as object;
  return Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [
      key,
      key in a && key in b ? merged(a[key], b[key]) : (b[key] ?? a[key]),
    ]),
  );
}

test('CH2 every value has an entry in valueEffects', async () => {
  const sections = readValues(await readFile(join(chartFolder, 'values.yaml'), 'utf8'));
  const paths = sections.flatMap(({ values }) => values.map(({ path }) => path));
  expect([...Object.keys(valueEffects), ...notRendered].sort()).toEqual([...paths].sort());
});

describe('CH2 a value changes only what it names', () => {
  // Many values share few base values.
  const bases = new Map<string, Promise<readonly ChartObject[]>>();
  const baseOf = (beside: object): Promise<readonly ChartObject[]> => {
    const key = JSON.stringify(beside);
    bases.set(key, bases.get(key) ?? rendered(beside));
    return bases.get(key)!;
  };

  test.each(Object.entries(valueEffects))('%s', async (path, { value, changes, beside = {} }) => {
    const found = differences(await baseOf(beside), await rendered(merged(beside, nested(path, value))));
    expect(found.filter((place) => !changes.some((change) => change.test(place)))).toEqual([]);
    for (const change of changes) expect(found.join('\n')).toMatch(new RegExp(change.source, `${change.flags}m`));
  });
});

describe('The names of a release', () => {
  /** Returns the pattern of valid names of a kind. */
  const rules = (kind: string): RegExp =>
    kind === 'Service' ? /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/ : /^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$/;
  const longest = 'a'.repeat(53);

  test.each([
    ['the longest name that Helm accepts', longest, {}],
    ['a name with dots', 'gang.v1.example', {}],
    ['a name that begins with a digit', '1gang', {}],
    ['a name that contains the chart’s name', 'my-tutti-2', {}],
    ['a long custom name', 'x', { fullnameOverride: `${'b'.repeat(40)}.${'c'.repeat(100)}` }],
    ['a dash at the truncation point', 'x', { fullnameOverride: `${'b'.repeat(35)}-${'c'.repeat(100)}` }],
    ['a long name of the chart', 'x', { nameOverride: `n${'d'.repeat(39)}` }],
  ])('CH4 %s', async (_, release, values) => {
    const objects = await rendered(values, { release });
    for (const object of objects) {
      const { name } = object.metadata;
      expect(name, object.kind).toMatch(rules(object.kind));
      if (!name.includes(':') && object.kind !== 'CustomResourceDefinition')
        expect(name.length).toBeLessThanOrEqual(63);
      for (const value of Object.values(object.metadata.labels ?? {})) {
        expect(value).toMatch(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/);
      }
    }
  });

  test('CH4 two long names that share a prefix stay different', async () => {
    const [one, two] = await Promise.all(
      ['x', 'y'].map((end) => rendered({ crds: { install: false }, fullnameOverride: `${'a'.repeat(60)}${end}` })),
    );
    expect(shared(one!, two!)).toEqual([]);
  });

  test.each([
    ['in one namespace', { release: 'tutti', namespace: 'a' }, { release: 'gang', namespace: 'a' }],
    ['of the same name in two namespaces', { release: 'tutti', namespace: 'a' }, { release: 'tutti', namespace: 'b' }],
    [
      'whose names and namespaces concatenate to the same string',
      { release: 'tutti', namespace: 'a-b' },
      { release: 'tutti-a', namespace: 'b' },
    ],
  ])('CH6 two releases %s share no object', async (_, first, second) => {
    const elsewhere = { enabled: true, renderMode: 'alwaysRender', namespace: 'monitoring' };
    const metrics = {
      serviceMonitor: elsewhere,
      prometheusRule: elsewhere,
      dashboard: { enabled: true, namespace: 'monitoring' },
    };
    const [one, two] = await Promise.all([
      rendered({ metrics }, first),
      rendered({ metrics, crds: { install: false }, scheduler: { name: 'second' } }, second),
    ]);
    expect(shared(one, two)).toEqual([]);
    const selectors = [one, two].map((objects) => {
      const made = deployment(objects);
      return `${made.metadata.namespace} ${JSON.stringify(made.spec.selector.matchLabels)}`;
    });
    expect(selectors[0]).not.toBe(selectors[1]);
  });

  function shared(one: readonly ChartObject[], two: readonly ChartObject[]): readonly string[] {
    const key = (object: ChartObject): string => `${object.metadata.namespace ?? ''} ${idOf(object)}`;
    const known = new Set(one.map(key));
    return two.map(key).filter((id) => known.has(id));
  }
});

describe('The status of Kubernetes’ own PodGroups', () => {
  const served = { apiVersions: ['scheduling.k8s.io/v1beta1/PodGroup'] };
  const flags = /^--(scheduler-name=|no-native-pod-groups)/;

  /** Returns whether the controller may write it, and its flags about it. */
  async function inChart(values: object, options: RenderOptions): Promise<readonly [boolean, readonly string[]]> {
    const objects = await rendered(values, options);
    const role = theObject<RoleObject>(objects, 'ClusterRole/tutti:tutti-system:controller');
    const rights = rightsOf(role).filter(({ group }) => group === 'scheduling.k8s.io');
    expect([0, 3]).toContain(rights.length);
    const { args } = deployment(objects, 'controller').spec.template.spec.containers[0]!;
    return [rights.length > 0, args.filter((arg) => flags.test(arg))];
  }

  test.each<readonly [string, object, RenderOptions, readonly string[] | undefined]>([
    ['an API server without them', {}, {}, undefined],
    ['an API server with them', {}, served, ['tutti']],
    ['an older version of them', {}, { apiVersions: ['scheduling.k8s.io/v1alpha2/PodGroup'] }, ['tutti']],
    ['a version without them', {}, { apiVersions: ['scheduling.k8s.io/v1alpha1/Workload'] }, undefined],
    ['false', { nativePodGroups: { writeStatus: false } }, served, undefined],
    ['true', { nativePodGroups: { writeStatus: true } }, {}, ['tutti']],
    ['a name', { scheduler: { name: 'gang' } }, served, ['gang']],
    ['profiles', { config: { profiles: [{ schedulerName: 'a' }, {}] } }, served, ['a', 'default-scheduler']],
  ])('with %s', async (_, values, options, names) => {
    const podSchedulerName = 'other';
    const given = names?.map((name) => `--scheduler-name=${name}`) ?? ['--no-native-pod-groups'];
    expect(await inChart({ ...values, podSchedulerName }, options)).toEqual([names !== undefined, given]);
  });
});

describe('The scheduler’s pods are recreated', () => {
  const checksum = async (values: object): Promise<string> =>
    deployment(await rendered(values)).spec.template.metadata.annotations!['checksum/config']!;
  let before: string;
  beforeAll(async () => {
    before = await checksum({});
  });

  test.each([
    ['config', { config: { podInitialBackoffSeconds: 2 } }],
    ['scheduler.name', { scheduler: { name: 'gang' } }],
    ['plugins', { plugins: { disabled: ['NodePorts'] } }],
    ['scheduler.leaderElect', { scheduler: { leaderElect: false } }],
  ])('CH19 when %s changes', async (_, values) => {
    expect(await checksum(values)).not.toBe(before);
  });

  test('CH19 but not when other values change', async () => {
    const others = {
      commonLabels: { a: 'b' },
      image: { tag: 'x' },
      scheduler: { replicaCount: 3, podLabels: { c: 'd' } },
      controller: { workers: 9 },
      logging: { level: 'debug' },
    };
    expect(await checksum(others)).toBe(before);
  });
});

describe('The scheduler’s file', () => {
  test('keeps numbers, text and booleans as given', async () => {
    const args = {
      permitWaitingTimeSeconds: 1000000,
      a: '1.10',
      b: 'yes',
      c: 'true',
      d: true,
      e: '0x10',
      f: '1e3',
      g: '',
    };
    const file = schedulerFile(await rendered({ pluginConfig: [{ name: 'Own', args }] }));
    expect(parse(file)).toMatchObject({ profiles: [{ pluginConfig: [{ name: 'Own', args }] }] });
  });

  test('CH6 contains the name and namespace of the Lease, and the Role covers only that Lease', async () => {
    const leaderElection = { resourceName: 'one', resourceNamespace: 'elsewhere', leaseDuration: '30s' };
    const objects = await rendered({ config: { leaderElection } });
    expect(schedulerFile(objects)).toContain('leaseDuration: 30s');
    const role = theObject<{ rules: object[] }>(objects, 'Role/tutti:tutti-system:scheduler-lease');
    expect(role.metadata.namespace).toBe('elsewhere');
    expect(role.rules[1]).toMatchObject({ resourceNames: ['one'] });
    const binding = theObject<{ subjects: object[] }>(objects, 'RoleBinding/tutti:tutti-system:scheduler-lease');
    expect(binding.metadata.namespace).toBe('elsewhere');
    expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', name: 'tutti-scheduler', namespace: 'tutti-system' }]);
  });

  test('has the profile of the scheduler-plugins values', async () => {
    const file = schedulerFile(
      await rendered({
        scheduler: { name: 'scheduler-plugins-scheduler' },
        plugins: { enabled: ['Coscheduling'], disabled: ['PrioritySort'] },
        pluginConfig: [{ name: 'Coscheduling', args: { permitWaitingTimeSeconds: 10 } }],
      }),
    );
    expect(parse(file)).toMatchObject({
      profiles: [
        {
          schedulerName: 'scheduler-plugins-scheduler',
          plugins: { multiPoint: { enabled: [{ name: 'Coscheduling' }], disabled: [{ name: 'PrioritySort' }] } },
          pluginConfig: [{ name: 'Coscheduling', args: { permitWaitingTimeSeconds: 10 } }],
        },
      ],
    });
  });
});
