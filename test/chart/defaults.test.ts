import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { plainValues, withoutHelm } from '../../scripts/chart/plain-manifests.ts';
import { readConfiguration } from '../../src/config/parse-configuration.ts';
import { chartFolder, helm } from '../planes/helm.ts';
import type { HelmVersion } from '../planes/kubectl.ts';
import { deployment, idOf, objectsIn, rendered, schedulerFile, templated } from './rendered-chart.ts';
import type { ChartObject } from './rendered-chart.ts';

const versions: readonly HelmVersion[] = ['3.17', '4.1'];
const valuesFiles = (await readdir(join(chartFolder, 'ci'))).map((file) => join(chartFolder, 'ci', file));
/** Sets of values rendered in many tests: a name, and the file of the values if there is one. */
const valuesSets: readonly (readonly [string, string | undefined])[] = [
  ['its defaults', undefined],
  ...valuesFiles.map((file) => [`ci/${file.slice(file.lastIndexOf('/') + 1)}`, file] as const),
];
const valuesOf = async (file: string | undefined): Promise<object | string> =>
  file === undefined ? {} : readFile(file, 'utf8');

const sevenLabels = [
  'app.kubernetes.io/component',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/name',
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/version',
  'helm.sh/chart',
];

describe('The chart with its defaults', () => {
  let objects: readonly ChartObject[];
  beforeAll(async () => {
    objects = await rendered();
  });

  test('CH1 renders what deploy/tutti.yaml contains, which is its snapshot (CH20)', async () => {
    const made = await rendered(plainValues);
    const plain = objectsIn(await readFile(join(chartFolder, '..', '..', 'deploy', 'tutti.yaml'), 'utf8'));
    const [namespace, ...rest] = plain;
    expect(idOf(namespace!)).toBe('Namespace/tutti-system');
    expect(rest).toEqual(made.filter((object) => !isTest(object)).map(withoutHelm));
  });

  test('CH1 every object has the seven labels; selectors have three, and match the pods', () => {
    for (const object of objects) expect(object.metadata.labels, idOf(object)).toHaveProperty([sevenLabels[0]!]);
    for (const object of objects) {
      const labels = Object.keys(object.metadata.labels ?? {}).filter((key) => sevenLabels.includes(key));
      expect(labels.sort(), idOf(object)).toEqual(sevenLabels);
    }
    for (const component of ['scheduler', 'controller'] as const) {
      const { selector, template } = deployment(objects, component).spec;
      expect(Object.keys(selector.matchLabels)).toHaveLength(3);
      expect(template.metadata.labels).toMatchObject(selector.matchLabels);
    }
  });

  test('every namespaced object is in the release’s namespace, except for the bindings in kube-system', () => {
    const elsewhere = objects.filter(({ metadata }) => (metadata.namespace ?? 'tutti-system') !== 'tutti-system');
    expect(elsewhere.map((object) => `${object.metadata.namespace} ${idOf(object)}`)).toEqual([
      'kube-system RoleBinding/tutti:tutti-system:controller-auth-reader',
      'kube-system RoleBinding/tutti:tutti-system:scheduler-auth-reader',
    ]);
  });

  test('the program accepts the scheduler’s file without warnings', () => {
    const { configuration, problems, warnings } = readConfiguration('scheduler.yaml', schedulerFile(objects));
    expect(problems).toEqual([]);
    expect(warnings.filter(({ path }) => path[0] !== 'leaderElection')).toEqual([]);
    expect(configuration.profiles.map(({ schedulerName }) => schedulerName)).toEqual(['tutti']);
    expect(configuration.leaderElection).toMatchObject({
      leaderElect: true,
      resourceName: 'tutti-scheduler',
      resourceNamespace: 'tutti-system',
    });
  });

  test('Tutti’s own pods use another scheduler', () => {
    expect(deployment(objects).spec.template.spec.schedulerName).toBe('default-scheduler');
  });

  test('CH15 there is a PodDisruptionBudget for two replicas, but not for one', async () => {
    const budgets = (made: readonly ChartObject[]): readonly string[] =>
      made.map(idOf).filter((id) => id.startsWith('PodDisruptionBudget/'));
    expect(budgets(objects)).toEqual([]);
    expect(budgets(await rendered({ scheduler: { replicaCount: 2 } }))).toEqual([
      'PodDisruptionBudget/tutti-scheduler',
    ]);
    const both = { scheduler: { replicaCount: 3 }, controller: { replicaCount: 2 } };
    expect(budgets(await rendered(both))).toHaveLength(2);
  });

  test('without leader election the old pod ends before the new one starts', async () => {
    const made = await rendered({ scheduler: { leaderElect: false } });
    expect(deployment(made).spec.strategy).toEqual({ type: 'Recreate' });
    expect(deployment(objects).spec.strategy).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } });
    expect(made.map(idOf)).not.toContain('Role/tutti:tutti-system:scheduler-lease');
  });
});

describe.each(versions)('with Helm %s', (version) => {
  test('CH1 passes helm lint --strict', async () => {
    const { exitCode, stdout } = await helm(['lint', '--strict', chartFolder], { version });
    expect(stdout).toContain('0 chart(s) failed');
    expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
    expect(exitCode).toBe(0);
  });

  test.each(valuesSets)('CH3 renders and passes lint with %s', async (_, file) => {
    const values = await valuesOf(file);
    const { exitCode, stdout } = await helm(['lint', '--strict', chartFolder], { version, values });
    expect(stdout).toContain('0 chart(s) failed');
    expect(exitCode).toBe(0);
    const objects = await rendered(values, { version });
    expect(new Set(objects.map((object) => `${object.metadata.namespace} ${idOf(object)}`)).size).toBe(objects.length);
  });
});

test.each(valuesSets)('CH24 both Helm versions render the same with %s', async (_, file) => {
  const values = await valuesOf(file);
  const [older, newer] = await Promise.all(versions.map((version) => rendered(values, { version })));
  expect(newer).toEqual(older);
});

describe.each(valuesSets)('with %s', (_, file) => {
  let objects: readonly ChartObject[];
  let text: string;
  beforeAll(async () => {
    text = (await templated(await valuesOf(file))).stdout;
    objects = objectsIn(text);
  });

  test('CH17 every pod passes the restricted Pod Security standard', () => {
    const pods = objects.flatMap(podsIn);
    expect(pods.length).toBeGreaterThan(0);
    for (const pod of pods) expect(restrictedProblems(pod)).toEqual([]);
  });

  test('CH17 no rule has a wildcard, and none covers Secrets', () => {
    const rules = objects.flatMap(({ rules = [] }) => rules as Record<string, readonly string[]>[]);
    for (const rule of rules) {
      expect(JSON.stringify(rule)).not.toContain('*');
      expect(rule.resources ?? []).not.toContain('secrets');
      expect(rule.verbs).not.toEqual(expect.arrayContaining(['escalate', 'bind', 'impersonate']));
    }
  });

  test('CH21 the only hook is that of helm test, and there is no webhook and no APIService', () => {
    const hooks = objects.map(({ metadata }) => metadata.annotations?.['helm.sh/hook']);
    expect(hooks.filter((hook) => hook !== undefined && hook !== 'test')).toEqual([]);
    expect(objects.map(({ kind }) => kind).filter((kind) => /Webhook|APIService/.test(kind))).toEqual([]);
  });

  test('every YAML number in the output is also a JSON number', () => {
    for (const document of parseAllDocuments(text)) expect(JSON.stringify(document)).not.toMatch(/[0-9]e\+[0-9]/);
  });
});

function isTest({ metadata }: ChartObject): boolean {
  return metadata.annotations?.['helm.sh/hook'] === 'test';
}

interface PodSpec {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly seccompProfile?: { readonly type?: string } };
  readonly volumes?: readonly Record<string, unknown>[];
  readonly containers: readonly {
    readonly securityContext?: {
      readonly allowPrivilegeEscalation?: boolean;
      readonly privileged?: boolean;
      readonly readOnlyRootFilesystem?: boolean;
      readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
    };
    readonly ports?: readonly { readonly hostPort?: number }[];
  }[];
}

function podsIn(object: ChartObject): readonly PodSpec[] {
  if (object.kind === 'Pod') return [object.spec as PodSpec];
  return object.kind === 'Deployment' ? [(object.spec as { template: { spec: PodSpec } }).template.spec] : [];
}

/** Returns violations of Kubernetes' restricted standard, and of a read-only file system. */
function restrictedProblems(pod: PodSpec): readonly string[] {
  const problems: string[] = [];
  const must = (isMet: boolean, problem: string): void => void (isMet || problems.push(problem));
  must(!(pod.hostNetwork ?? pod.hostPID ?? pod.hostIPC ?? false), 'shares namespaces of the host');
  must(pod.securityContext?.runAsNonRoot === true, 'may run as root');
  must(pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile');
  const kinds = [
    'configMap',
    'csi',
    'downwardAPI',
    'emptyDir',
    'ephemeral',
    'persistentVolumeClaim',
    'projected',
    'secret',
  ];
  for (const volume of pod.volumes ?? []) {
    must(
      Object.keys(volume).every((key) => key === 'name' || kinds.includes(key)),
      `has the volume ${JSON.stringify(volume)}`,
    );
  }
  for (const { securityContext, ports = [] } of pod.containers) {
    must(securityContext?.allowPrivilegeEscalation === false, 'may gain privileges');
    must(securityContext?.privileged !== true, 'is privileged');
    must(securityContext?.readOnlyRootFilesystem === true, 'may write to its file system');
    must(securityContext?.capabilities?.drop?.includes('ALL') === true, 'does not drop all capabilities');
    must(securityContext?.capabilities?.add === undefined, 'adds capabilities');
    must(
      ports.every(({ hostPort }) => hostPort === undefined),
      'has a port of the host',
    );
  }
  return problems;
}
