import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { podGroupPath } from '../../api/pod-group.ts';
import type { DrainCheck, PlanResult } from '../../api/explain/lists.ts';
import { systemClock } from '../../base/system-clock.ts';
import { HttpTransport } from '../../client/http/http-transport.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { loadKubeconfig } from '../../client/kubeconfig.ts';
import { createPlayground } from '../../compose/create-playground.ts';
import type { Playground } from '../../compose/create-playground.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { freshHome } from '../testing/fresh-home.ts';

const home = freshHome('plan');
let ground: Playground;
let client: KubeClient;
let transport: HttpTransport;
let files = 0;

async function tutti(...parameters: readonly string[]): Promise<{
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}> {
  const process = home.tutti([...parameters, '--kubeconfig', ground.kubeconfigPath]);
  const { exitCode } = await process.ended();
  return { exitCode, stdout: process.stdout, stderr: process.stderr };
}

async function fileOf(...objects: readonly object[]): Promise<string> {
  const path = join(home.path, `plan-${files++}.yaml`);
  await writeFile(path, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  return path;
}

async function planned(...objects: readonly object[]): Promise<PlanResult & { readonly exitCode: number | undefined }> {
  const { exitCode, stdout } = await tutti('plan', '-f', await fileOf(...objects), '-o', 'json');
  return { ...(JSON.parse(stdout) as PlanResult), exitCode };
}

function group(name: string, minMember: number): object {
  return { apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup', metadata: { name }, spec: { minMember } };
}

function podSpec(cpu: string, more: object = {}): object {
  const container = { name: 'main', image: 'x', resources: { requests: { cpu } } };
  return { schedulerName: 'tutti', restartPolicy: 'Never', containers: [container], ...more };
}

function pod(name: string, cpu: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: podSpec(cpu, more) };
}

function template(name: string, cpu: string, more: object = {}): object {
  const labels = { app: name, 'scheduling.x-k8s.io/pod-group': name };
  return { metadata: { labels }, spec: podSpec(cpu, more) };
}

function job(name: string, parallelism: number, cpu: string, more: object = {}): object {
  const spec = { parallelism, completions: parallelism, template: template(name, cpu), ...more };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec };
}

function replicas(kind: string, name: string, count: number, cpu: string): object {
  const spec = {
    replicas: count,
    selector: { matchLabels: { app: name } },
    template: template(name, cpu, { restartPolicy: 'Always' }),
    ...(kind === 'StatefulSet' && { serviceName: name }),
  };
  return { apiVersion: 'apps/v1', kind, metadata: { name }, spec };
}

beforeAll(async () => {
  ground = await createPlayground({ nodes: 2, logger: silentLogger });
  transport = new HttpTransport({
    endpoint: await loadKubeconfig({ clock: systemClock, path: ground.kubeconfigPath }),
  });
  client = new KubeClient({ transport, clock: systemClock });
  await client.create('/apis/scheduling.k8s.io/v1/priorityclasses', {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1000,
  });
  await client.create('/api/v1/namespaces/default/pods', pod('busy', '500m'));
  await client.create(podGroupPath('default'), group('runs', 1));
  await client.create(podGroupPath('default'), group('empty', 9));
  await client.create('/apis/apps/v1/namespaces/default/replicasets', replicas('ReplicaSet', 'runs', 1, '500m'));
  await ground.until(async () => {
    const { items } = await client.list('/api/v1/pods');
    return items.length === 2 && items.every((each) => JSON.stringify(each).includes('"nodeName"'));
  });
});

afterAll(async () => {
  await transport.close();
  await ground.stop();
});

describe('tutti plan', () => {
  it('WI10: plans all documents together: what fits takes its capacity from the next', async () => {
    const { items, exitCode, admission, basis, errors } = await planned(
      group('red', 2),
      job('red', 2, '3'),
      group('blue', 2),
      job('blue', 2, '1'),
    );
    expect(errors).toEqual([]);
    expect(items.map(({ subject, fits, members, minMember }) => [subject.name, fits, members, minMember])).toEqual([
      ['red', true, 2, 2],
      ['blue', false, 2, 2],
    ]);
    expect(items[0]!.assignments.map(({ member }) => member).sort()).toEqual(['red-0', 'red-1']);
    expect(items[1]!.explanation).toMatchObject({ waitsFor: 'capacity', subject: { name: 'blue' } });
    expect([admission, exitCode]).toEqual(['dryRun', 5]);
    expect(basis.version).toMatch(/^[0-9a-f]{16}$/);
    expect((await client.list('/api/v1/pods')).items).toHaveLength(2);
  });

  it.each([
    ['Job', job('train', 2, '500m', { completionMode: 'Indexed' })],
    ['ReplicaSet', replicas('ReplicaSet', 'train', 2, '500m')],
    ['Deployment', replicas('Deployment', 'train', 2, '500m')],
    ['StatefulSet', replicas('StatefulSet', 'train', 2, '500m')],
  ])('WI10: turns a %s into its pods', async (_, workload) => {
    const { items, exitCode, errors } = await planned({
      apiVersion: 'v1',
      kind: 'List',
      items: [group('train', 2), workload],
    });
    expect(errors).toEqual([]);
    expect(items).toMatchObject([
      { fits: true, members: 2, assignments: [{ member: 'train-0' }, { member: 'train-1' }] },
    ]);
    expect(exitCode).toBe(0);
  });

  it('replaces a PodGroup that exists without members', async () => {
    const { items, exitCode } = await planned(group('empty', 2), job('empty', 2, '500m'));
    expect(items).toMatchObject([{ fits: true, minMember: 2 }]);
    expect(exitCode).toBe(0);
  });

  it('WI10: reads standard input, and generates names', async () => {
    const generated = { ...pod('', '1'), metadata: { generateName: 'one-' } };
    const file = await fileOf(generated);
    const process = home.tutti(['plan', '-f', '-', '-o', 'yaml', '--kubeconfig', ground.kubeconfigPath], {
      under: ['sh', '-c', `exec "$@" < '${file}'`, 'sh'],
    });
    expect(await process.ended()).toEqual({ exitCode: 0 });
    expect(parse(process.stdout)).toMatchObject({
      items: [{ subject: { kind: 'Pod', name: 'one-xxxxx' }, fits: true }],
    });
  });

  it('prints where the members would start, and the version that --if-version compares', async () => {
    const file = await fileOf(group('red', 2), job('red', 2, '1'));
    const { exitCode, stdout, stderr } = await tutti('plan', '-f', file);
    expect(stdout).toContain('group default/red: would start now; 2 of 2 members placed, 2 needed\n');
    expect([exitCode, stderr]).toEqual([0, '']);
    const [, version] = /Cluster version ([0-9a-f]+)\./.exec(stdout)!;
    expect((await tutti('plan', '-f', file, '--if-version', version!)).exitCode).toBe(0);
    expect(await tutti('plan', '-f', file, '--if-version', 'other')).toEqual({
      exitCode: 5,
      stdout: '',
      stderr: `The cluster has changed: its version is ${version}, not other.\n`,
    });
  });

  it('refuses with --if-version once a plan is outdated, which would fit no more', async () => {
    const file = await fileOf(group('red', 2), job('red', 2, '3'));
    const first = await tutti('plan', '-f', file);
    expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('red: would start now; 2 of 2')]);
    const [, version] = /Cluster version ([0-9a-f]+)\./.exec(first.stdout)!;
    await client.create('/api/v1/namespaces/default/pods', pod('faster', '2'));
    await ground.until(async () =>
      JSON.stringify(await client.get('/api/v1/namespaces/default/pods/faster')).includes('"nodeName"'),
    );
    const second = await tutti('plan', '-f', file, '--if-version', version!);
    expect([second.exitCode, second.stdout]).toEqual([5, '']);
    expect(second.stderr).toMatch(
      new RegExp(`^The cluster has changed: its version is [0-9a-f]{16}, not ${version}\\.\n$`),
    );
    expect((await tutti('plan', '-f', file)).stdout).toContain('red: would not start now');
    await client.delete('/api/v1/namespaces/default/pods/faster');
    await ground.until(async () => (await client.list('/api/v1/pods')).items.length === 2);
    expect((await tutti('plan', '-f', file, '--if-version', version!)).exitCode).toBe(0);
  });

  it('leaves no trace, even if a file has the names and uids of pods that exist', async () => {
    const seen = async (): Promise<unknown> => [
      (await client.list('/api/v1/pods')).items,
      (await client.list(podGroupPath())).items.map((item) => (item as { readonly metadata: object }).metadata),
    ];
    const before = await seen();
    const [existing] = (await client.list('/api/v1/pods')).items as readonly {
      readonly metadata: { readonly uid: string };
    }[];
    const { uid } = existing!.metadata;
    const { spec } = pod('x', '1') as { readonly spec: object };
    const pods = ['busy', 'other'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, uid, resourceVersion: '1' },
      spec,
    }));
    for (const flags of [[], ['--local']]) {
      const { stdout, stderr } = await tutti('plan', '-f', await fileOf(...pods), '-o', 'json', ...flags);
      const { items, errors } = JSON.parse(stdout) as PlanResult;
      expect([...errors.map(({ message }) => message), ...items.map(({ subject }) => subject.name)].join()).toContain(
        'busy exists already',
      );
      expect(stderr).toBe('');
    }
    expect(await seen()).toEqual(before);
  });

  it('says why a group does not fit', async () => {
    const { exitCode, stdout } = await tutti('plan', '-f', await fileOf(group('big', 2), job('big', 2, '9')));
    expect(stdout).toMatch(/^group default\/big: would not start now; 0 of 2 members placed, 2 needed\n/);
    expect(stdout).toContain('cpu: needs 9');
    expect(exitCode).toBe(5);
  });

  it('WI11: takes the priority from its class, and names the pods that preemption would evict', async () => {
    for (const flags of [[], ['--local']]) {
      const file = await fileOf(pod('urgent', '4', { priorityClassName: 'high' }));
      const { stdout, exitCode } = await tutti('plan', '-f', file, '-o', 'json', ...flags);
      const { items, admission, basis } = JSON.parse(stdout) as PlanResult;
      expect(items).toMatchObject([{ fits: false, victims: [{ kind: 'Pod' }] }]);
      expect(exitCode).toBe(5);
      expect(admission).toBe(flags.length === 0 ? 'dryRun' : 'local');
      expect(basis.unknowns.includes('admission')).toBe(flags.length > 0);
    }
  });

  it.each([
    ['a pod that exists', pod('busy', '1'), 'busy exists already; delete it first or change its name'],
    ['a group that exists and has members', group('runs', 1), 'runs exists already'],
    ['a class that does not exist', pod('new', '1', { priorityClassName: 'none' }), 'none'],
    [
      'a pod for another scheduler',
      pod('new', '1', { schedulerName: 'other' }),
      'its pods are for the scheduler other; set spec.schedulerName of the pod to tutti',
    ],
    ['a namespace that does not exist', { ...pod('new', '1'), metadata: { name: 'new', namespace: 'nope' } }, '"nope"'],
  ])('reports %s, and plans the rest', async (_, object, message) => {
    for (const flags of message === '"nope"' ? [[]] : [[], ['--local']]) {
      const file = await fileOf(object, pod('fine', '100m'));
      const { exitCode, stdout, stderr } = await tutti('plan', '-f', file, ...flags);
      expect(stderr).toContain(message);
      expect(stdout).toContain('pod default/fine: would start now\n');
      expect(exitCode).toBe(5);
    }
  });

  it.each([
    [
      'a kind that cannot be planned',
      { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'x' } },
      'kind: CronJob of batch/v1 cannot be planned',
    ],
    ['a malformed quantity', pod('x', '1x'), 'spec.containers[0].resources.requests[cpu]: "1x" is not a quantity'],
    [
      'an unqualified resource',
      pod('x', '1', { containers: [{ name: 'a', image: 'x', resources: { limits: { gpu: 1 } } }] }),
      'spec.containers[0].resources.limits[gpu]: is no resource of a container',
    ],
    ['too many pods', job('x', 1e9, '1'), 'spec.parallelism: must be a whole number from 0 to 20000'],
  ])('WI17: exits with 2 and names document, line and field for %s', async (_, object, message) => {
    const file = await fileOf(pod('fine', '1'), object);
    const { exitCode, stdout, stderr } = await tutti('plan', '-f', file);
    expect(stderr).toContain(`${file}, document 2, line `);
    expect(stderr).toContain(message);
    expect([exitCode, stdout]).toEqual([2, '']);
  });
});

describe('tutti drain-check', () => {
  it('WI19, WI21: says what a drain of one node, and of all nodes, does to groups', async () => {
    const pods = (await client.list('/api/v1/pods')).items as readonly {
      readonly metadata: { readonly name: string };
      readonly spec: { readonly nodeName: string };
    }[];
    const node = pods.find(({ metadata }) => metadata.name.startsWith('runs-'))!.spec.nodeName;
    const { exitCode, stdout } = await tutti('drain-check', node, '-o', 'json');
    const check = JSON.parse(stdout) as DrainCheck;
    expect(check).toMatchObject({ kind: 'DrainCheck', nodes: [node], budgets: [], errors: [], notJudged: 0 });
    expect(check.items).toMatchObject([
      { subject: { name: 'runs' }, here: 1, after: 0, fit: 1, outcome: 'interrupts' },
    ]);
    expect(exitCode).toBe(5);
    const all = (await client.list('/api/v1/nodes')).items as readonly {
      readonly metadata: { readonly name: string };
    }[];
    const text = await tutti('drain-check', ...all.map(({ metadata }) => metadata.name));
    expect(text.stdout).toMatch(
      /^GROUP +HERE +AFTER\/QUORUM +FIT +OUTCOME +NODES\ndefault\/runs +1 +0\/1 +0\/1 +strands/,
    );
    expect(text.stdout).toContain('Pod default/busy has no controller and would be lost.\n');
    expect([text.exitCode, text.stderr]).toEqual([5, '']);
  });

  it('WI21: names a node that does not exist', async () => {
    expect(await tutti('drain-check', 'nope')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'tutti: there is no node named nope; kubectl get nodes lists them\n',
    });
  });
});
