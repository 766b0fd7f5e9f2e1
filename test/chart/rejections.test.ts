import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { AnySchema } from 'ajv';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { chartFolder } from '../planes/helm.ts';
import type { HelmVersion } from '../planes/kubectl.ts';
import { deployment, idOf, objectsIn, rejection, rendered, schedulerFile, templated } from './rendered-chart.ts';

const versions: readonly HelmVersion[] = ['3.17', '4.1'];
const defaults = parse(await readFile(join(chartFolder, 'values.yaml'), 'utf8')) as Readonly<Record<string, unknown>>;
const schema = JSON.parse(await readFile(join(chartFolder, 'values.schema.json'), 'utf8')) as AnySchema;

describe.each(versions)('Helm %s rejects', (version) => {
  test.each<[string, object, string]>([
    [
      'CH10 two schedulers without election',
      { scheduler: { replicaCount: 2, leaderElect: false } },
      'scheduler.replicaCount is 2 with scheduler.leaderElect=false, so all replicas would be active: set scheduler.leaderElect=true or scheduler.replicaCount=1',
    ],
    [
      'CH10 two controllers without election',
      { controller: { replicaCount: 3, leaderElect: false } },
      'controller.replicaCount is 3 with controller.leaderElect=false',
    ],
    [
      'CH13 both monitors',
      { metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true, credentials: { name: 'x' } } } },
      'metrics.serviceMonitor.enabled and metrics.podMonitor.enabled are both true, so Prometheus would scrape every process twice: choose one',
    ],
    [
      'a ServiceMonitor without Services',
      { metrics: { serviceMonitor: { enabled: true } }, service: { enabled: false } },
      'metrics.serviceMonitor.enabled needs service.enabled=true',
    ],
    [
      'a PodMonitor without credentials',
      { metrics: { podMonitor: { enabled: true } } },
      'metrics.podMonitor.enabled needs metrics.podMonitor.credentials.name',
    ],
    [
      'CH14 pods that would wait for themselves',
      { podSchedulerName: 'tutti' },
      'podSchedulerName is "tutti", which is one of this release\'s scheduler names (tutti), so Tutti\'s pods would wait for themselves',
    ],
    [
      'CH14 also when Tutti replaces the default scheduler',
      { config: { profiles: [{ schedulerName: 'a' }, {}] } },
      'podSchedulerName is "default-scheduler", which is one of this release\'s scheduler names (a, default-scheduler)',
    ],
    [
      'two profiles with the same name',
      { config: { profiles: [{ schedulerName: 'a' }, { schedulerName: 'a' }] } },
      'config.profiles has 2 profiles with the schedulerName "a": each needs its own',
    ],
    [
      'a profile given twice',
      { config: { profiles: [{ schedulerName: 'a' }] }, pluginConfig: [{ name: 'b' }], scheduler: { name: 'c' } },
      'pluginConfig and config.profiles are both set: move the value into a profile',
    ],
    [
      'reservations beside profiles',
      { config: { profiles: [{ schedulerName: 'a' }] }, reservations: { enabled: true } },
      'reservations.enabled and config.profiles are both set: move the value into a profile',
    ],
    [
      'draining before reserving',
      { reservations: { enabled: true, drainAfterSeconds: 59 } },
      'reservations.drainAfterSeconds is 59, but must be at least reservations.reserveAfterSeconds (60)',
    ],
    [
      'conflicting values for leader election',
      { config: { leaderElection: { leaderElect: false } } },
      'config.leaderElection.leaderElect is false and scheduler.leaderElect is true, but they mean the same: set only scheduler.leaderElect',
    ],
    [
      'an extender with a verb that the program rejects',
      { config: { extenders: [{ urlPrefix: 'http://x', preemptVerb: 'p' }] } },
      'config.extenders[0].preemptVerb is not supported',
    ],
    [
      'a ServiceAccount without a name that is not created',
      { controller: { serviceAccount: { create: false } } },
      'controller.serviceAccount.create is false and controller.serviceAccount.name is empty',
    ],
    [
      'one ServiceAccount for both components',
      { controller: { serviceAccount: { name: 'a' } }, scheduler: { serviceAccount: { name: 'a' } } },
      'scheduler.serviceAccount.name and controller.serviceAccount.name are the same',
    ],
    [
      'an unknown alert',
      { metrics: { prometheusRule: { disabled: ['TutiDown'] } } },
      'metrics.prometheusRule names the alert "TutiDown", which does not exist: the alerts are TuttiDown, ',
    ],
    [
      'CH16 a ServiceMonitor whose kind the cluster does not have, on request',
      { metrics: { serviceMonitor: { enabled: true, renderMode: 'failIfMissing' } } },
      'metrics.serviceMonitor.enabled is true, but the cluster does not have the kind ServiceMonitor of monitoring.coreos.com/v1: install the Prometheus operator, or set metrics.serviceMonitor.renderMode=skipIfMissing',
    ],
  ])('%s', async (_, values, text) => {
    expect(await rejection(values, { version })).toContain(text);
  });

  test('several problems at once', async () => {
    const text = await rejection(
      { podSchedulerName: 'tutti', scheduler: { replicaCount: 2, leaderElect: false } },
      { version },
    );
    expect(text).toContain('podSchedulerName is');
    expect(text).toContain('scheduler.replicaCount is 2');
  });

  test.each<[string, object | string, readonly string[]]>([
    ['CH11 an unknown key', { schedulr: {} }, ['schedulr']],
    ['CH11 an unknown nested key', { scheduler: { replicas: 2 } }, ['scheduler', 'replicas']],
    ['the image of scheduler-plugins', { scheduler: { image: 'a:b' } }, ['scheduler', 'image']],
    ['a number for a tag', 'image: {tag: 1.10}', ['tag']],
    ['text for a number', { scheduler: { replicaCount: '2' } }, ['replicaCount']],
    ['text for a boolean', { crds: { keep: 'false' } }, ['keep']],
    ['more replicas than are useful', { scheduler: { replicaCount: 4 } }, ['replicaCount']],
    ['zero replicas', { scheduler: { replicaCount: 0 } }, ['replicaCount']],
    ['null for a required value', 'scheduler: {replicaCount: null}', ['replicaCount']],
    ['null for a section', 'scheduler: null', ['scheduler']],
    ['a tag in the repository', { image: { repository: 'tutti:1' } }, ['repository']],
    ['an invalid digest', { image: { digest: 'sha256:1' } }, ['digest']],
    ['an invalid label', { commonLabels: { a: 'b c' } }, ['commonLabels']],
    ['an invalid argument', { scheduler: { extraArgs: ['scheduler'] } }, ['extraArgs']],
    ['an invalid label key', { reservations: { poolLabel: 'a b' } }, ['reservations', 'poolLabel']],
    ['CH23 an unknown field of the configuration', { config: { profile: [] } }, ['config', 'profile']],
    ['CH23 a profile with an invalid structure', { config: { profiles: [{ plugins: { filter: [] } }] } }, ['filter']],
    ['CH23 an invalid duration', { config: { leaderElection: { leaseDuration: '15' } } }, ['leaseDuration']],
    ['CH23 another version', { config: { apiVersion: 'kubescheduler.config.k8s.io/v1beta3' } }, ['apiVersion']],
    ['CH23 an extender without an address', { config: { extenders: [{}] } }, ['urlPrefix']],
    ['CH23 an extender with an invalid address', { config: { extenders: [{ urlPrefix: 'ftp://x' }] } }, ['urlPrefix']],
  ])('%s, by name', async (_, values, words) => {
    const text = await rejection(values, { version });
    expect(text).toMatch(/schema|values don't meet/);
    for (const word of words) expect(text).toContain(word);
  });

  test('CH12 but accepts what Helm and parent charts add to the values', async () => {
    const values = { enabled: true, global: { storageClass: 'x', imageRegistry: 'r' }, config: {} };
    expect(deployment(await rendered(values, { version })).spec.template.spec.containers[0]!.image).toMatch(/^r\//);
  });
});

describe('CH16 a kind that the cluster does not have', () => {
  const values = {
    metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
  };
  const monitors = async (apiVersions: readonly string[]): Promise<readonly string[]> =>
    (await rendered(values, { apiVersions }))
      .map(idOf)
      .filter((id) => /^(ServiceMonitor|PrometheusRule)/.test(id))
      .sort();

  test('is left out', async () => {
    expect(await monitors([])).toEqual([]);
  });

  test('is rendered once the cluster has it', async () => {
    expect(await monitors(['monitoring.coreos.com/v1/ServiceMonitor'])).toEqual([
      'ServiceMonitor/tutti-controller',
      'ServiceMonitor/tutti-scheduler',
    ]);
    expect(await monitors(['monitoring.coreos.com/v1/PrometheusRule'])).toEqual(['PrometheusRule/tutti']);
  });
});

type Path = readonly (string | number)[];

/** Returns every path in the values. */
function places(value: unknown, path: Path = []): readonly Path[] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, field]) => places(field, [...path, key]))
      : [];
  return path.length === 0 ? inner : [path, ...inner];
}

function withAt(root: unknown, path: Path, value: unknown): unknown {
  if (path.length === 0) return value;
  const [key, ...rest] = path;
  const copy = structuredClone(root) as Record<string | number, unknown>;
  copy[key!] = withAt(copy[key!], rest, value);
  return copy;
}

describe('With arbitrary values', () => {
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  const wrong: Readonly<Record<string, unknown>> = {
    text: 'a b',
    number: -1.5,
    truth: true,
    list: [[]],
    map: { 'a b': [] },
  };

  test('the schema is valid and accepts the defaults', () => {
    expect(validate(defaults)).toBe(true);
  });

  test('a value of a wrong type is rejected with its path, or rendered completely', async () => {
    const accepted: unknown[] = [];
    for (const path of places(defaults)) {
      for (const [kind, value] of Object.entries(wrong)) {
        const values = withAt(defaults, path, value);
        if (validate(values)) accepted.push([`${path.join('.')} is ${kind}`, values]);
        else {
          const pointers = (validate.errors ?? []).map(({ instancePath }) => instancePath);
          const at = path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
          expect(
            pointers.some((pointer) => pointer.startsWith(at)),
            `${path.join('.')} is ${kind}`,
          ).toBe(true);
        }
      }
    }
    // Values that the schema accepts, because they are valid or only the API server can tell, must not break a template.
    for (const [what, values] of accepted as [string, object][]) {
      const { exitCode, stdout, stderr } = await templated(values);
      if (exitCode === 0) objectsIn(stdout);
      else expect(stderr, what).toMatch(/\n {2}- /);
    }
  });

  test.each(versions)('null, with which Helm %s removes a value, is rejected by name, or rendered', async (version) => {
    for (const path of places(defaults).filter((path) =>
      path.every((key) => typeof key === 'string' && !/^\d/.test(key)),
    )) {
      const values = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), null) as object;
      const { exitCode, stdout, stderr } = await templated(values, { version });
      if (exitCode === 0) objectsIn(stdout);
      else expect(stderr, path.join('.')).toMatch(new RegExp(`schema[^]*${path.at(-1)}`));
    }
  });

  /** Text that could become a second field, a second document, a template, an anchor, a comment, a tag, or another type. */
  const nasty = [
    'a\nb: c',
    'a\n---\nkind: Secret',
    '{{ .Release.Name }}',
    '{{ fail "no" }}',
    '&a',
    '*a',
    '# a',
    'a: b # c',
    '!!binary a',
    '"',
    "'",
    '\\',
    '\t',
    '[a',
    '{a',
    '- a',
    '| a',
    '> a',
    '%a',
    '@a',
    '`a`',
    'yes',
    'null',
    '~',
    '1e3',
    '0x1',
    '1.10',
    '2026-01-01',
    'é\u00a0',
    '',
    ' ',
  ];

  /** Returns valid values with the text in every free-text field; the test reads the text back. */
  const withText = (text: string): object => ({
    scheduler: {
      podAnnotations: { a: text },
      extraEnv: [{ name: 'A', value: text }],
      extraArgs: [`--x=${text}`],
      serviceAccount: { annotations: { a: text } },
      extraVolumes: [{ name: 'v', hostPath: { path: text } }],
    },
    service: { annotations: { a: text } },
    pluginConfig: [{ name: `P${text}`, args: { a: text } }],
    metrics: {
      prometheusRule: {
        enabled: true,
        renderMode: 'alwaysRender',
        overrides: { TuttiDown: { annotations: { summary: text }, labels: { a: text } } },
      },
      dashboard: { enabled: true, annotations: { a: text } },
    },
    extraObjects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: 'b' } }],
  });

  test.each(nasty)('text stays text: %j', async (text) => {
    const [plain, objects] = await Promise.all([rendered(withText('plain')), rendered(withText(text))]);
    expect(objects.map(idOf)).toEqual(plain.map(idOf));
    const { template } = deployment(objects).spec;
    expect(template.metadata.annotations!.a).toBe(text);
    expect(template.spec.containers[0]).toMatchObject({ env: [{ name: 'A', value: text }] });
    expect(template.spec.containers[0]!.args).toContain(`--x=${text}`);
    expect(template.spec.volumes).toContainEqual({ name: 'v', hostPath: { path: text } });
    expect(parse(schedulerFile(objects))).toMatchObject({
      profiles: [{ pluginConfig: [{ name: `P${text}`, args: { a: text } }] }],
    });
    const as = (id: string): unknown => objects.find((object) => idOf(object) === id);
    expect(as('Service/tutti-scheduler')).toMatchObject({ metadata: { annotations: { a: text } } });
    expect(as('ServiceAccount/tutti-scheduler')).toMatchObject({ metadata: { annotations: { a: text } } });
    expect(as('ConfigMap/tutti-dashboard')).toMatchObject({ metadata: { annotations: { a: text } } });
    const { spec } = as('PrometheusRule/tutti') as { spec: { groups: { rules: object[] }[] } };
    expect(spec.groups[0]!.rules[0]).toMatchObject({ annotations: { summary: text }, labels: { a: text } });
  });
});
