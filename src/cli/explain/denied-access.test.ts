import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Explanation } from '../../api/explain/explanation.ts';
import type { DrainCheck, PlanResult } from '../../api/explain/lists.ts';
import { listedKinds, listedPath } from '../../api/listed-object.ts';
import { podGroupPath } from '../../api/pod-group.ts';
import { localKubeconfig } from '../../client/local-kubeconfig.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { expectValidAnswer } from '../../../test/expect/valid-answer.ts';
import { CommandInProcess } from '../testing/command-in-process.ts';
import { ServedLists } from './testing/served-lists.ts';

const build = new Builders();
let folder: string;
let api: ServedLists;

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function tutti(line: string, kubeconfig = join(folder, 'kubeconfig')): Promise<Ended> {
  const command = new CommandInProcess([...line.split(' '), '--kubeconfig', kubeconfig]);
  const exitCode = await command.ended;
  return { exitCode, stdout: command.stdout, stderr: command.stderr };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-denied-'));
  api = await ServedLists.start();
  await writeFile(join(folder, 'kubeconfig'), localKubeconfig(api.url));
  const manifests: Readonly<Record<string, readonly object[]>> = {
    'red.yaml': [podGroup('red', 2), pod('red-0', 'red'), pod('red-1', 'red')],
    'few.yaml': [podGroup('few', 2), pod('few-0', 'few')],
    'huge.yaml': [pod('huge', undefined, '99')],
    'job.yaml': [{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'x' } }],
  };
  for (const [name, objects] of Object.entries(manifests))
    await writeFile(join(folder, name), objects.map((object) => JSON.stringify(object)).join('\n---\n'));
});

afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  api.lists.clear();
  api.deny = () => undefined;
  const waiting = ['a-0', 'a-1'].map((name) => build.pod({ name, group: 'a', cpu: 9, schedulerName: 'tutti' }));
  const running = ['b-0', 'b-1'].map((name) =>
    build.pod({ name, group: 'b', cpu: 1, schedulerName: 'tutti', nodeName: 'n1', job: 'b' }),
  );
  const pods = [...waiting, ...running, build.pod({ name: 'own', cpu: 1, schedulerName: 'tutti', nodeName: 'n2' })];
  const groups = [build.podGroup({ name: 'a', minMember: 2 }), build.podGroup({ name: 'b', minMember: 2 })];
  for (const kind of listedKinds) api.lists.set(listedPath(kind), []);
  for (const place of ['', '/namespaces/default']) {
    api.lists.set(`/api/v1${place}/pods`, pods);
    api.lists.set(`/apis/scheduling.x-k8s.io/v1alpha1${place}/podgroups`, groups);
    api.lists.set(`/apis/policy/v1${place}/poddisruptionbudgets`, []);
  }
  api.lists.set('/apis/scheduling.k8s.io/v1/priorityclasses', []);
  api.lists.set('/api/v1/configmaps', []);
  api.lists.set(
    '/api/v1/nodes',
    ['n1', 'n2'].map((name) => build.node({ name, cpu: 4 })),
  );
});

function podGroup(name: string, minMember: number): object {
  return { apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup', metadata: { name }, spec: { minMember } };
}

function pod(name: string, group?: string, cpu = '1'): object {
  const labels = group === undefined ? {} : { 'scheduling.x-k8s.io/pod-group': group };
  const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu } } }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec: { schedulerName: 'tutti', containers } };
}

/** Denies a list as RBAC does. */
function forbid(...paths: readonly string[]): void {
  api.deny = (_, path) => {
    if (!paths.includes(path)) return undefined;
    const [, root, ...rest] = path.split('/');
    const group = root === 'apis' ? rest[0]! : '';
    const resource = path.split('/').at(-1)!;
    const title = group === '' ? resource : `${resource}.${group}`;
    const scope = path.includes('/namespaces/') ? 'in the namespace "default"' : 'at the cluster scope';
    return [
      403,
      `${title} is forbidden: User "jane" cannot list resource "${resource}" in API group "${group}" ${scope}`,
    ];
  };
}

const planRed = (): string => `plan -f ${join(folder, 'red.yaml')}`;

describe('KP8: the API server', () => {
  it.each(['status', 'why a', 'queue', 'drain-check n1'])(
    'that does not know the credentials, or cannot be reached, ends %s with one sentence',
    async (line) => {
      api.deny = () => [401, 'Unauthorized'];
      const denied = await tutti(line);
      expect([denied.exitCode, denied.stdout]).toEqual([1, '']);
      expect(denied.stderr).toMatch(/^tutti: .*Unauthorized\. The server does not recognize these credentials.*\n$/);
      const nowhere = join(folder, 'nowhere');
      await writeFile(nowhere, localKubeconfig('http://127.0.0.1:1'));
      const down = await tutti(line, nowhere);
      expect([down.exitCode, down.stdout]).toEqual([1, '']);
      expect(down.stderr).toMatch(/^tutti: .*127\.0\.0\.1:1.*\n$/);
      // The server does not speak TLS.
      await writeFile(nowhere, localKubeconfig(api.url.replace('http:', 'https:')));
      const plain = await tutti(line, nowhere);
      expect([plain.exitCode, plain.stdout]).toEqual([1, '']);
      expect(plain.stderr).toMatch(/^tutti: .*\n$/);
    },
  );

  it.each(
    // Only a profile with reservations reads Jobs.
    [podGroupPath(), ...listedKinds.filter((kind) => kind !== 'Job').map((kind) => listedPath(kind))],
  )('that denies the list of %s is quoted with the role that allows it, beside the rest', async (path) => {
    forbid(path);
    const { exitCode, stdout, stderr } = await tutti('drain-check n2 -o json');
    const check = JSON.parse(stdout) as DrainCheck;
    expectValidAnswer(check);
    expect(exitCode).toBe(0);
    expect(check.errors).toHaveLength(1);
    const resource = path.split('/').at(-1)!;
    expect(stderr).toMatch(
      new RegExp(
        `^${resource}\\S*: .*User "jane" cannot list resource "${resource}".*; the chart's ClusterRole "explain" allows it\n$`,
      ),
    );
  });

  it('that is none ends a command with one sentence', async () => {
    api.lists.set('/api/v1/pods', 'sign in' as unknown as []);
    const { exitCode, stdout, stderr } = await tutti('drain-check n1');
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'tutti: GET /api/v1/pods returned something that is not a list; check that the kubeconfig names an API server\n',
    );
  });

  it.each(['status', 'why a', 'queue'])(
    'that drops a list before its last page is asked again by %s, and in the end for nothing',
    async (line) => {
      let [drops, calls] = [1, 0];
      api.deny = (_, path) => (path.endsWith('/pods') && calls++ < drops ? [410, 'too old'] : undefined);
      expect(await tutti(line)).toMatchObject({ exitCode: 0, stderr: '' });
      [drops, calls] = [Infinity, 0];
      const { exitCode, stdout, stderr } = await tutti(line);
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^tutti: GET \S+\/pods\?limit=500 returned 410: too old\n$/);
    },
  );

  it.each(['/api/v1/nodes', '/api/v1/pods'])('that denies the list of %s leaves no queue', async (path) => {
    forbid(path);
    const { exitCode, stdout, stderr } = await tutti('queue');
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^tutti: .*user "jane" may not list .*; the chart's ClusterRole "explain" allows it\. .*\n$/,
    );
  });
});

describe('WI15: a user who sees one namespace', () => {
  const cluster = ['/api/v1/nodes', '/api/v1/pods', podGroupPath()];

  it('gets the conditions from why, and learns what would be needed', async () => {
    forbid(...cluster);
    const { exitCode, stdout, stderr } = await tutti('why a -o json');
    const explanation = JSON.parse(stdout) as Explanation;
    expectValidAnswer(explanation);
    expect(explanation).toMatchObject({
      basis: { source: 'conditions', unknowns: expect.arrayContaining(['hiddenNodes', 'hiddenPods']) as unknown },
      state: 'Waiting',
    });
    expect(explanation).not.toHaveProperty('fitsNow');
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^Only the conditions of the objects are known: user "jane" may not list .*"explain".*\n$/);
  });

  it('never gets from plan that something fits', async () => {
    forbid(...cluster);
    const { exitCode, stdout, stderr } = await tutti(`${planRed()} -o json --local`);
    const result = JSON.parse(stdout) as PlanResult;
    expectValidAnswer(result);
    expect(result.items).toEqual([
      { subject: expect.objectContaining({ name: 'red' }) as unknown, members: 2, minMember: 2, assignments: [] },
    ]);
    expect(result.basis.unknowns).toEqual(expect.arrayContaining(['hiddenNodes', 'hiddenPods']));
    expect(result.basis).not.toHaveProperty('version');
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^Whether anything would start now is unknown: user "jane" may not list /m);
    const text = await tutti(`${planRed()} --local`);
    expect(text.stdout).toContain('group default/red: unknown whether it would start now; 2 members, 2 needed\n');
    expect(text.stdout).not.toContain(': would start now');
  });

  it('gets from plan that members are missing, which needs no nodes', async () => {
    forbid(...cluster);
    const { exitCode, stdout } = await tutti(`plan -f ${join(folder, 'few.yaml')} -o json --local`);
    expect((JSON.parse(stdout) as PlanResult).items).toMatchObject([
      { fits: false, explanation: { waitsFor: 'members' } },
    ]);
    expect(exitCode).toBe(5);
  });

  it('cannot compare the version of the cluster', async () => {
    forbid(...cluster);
    const { exitCode, stdout, stderr } = await tutti(`${planRed()} --local --if-version abc`);
    expect([exitCode, stdout]).toEqual([5, '']);
    expect(stderr).toMatch(/^The version of the cluster is unknown: user "jane" may not list /);
  });

  it('gets no claim about objects that it may not list', async () => {
    const own = ['/api/v1/namespaces/default/pods', podGroupPath('default')];
    forbid(...cluster, ...own);
    const why = await tutti('why a');
    expect([why.exitCode, why.stdout]).toEqual([1, '']);
    expect(why.stderr).toMatch(
      /^tutti: nothing named a can be seen in the namespace default: .*cannot list resource "pod.*\n$/,
    );
    const drain = await tutti('drain-check n1');
    expect([drain.exitCode, drain.stdout]).toEqual([1, '']);
    expect(drain.stderr).toMatch(/^tutti: user "jane" may not list .*\n$/);
  });

  it('gets from drain-check which groups have members on the nodes, but not whether they fit elsewhere', async () => {
    forbid(...cluster);
    const { exitCode, stdout, stderr } = await tutti('drain-check n1 -o json');
    const check = JSON.parse(stdout) as DrainCheck;
    expectValidAnswer(check);
    expect(check).toMatchObject({
      basis: { unknowns: expect.arrayContaining(['hiddenNodes', 'hiddenPods']) as unknown },
      items: [{ subject: { name: 'b' }, here: 2, after: 0, minMember: 2, assignments: [] }],
      lost: [],
    });
    expect(check.items[0]).not.toHaveProperty('outcome');
    expect(check.items[0]).not.toHaveProperty('fit');
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^Only the pods of namespace default are known, and no nodes: user "jane" may not list /);
    const table = await tutti('drain-check n1');
    expect(table.stdout).toMatch(/^default\/b +2 +0\/2 +- +unknown$/m);
    expect((await tutti('drain-check n2')).stdout).toContain('Pod default/own has no controller and would be lost.\n');
  });
});

describe('WI16: what is not as usual', () => {
  it('is a group whose CRD does not exist: its pods say so', async () => {
    for (const place of ['', '/namespaces/default'])
      api.lists.delete(`/apis/scheduling.x-k8s.io/v1alpha1${place}/podgroups`);
    const { exitCode, stdout } = await tutti('why a -o json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'Waiting', waitsFor: 'members', gang: { existing: 2 } });
    const status = await tutti('status');
    expect(status.stderr).toBe(
      'podgroups.scheduling.x-k8s.io: the API server does not serve PodGroups of scheduling.x-k8s.io: apply crds/, or install the chart\n',
    );
  });

  it('is a group that has finished', async () => {
    const ended = ['c-0', 'c-1'].map((name) =>
      build.pod({ name, group: 'c', cpu: 1, schedulerName: 'tutti', nodeName: 'n1', phase: 'Succeeded' }),
    );
    const group = build.podGroup({ name: 'c', minMember: 2 });
    for (const place of ['', '/namespaces/default']) {
      api.lists.set(`/api/v1${place}/pods`, ended);
      api.lists.set(`/apis/scheduling.x-k8s.io/v1alpha1${place}/podgroups`, [group]);
    }
    for (const source of ['api', 'conditions']) {
      const { exitCode, stdout } = await tutti(`why c --source ${source} -o json`);
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout), source).toMatchObject({ state: 'Finished', whatHelps: [] });
    }
  });

  it('is a pod that another scheduler decides about, or that is gone', async () => {
    const other = build.pod({ name: 'other', cpu: 1, schedulerName: 'someone' });
    for (const place of ['', '/namespaces/default']) api.lists.set(`/api/v1${place}/pods`, [other]);
    const { exitCode, stderr } = await tutti('why pod/other');
    expect([exitCode, stderr]).toEqual([
      0,
      'scheduler: another scheduler decides: spec.schedulerName is someone, not tutti\n',
    ]);
    expect((await tutti('why pod/a-0')).stderr).toBe(
      'tutti: there is no pod named a-0 in the namespace default; choose another one with --namespace\n',
    );
  });
});

describe('KP11: exit codes', () => {
  it.each([
    ['status', 0],
    ['status a', 0],
    ['status nope', 1],
    ['status --output what', 2],
    ['why a', 0],
    ['why nope', 1],
    ['why a b', 2],
    ['why a/b/c', 2],
    ['plan -f red.yaml --local', 0],
    ['plan -f huge.yaml --local', 5],
    ['plan -f red.yaml --local --if-version old', 5],
    ['plan -f job.yaml', 2],
    ['plan -f missing.yaml', 2],
    ['plan', 2],
    ['queue', 0],
    ['queue --source scheduler', 1],
    ['drain-check n2', 0],
    ['drain-check n1', 5],
    ['drain-check nope', 1],
    ['drain-check', 2],
  ] as const)('tutti %s: %i', async (line, exitCode) => {
    const placed = line.replace(/\w+\.yaml/, (file) => join(folder, file));
    const ended = await tutti(placed);
    expect(ended.exitCode, ended.stderr).toBe(exitCode);
    if (exitCode === 1) expect(ended.stderr).toMatch(/^tutti: |not found$/m);
    expect(ended.stderr).not.toMatch(/please report|^ +at /m);
  });
});
