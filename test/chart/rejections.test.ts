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
      'CH14 in place of the default scheduler, too',
      { config: { profiles: [{ schedulerName: 'a' }, {}] } },
      'podSchedulerName is "default-scheduler", which is one of this release\'s scheduler names (a, default-scheduler)',
    ],
    [
      'two profiles of one name',
      { config: { profiles: [{ schedulerName: 'a' }, { schedulerName: 'a' }] } },
      'config.profiles has 2 profiles with the schedulerName "a": each needs its own',
    ],
    [
      'a profile said twice',
      { config: { profiles: [{ schedulerName: 'a' }] }, pluginConfig: [{ name: 'b' }], scheduler: { name: 'c' } },
      'pluginConfig and config.profiles are both set: move the value into a profile',
    ],
    [
      'leader election said twice, and differently',
      { config: { leaderElection: { leaderElect: false } } },
      'config.leaderElection.leaderElect is false and scheduler.leaderElect is true, but they mean the same: set only scheduler.leaderElect',
    ],
    [
      'an extender with a verb that the program rejects',
      { config: { extenders: [{ urlPrefix: 'http://x', preemptVerb: 'p' }] } },
      'config.extenders[0].preemptVerb is not supported',
    ],
    [
      'a nameless ServiceAccount that is not made',
      { controller: { serviceAccount: { create: false } } },
      'controller.serviceAccount.create is false and controller.serviceAccount.name is empty',
    ],
    [
      'one ServiceAccount for both',
      { controller: { serviceAccount: { name: 'a' } }, scheduler: { serviceAccount: { name: 'a' } } },
      'scheduler.serviceAccount.name and controller.serviceAccount.name are the same',
    ],
    [
      'an alert that there is not',
      { metrics: { prometheusRule: { disabled: ['TutiDown'] } } },
      'metrics.prometheusRule names the alert "TutiDown", which does not exist: the alerts are TuttiDown, ',
    ],
    [
      'CH16 a ServiceMonitor that the cluster does not know, if asked to',
      { metrics: { serviceMonitor: { enabled: true, renderMode: 'failIfMissing' } } },
      'metrics.serviceMonitor.enabled is true, but the cluster does not have the kind ServiceMonitor of monitoring.coreos.com/v1: install the Prometheus operator, or set metrics.serviceMonitor.renderMode=skipIfMissing',
    ],
  ])('%s', async (_, values, text) => {
    expect(await rejection(values, { version })).toContain(text);
  });

  test('all of them at once', async () => {
    const text = await rejection(
      { podSchedulerName: 'tutti', scheduler: { replicaCount: 2, leaderElect: false } },
      { version },
    );
    expect(text).toContain('podSchedulerName is');
    expect(text).toContain('scheduler.replicaCount is 2');
  });

  test.each<[string, object | string, readonly string[]]>([
    ['CH11 an unknown key', { schedulr: {} }, ['schedulr']],
    ['CH11 an unknown key further in', { scheduler: { replicas: 2 } }, ['scheduler', 'replicas']],
    ['scheduler-plugins’ image', { scheduler: { image: 'a:b' } }, ['scheduler', 'image']],
    ['a number for a tag', 'image: {tag: 1.10}', ['tag']],
    ['text for a number', { scheduler: { replicaCount: '2' } }, ['replicaCount']],
    ['text for truth', { crds: { keep: 'false' } }, ['keep']],
    ['more replicas than are of use', { scheduler: { replicaCount: 4 } }, ['replicaCount']],
    ['no replica', { scheduler: { replicaCount: 0 } }, ['replicaCount']],
    ['null for what must be there', 'scheduler: {replicaCount: null}', ['replicaCount']],
    ['null for a part', 'scheduler: null', ['scheduler']],
    ['a tag in the repository', { image: { repository: 'tutti:1' } }, ['repository']],
    ['a digest that is none', { image: { digest: 'sha256:1' } }, ['digest']],
    ['a label that is none', { commonLabels: { a: 'b c' } }, ['commonLabels']],
    ['an argument that is none', { scheduler: { extraArgs: ['scheduler'] } }, ['extraArgs']],
    ['CH23 an unknown field of the configuration', { config: { profile: [] } }, ['config', 'profile']],
    ['CH23 a profile of a wrong form', { config: { profiles: [{ plugins: { filter: [] } }] } }, ['filter']],
    ['CH23 a duration that is none', { config: { leaderElection: { leaseDuration: '15' } } }, ['leaseDuration']],
    ['CH23 another version', { config: { apiVersion: 'kubescheduler.config.k8s.io/v1beta3' } }, ['apiVersion']],
    ['CH23 an extender without an address', { config: { extenders: [{}] } }, ['urlPrefix']],
    ['CH23 an extender at a wrong address', { config: { extenders: [{ urlPrefix: 'ftp://x' }] } }, ['urlPrefix']],
  ])('%s, by name', async (_, values, words) => {
    const text = await rejection(values, { version });
    expect(text).toMatch(/schema|values don't meet/);
    for (const word of words) expect(text).toContain(word);
  });

  test('CH12 but not what Helm and parent charts put into values', async () => {
    const values = { enabled: true, global: { storageClass: 'x', imageRegistry: 'r' }, config: {} };
    expect(deployment(await rendered(values, { version })).spec.template.spec.containers[0]!.image).toMatch(/^r\//);
  });
});

describe('CH16 what the cluster does not know', () => {
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

  test('is there once it knows it', async () => {
    expect(await monitors(['monitoring.coreos.com/v1/ServiceMonitor'])).toEqual([
      'ServiceMonitor/tutti-controller',
      'ServiceMonitor/tutti-scheduler',
    ]);
    expect(await monitors(['monitoring.coreos.com/v1/PrometheusRule'])).toEqual(['PrometheusRule/tutti']);
  });
});

type Path = readonly (string | number)[];

/** Every place in the values that holds something. */
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

describe('whatever the values are', () => {
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  const wrong: Readonly<Record<string, unknown>> = {
    text: 'a b',
    number: -1.5,
    truth: true,
    list: [[]],
    map: { 'a b': [] },
  };

  test('the schema is one, and takes the defaults', () => {
    expect(validate(defaults)).toBe(true);
  });

  test('a value of a wrong type is rejected where it is, or rendered whole', async () => {
    const taken: unknown[] = [];
    for (const path of places(defaults)) {
      for (const [kind, value] of Object.entries(wrong)) {
        const values = withAt(defaults, path, value);
        if (validate(values)) taken.push([`${path.join('.')} is ${kind}`, values]);
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
    // What the schema takes, because it is right or because only the API server knows, must not break a template.
    for (const [what, values] of taken as [string, object][]) {
      const { exitCode, stdout, stderr } = await templated(values);
      if (exitCode === 0) objectsIn(stdout);
      else expect(stderr, what).toMatch(/\n {2}- /);
    }
  });

  test.each(versions)(
    'null, with which Helm %s takes a value away, is rejected by name, or what it means is rendered',
    async (version) => {
      for (const path of places(defaults).filter((path) =>
        path.every((key) => typeof key === 'string' && !/^\d/.test(key)),
      )) {
        const values = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), null) as object;
        const { exitCode, stdout, stderr } = await templated(values, { version });
        if (exitCode === 0) objectsIn(stdout);
        else expect(stderr, path.join('.')).toMatch(new RegExp(`schema[^]*${path.at(-1)}`));
      }
    },
  );

  /** What would be a second field, a second document, a template, an anchor, a comment, a tag, or another type. */
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

  /** A right value that holds text, for each place that takes free text; the text comes back from there. */
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
