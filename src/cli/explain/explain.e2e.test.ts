import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '../../base/system-clock.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { loadKubeconfig } from '../../client/kubeconfig.ts';
import { localKubeconfig } from '../../client/local-kubeconfig.ts';
import { HttpTransport } from '../../client/http/http-transport.ts';
import { createPlayground } from '../../compose/create-playground.ts';
import type { Playground } from '../../compose/create-playground.ts';
import { podGroupPath } from '../../api/pod-group.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { expectValidAnswer } from '../../../test/expect/valid-answer.ts';
import { kubectlPath } from '../../../test/planes/kubectl.ts';
import { createPod } from '../testing/create-pod.ts';
import { freshHome } from '../testing/fresh-home.ts';
import { TestProcess } from '../testing/test-process.ts';

const home = freshHome('explain');
let ground: Playground;
let client: KubeClient;
let transport: HttpTransport;

interface Kubeconfig {
  readonly contexts: readonly [{ readonly context: object }];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

interface Ended {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

async function tutti(...parameters: readonly string[]): Promise<Ended> {
  const process = home.tutti([...parameters, '--kubeconfig', ground.kubeconfigPath]);
  const { exitCode } = await process.ended();
  return { exitCode, stdout: process.stdout, stderr: process.stderr };
}

async function createGroup(name: string, namespace: string, minMember: number, cpus: readonly number[]): Promise<void> {
  await client.create(podGroupPath(namespace), {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name, namespace, labels: { team: name } },
    spec: { minMember },
  });
  for (const [index, cpu] of cpus.entries())
    await createPod(client, { name: `${name}-${index}`, namespace, group: name, cpu });
}

beforeAll(async () => {
  ground = await createPlayground({ nodes: 2, logger: silentLogger });
  transport = new HttpTransport({
    endpoint: await loadKubeconfig({ clock: systemClock, path: ground.kubeconfigPath }),
  });
  client = new KubeClient({ transport, clock: systemClock });
  await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ml' } });
  await createGroup('cyan', 'ml', 2, [1, 1]);
  await createGroup('red', 'ml', 2, [4, 4]);
  await createGroup('lab', 'default', 3, [1]);
  await createPod(client, { name: 'lone', namespace: 'default', cpu: 99 });
  await ground.until(async () => {
    const { items } = await client.list(podGroupPath());
    const text = JSON.stringify(items);
    return ['QuorumScheduled', '"reason":"Unschedulable"', 'has 1 of the 3 members'].every((reason) =>
      text.includes(reason),
    );
  });
  await ground.until(async () =>
    JSON.stringify(await client.get('/api/v1/namespaces/default/pods/lone')).includes('"Unschedulable"'),
  );
});

afterAll(async () => {
  await transport.close();
  await ground.stop();
});

describe('tutti status', () => {
  it('shows all groups, those that wait first', async () => {
    const { exitCode, stdout, stderr } = await tutti('status', '-A');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(lines).toEqual([
      ['NAMESPACE', 'GROUP', 'STATE', 'WAITS FOR', 'BOUND/QUORUM/SIZE', 'SINCE', 'WHY'],
      [
        'default',
        'lab',
        'Waiting',
        'members',
        '0/3/1',
        expect.stringMatching(/^\d+s$/),
        expect.stringContaining('1 of the 3 members'),
      ],
      [
        'ml',
        'red',
        'Waiting',
        'capacity',
        '0/2/2',
        expect.stringMatching(/^\d+s$/),
        expect.stringContaining('Insufficient cpu'),
      ],
      ['ml', 'cyan', 'Running', '-', '2/2/2', expect.stringMatching(/^\d+s$/)],
      ['3 groups: 2 waiting, 1 running'],
    ]);
    expect([exitCode, stderr]).toEqual([0, '']);
  });

  it('shows one namespace, and only groups with these labels', async () => {
    const { stdout } = await tutti('status', '-n', 'ml', '-l', 'team=red', '--no-headers');
    expect(stdout).toMatch(/^red +Waiting +capacity .*\n$/);
    expect((await tutti('status', '-n', 'none')).stdout).toBe('0 groups\n');
  });

  it('shows pods without a group on demand', async () => {
    const { stdout } = await tutti('status', '--pods');
    expect(stdout).toMatch(/^pod\/lone +Waiting +unknown +0\/1\/1 /m);
    expect(stdout).toContain('1 group and 1 pod: 2 waiting\n');
    expect((await tutti('status', 'pod/lone', '-o', 'name')).stdout).toBe('pod/lone\n');
  });

  it('KP4: prints the same as JSON and as YAML', async () => {
    const [json, yaml] = [await tutti('status', '-A', '-o', 'json'), await tutti('status', '-A', '-o', 'yaml')];
    const list = JSON.parse(json.stdout);
    expectValidAnswer(list);
    expect(list).toMatchObject({
      apiVersion: 'explain.tutti.dev/v1alpha1',
      kind: 'StatusList',
      basis: { source: 'conditions', unknowns: ['assumedPods', 'queueOrder', 'reservations'] },
      totals: { Waiting: 2, Running: 1 },
      errors: [],
    });
    expect(parse(yaml.stdout)).toMatchObject({ kind: 'StatusList', items: list.items });
  });

  it('KP4: prints names that kubectl accepts', async () => {
    const { stdout } = await tutti('status', '-n', 'ml', '-o', 'name');
    expect(stdout).toBe('podgroup.scheduling.x-k8s.io/red\npodgroup.scheduling.x-k8s.io/cyan\n');
    const get = ['get', ...stdout.trim().split('\n'), '-n', 'ml', '-o', 'name', '--kubeconfig', ground.kubeconfigPath];
    const kubectl = new TestProcess(get, { program: [await kubectlPath()], environment: { HOME: home.path } });
    expect(await kubectl.ended()).toEqual({ exitCode: 0 });
    expect(kubectl.stdout).toBe(stdout);
  });

  it('KP3: reads KUBECONFIG, and connects with the token or the credential plugin of the chosen context', async () => {
    const kubeconfig = parse(await readFile(ground.kubeconfigPath, 'utf8')) as Kubeconfig;
    const [{ context }] = kubeconfig.contexts;
    const [{ user }] = kubeconfig.users;
    const plugin = join(home.path, 'credential.json');
    const apiVersion = 'client.authentication.k8s.io/v1';
    await writeFile(plugin, JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: user.token } }));
    const exec = { apiVersion, command: 'cat', args: [plugin], interactiveMode: 'Never' };
    const path = join(home.path, 'kubeconfig');
    const contexts = ['with-token', 'with-plugin'].map((name) => ({
      name,
      context: { ...context, user: name, namespace: 'ml' },
    }));
    const users = [
      { name: 'with-token', user },
      { name: 'with-plugin', user: { exec } },
    ];
    await writeFile(path, JSON.stringify({ ...kubeconfig, 'current-context': 'with-token', contexts, users }));
    for (const flags of [[], ['--context', 'with-plugin']]) {
      const process = home.tutti(['status', '-o', 'name', ...flags], { environment: { KUBECONFIG: path } });
      expect(await process.ended(), process.stderr).toEqual({ exitCode: 0 });
      expect(process.stdout).toContain('/red\n');
    }
  });

  it('KP12: ends in silence when the reader of its output is gone', async () => {
    for (const command of [['status', '-A'], ['queue'], ['why', 'red', '-n', 'ml']]) {
      const process = home.tutti([...command, '-o', 'json', '--kubeconfig', ground.kubeconfigPath]);
      process.closeStdout();
      const { exitCode } = await process.ended();
      expect([exitCode, process.stderr], command[0]).toEqual([0, '']);
    }
  });

  it('exits with 1 and names what does not exist, and shows the rest', async () => {
    const { exitCode, stdout, stderr } = await tutti('status', 'red', 'nope', '-n', 'ml');
    expect(stdout).toContain('red');
    expect([exitCode, stderr]).toEqual([1, 'group/nope: not found\n']);
  });

  it('KP7: prints each change once, and ends on SIGINT with 130', async () => {
    const flags = ['-n', 'ml', '--kubeconfig', ground.kubeconfigPath];
    const [table, json] = [
      home.tutti(['status', '-w', ...flags]),
      home.tutti(['status', '-w', '-o', 'json', ...flags]),
    ];
    await Promise.all([table.said(/^cyan /m), json.said(/"cyan"/)]);
    await createGroup('pink', 'ml', 1, [0.1]);
    await Promise.all([table.said(/^pink +Running /m), json.said(/"pink"[^}]*},\s*"state": "Running"/)]);
    await client.delete('/api/v1/namespaces/ml/pods/pink-0');
    await client.delete(`${podGroupPath('ml')}/pink`);
    await Promise.all([table.said(/^pink +Deleted /m), json.said(/"type": "Deleted"/)]);
    for (const process of [table, json]) {
      process.signal('SIGINT');
      expect(await process.ended(), process.stderr).toEqual({ exitCode: 130 });
      expect(process.stderr).toBe('');
    }
    const lines = table.stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('GROUP '))).toHaveLength(1);
    for (const name of ['red', 'cyan', 'pink']) {
      // Without the age. The scheduler may renew a verdict that is a minute old.
      const rows = lines
        .filter((line) => line.startsWith(`${name} `))
        .map((line) => line.replace(/ \d+m?s(?= |$)/, ''));
      expect(rows.filter((row, index) => row === rows[index - 1])).toEqual([]);
    }
    const changes = json.stdout.split(/(?<=^})\n/m).filter((text) => text !== '');
    for (const change of changes) expectValidAnswer(JSON.parse(change));
    expect(JSON.parse(changes[0]!)).toMatchObject({ kind: 'StatusChange', type: 'Added', item: { state: 'Waiting' } });
  });

  it('reports a selector that the API server rejects, in one line', async () => {
    const { exitCode, stdout, stderr } = await tutti('status', '-l', 'a in (');
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^tutti: .*\n$/);
  });

  it('KP8: reports that the API server cannot be reached, in one line', async () => {
    const kubeconfig = join(home.path, 'kubeconfig');
    await writeFile(kubeconfig, localKubeconfig('http://127.0.0.1:1'));
    const process = home.tutti(['status', '--kubeconfig', kubeconfig]);
    expect(await process.ended()).toEqual({ exitCode: 1 });
    expect(process.stdout).toBe('');
    expect(process.stderr).toMatch(/^tutti: .*127\.0\.0\.1:1.*\n$/);
  });
});

describe('tutti queue', () => {
  it('shows what waits, with the rank of what is ready', async () => {
    const { exitCode, stdout, stderr } = await tutti('queue');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(lines[0]).toEqual(['POS', 'ENTITY', 'STATE', 'PRIORITY', 'WHY']);
    expect(lines.slice(1, 3).map(([position]) => position)).toEqual(['1', '2']);
    expect(lines.slice(1, 3).map(([, entity, state, priority]) => [entity, state, priority])).toEqual(
      expect.arrayContaining([
        ['group ml/red', 'unschedulable', '0'],
        ['pod default/lone', 'unschedulable', '0'],
      ]),
    );
    expect(lines[3]).toEqual(['-', 'group default/lab', 'gated', '0', expect.stringContaining('1 of the 3 members')]);
    expect(lines[4]).toEqual(['3 entities wait, 2 ready']);
    expect([exitCode, stderr]).toEqual([0, '']);
  });

  it('keeps the rank among all when it shows one namespace, and says what it does not know', async () => {
    const { stdout } = await tutti('queue', '-n', 'ml', '-o', 'json');
    expectValidAnswer(JSON.parse(stdout));
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'QueueList',
      basis: {
        source: 'api',
        version: expect.any(String) as string,
        unknowns: ['assumedPods', 'queueOrder', 'reservations'],
      },
      items: [
        { position: expect.any(Number) as number, subject: { kind: 'PodGroup', name: 'red' }, state: 'unschedulable' },
      ],
    });
    expect((await tutti('queue', '-n', 'ml', '-o', 'yaml')).stdout).toContain('kind: QueueList\n');
  });
});

describe('tutti version', () => {
  it('prints its own version, and why that of the scheduler is unknown', async () => {
    const { exitCode, stdout, stderr } = await tutti('version');
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^Client: {4}\d+\.\d+\.\d+\n$/)]);
    expect(stderr).toBe('scheduler: no Deployment of the chart was found\n');
  });

  it('prints the tag of the image that the chart has installed', async () => {
    const labels = { 'app.kubernetes.io/part-of': 'tutti', 'app.kubernetes.io/component': 'scheduler' };
    await client.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'tutti-system' },
    });
    await client.create('/apis/apps/v1/namespaces/tutti-system/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'tutti-scheduler', namespace: 'tutti-system', labels },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'scheduler', image: 'registry:5000/tutti:9.8.7' }] },
        },
      },
    });
    expect((await tutti('version')).stdout).toContain(
      'Scheduler: 9.8.7 (Deployment tutti-system/tutti-scheduler, image registry:5000/tutti:9.8.7)\n',
    );
    const { stdout } = await tutti('version', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      clientVersion: expect.any(String) as string,
      schedulers: [{ version: '9.8.7' }],
    });
  });

  it('needs no cluster with --client', async () => {
    const process = home.tutti(['version', '--client', '-o', 'yaml']);
    expect(await process.ended()).toEqual({ exitCode: 0 });
    expect(parse(process.stdout)).toEqual({ clientVersion: expect.any(String) as string, schedulers: [] });
  });
});
