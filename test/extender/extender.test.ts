import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createScheduler } from '../../src/compose/create-scheduler.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import type { Logger } from '../../src/observability/logger.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { TestPlane } from '../planes/plane.ts';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';

/** A request to the extender, as the extender reports it. */
interface Request {
  readonly behaviour: string;
  readonly verb: string;
  readonly pod: string;
  readonly names: readonly string[];
}

/** The requests of a test pod, and its group. */
interface ResourceDemand {
  readonly cpu: number;
  readonly gpus?: number;
  readonly group?: string;
  /** Gives it labels that no other pod has. */
  readonly isUnique?: boolean;
}

interface PodObject {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly message?: string }[] };
}

const certificates = fileURLToPath(new URL('../fixtures/tls', import.meta.url));
const podsPath = '/api/v1/namespaces/default/pods';

let plane: TestPlane;
let folder: string;
let extender: ChildProcess;
let port: string;
let requests: Request[];
let warnings: string[];
let scheduler: RunningProcess | undefined;

beforeEach(async () => {
  plane = await openEmbeddedPlane();
  folder = await mkdtemp(join(tmpdir(), 'tutti-extender-'));
  requests = [];
  warnings = [];
  for (const name of ['a', 'b', 'c']) {
    const amounts = { cpu: '2', memory: '8Gi', pods: '10', 'example.com/gpu': '2' };
    const status = { allocatable: amounts, capacity: amounts };
    await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name }, status });
  }
  const script = fileURLToPath(new URL('extender-process.ts', import.meta.url));
  extender = spawn(process.execPath, [script, certificates, plane.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: extender.stdout! });
  [port] = (await once(lines, 'line')) as [string];
  lines.on('line', (line) => requests.push(JSON.parse(line) as Request));
});

afterEach(async () => {
  await scheduler?.stop();
  scheduler = undefined;
  if (extender.exitCode === null && extender.signalCode === null) {
    extender.kill('SIGKILL');
    await once(extender, 'exit');
  }
  await plane.stop();
  await rm(folder, { recursive: true });
});

/** Starts a scheduler with these extenders: behavior -> other fields. */
async function start(...extenders: readonly (readonly [behaviour: string, fields: object])[]): Promise<void> {
  const path = join(folder, 'scheduler.json');
  await writeFile(
    path,
    JSON.stringify({
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      clientConnection: { kubeconfig: plane.kubeconfigPath },
      profiles: [{ schedulerName: 'tutti' }],
      extenders: extenders.map(([behaviour, fields]) => ({
        urlPrefix: `https://127.0.0.1:${port}/${behaviour}`,
        enableHTTPS: true,
        tlsConfig: { caFile: join(certificates, 'ca.crt') },
        nodeCacheCapable: true,
        httpTimeout: behaviour === 'hangs' ? '400ms' : '30s',
        ...fields,
      })),
    }),
  );
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  scheduler = await createScheduler({ configFile: path, logger });
}

async function pod(name: string, { cpu, gpus, group, isUnique = false }: ResourceDemand = { cpu: 1 }): Promise<void> {
  const devices = gpus === undefined ? {} : { 'example.com/gpu': String(gpus) };
  const resources = { requests: { cpu: String(cpu), ...devices }, limits: devices };
  await plane.client.create(podsPath, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { ...(group !== undefined && { [podGroupLabel]: group }), ...(isUnique && { index: name }) },
    },
    spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'busybox', resources }] },
  });
}

async function gang(name: string, size: number, demand: ResourceDemand): Promise<void> {
  await plane.client.create('/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups', {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name },
    spec: { minMember: size },
  });
  for (let i = 0; i < size; i++) await pod(`${name}-${i}`, { ...demand, group: name });
}

async function pods(): Promise<readonly PodObject[]> {
  return (await plane.client.list(podsPath)).items as readonly PodObject[];
}

/** Returns pod -> node for the bound pods. */
async function bound(): Promise<Record<string, string>> {
  const all = await pods();
  return Object.fromEntries(
    all.flatMap(({ metadata, spec }) => (spec.nodeName === undefined ? [] : [[metadata.name, spec.nodeName]])),
  );
}

async function expectBound(expected: Record<string, string>): Promise<void> {
  await expect.poll(bound).toEqual(expected);
}

async function expectMessage(name: string, message: unknown): Promise<void> {
  const conditionOf = async (): Promise<string | undefined> =>
    (await pods())
      .find(({ metadata }) => metadata.name === name)
      ?.status.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
  await expect.poll(conditionOf).toEqual(message);
}

describe('An extender process over HTTPS', () => {
  it('filters and scores nodes', async () => {
    await start(['only-bc', { filterVerb: 'filter' }], ['likes-c', { prioritizeVerb: 'rank', weight: 5 }]);
    await pod('x', { cpu: 1 });
    await expectBound({ x: 'c' });
    expect(requests).toEqual([
      { behaviour: 'only-bc', verb: 'filter', pod: 'x', names: ['a', 'b', 'c'] },
      { behaviour: 'likes-c', verb: 'rank', pod: 'x', names: ['b', 'c'] },
    ]);
  });

  it('gets whole nodes if it does not cache them', async () => {
    await start(['only-b', { filterVerb: 'filter', nodeCacheCapable: false }]);
    await pod('x', { cpu: 1 });
    await expectBound({ x: 'b' });
    expect(requests.map(({ names }) => names)).toEqual([['a', 'b', 'c']]);
  });

  it('appears in the verdict of the pod that it rejects', async () => {
    await start(['none', { filterVerb: 'filter' }]);
    await pod('x', { cpu: 1 });
    await expectMessage('x', `0/3 nodes are available: 3 extender https://127.0.0.1:${port}/none: no device.`);
  });

  it.each([
    ['rejects', 'not today.'],
    ['fails', 'filter returned status 500: out of order.'],
    ['babbles', 'filter returned invalid JSON: <html>.'],
    ['hangs', 'no response within 0.4 s (httpTimeout).'],
  ])('that %s fails only its own pods, and their verdicts say so', async (behaviour, message) => {
    await start([behaviour, { filterVerb: 'filter', managedResources: [{ name: 'example.com/gpu' }] }]);
    await pod('x', { cpu: 1, gpus: 1 });
    await pod('plain', { cpu: 1 });
    await expectMessage('x', `extender https://127.0.0.1:${port}/${behaviour} failed in filter: ${message}`);
    await expect.poll(async () => Object.keys(await bound())).toEqual(['plain']);
  });

  it('is skipped if it is ignorable and unreachable or has a wrong certificate', async () => {
    await start(
      ['only-a', { filterVerb: 'filter', ignorable: true, urlPrefix: 'https://127.0.0.1:1/dead' }],
      ['only-b', { filterVerb: 'filter', ignorable: true, tlsConfig: { caFile: join(certificates, 'other-ca.crt') } }],
      ['only-c', { filterVerb: 'filter' }],
    );
    await pod('x', { cpu: 1 });
    await expectBound({ x: 'c' });
    expect(warnings.filter((line) => line.includes('scheduling the pod without it'))).toEqual([
      expect.stringContaining('ECONNREFUSED'),
      expect.stringMatching(/only-b.*certificate/),
    ]);
  });

  it('without a CA is not verified, with a warning', async () => {
    await start(['only-a', { filterVerb: 'filter', tlsConfig: undefined }]);
    await pod('x', { cpu: 1 });
    await expectBound({ x: 'a' });
    expect(warnings).toEqual([expect.stringContaining('the certificate of this extender is not verified')]);
  });

  it('that stops responding fails its pods, and is used again once it responds', async () => {
    await start(['only-a', { filterVerb: 'filter', httpTimeout: '400ms' }]);
    await pod('x', { cpu: 1 });
    await expectBound({ x: 'a' });
    extender.kill('SIGSTOP');
    await pod('y', { cpu: 1 });
    await expectMessage('y', expect.stringContaining('no response within 0.4 s'));
    extender.kill('SIGCONT');
    await expectBound({ x: 'a', y: 'a' });
  });

  it('binds its own pods', async () => {
    await start(['binds', { bindVerb: 'bind', managedResources: [{ name: 'example.com/gpu' }] }]);
    await pod('x', { cpu: 1, gpus: 1 });
    await pod('plain', { cpu: 1 });
    await expect.poll(async () => Object.keys(await bound()).sort()).toEqual(['plain', 'x']);
    expect(requests.map(({ verb, pod: name }) => `${verb} ${name}`)).toEqual(['bind x']);
  });

  it('that wrongly reports a pod as bound counts as failed', async () => {
    await start(['lies', { bindVerb: 'bind', ignorable: false }]);
    await pod('x', { cpu: 2 });
    await expectMessage(
      'x',
      expect.stringMatching(/failed in bind: it reported success, but the pod is not bound to the chosen node/),
    );
    expect(await bound()).toEqual({});
  });

  it('may bind a pod to another node: its capacity is used there, and freed on the planned node', async () => {
    await start(['strays', { bindVerb: 'bind', managedResources: [{ name: 'example.com/gpu' }] }]);
    // Only a fits the pod.
    for (const name of ['b', 'c']) {
      await plane.client.patch(`/api/v1/nodes/${name}`, 'merge', { spec: { unschedulable: true } });
    }
    await pod('x', { cpu: 2, gpus: 1 });
    await expectBound({ x: 'c' });
    await pod('plain', { cpu: 2 });
    await expectBound({ x: 'c', plain: 'a' });
    await plane.client.patch('/api/v1/nodes/c', 'merge', { spec: { unschedulable: false } });
    await pod('late', { cpu: 1 });
    await expectMessage('late', expect.stringContaining('2 Insufficient cpu'));
  });

  it('that hangs does not keep the scheduler from stopping', async () => {
    await start(['hangs', { filterVerb: 'filter', httpTimeout: '1h' }]);
    for (const name of ['x', 'y', 'z']) await pod(name);
    await expect.poll(() => requests.length).toBe(3);
    await scheduler!.stop();
    expect(requests.length).toBe(3);
  });

  it('can manage a resource that the scheduler ignores', async () => {
    const managedResources = [{ name: 'example.com/gpu', ignoredByScheduler: true }];
    await start(['only-a', { filterVerb: 'filter', managedResources }]);
    await pod('x', { cpu: 1, gpus: 5 });
    await expectBound({ x: 'a' });
  });
});

describe('A gang with an extender', () => {
  it('starts as a whole if the extender keeps enough nodes', async () => {
    await start(['only-ab', { filterVerb: 'filter' }]);
    await gang('red', 4, { cpu: 1 });
    await expect.poll(async () => Object.values(await bound()).sort()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('does not start if the extender keeps too few nodes, and its verdict says why', async () => {
    await start(['only-a', { filterVerb: 'filter' }]);
    await gang('red', 3, { cpu: 1 });
    await expectMessage(
      'red-0',
      expect.stringMatching(/^PodGroup default\/red cannot start: 2 of 3 members would fit/),
    );
    expect(await bound()).toEqual({});
    // Other gangs are not affected.
    await gang('blue', 2, { cpu: 1 });
    await expect.poll(async () => Object.values(await bound())).toEqual(['a', 'a']);
  });

  it("is bound by the extender as a whole, with the annotations of Tutti's Bindings", async () => {
    await start(['binds', { bindVerb: 'bind' }]);
    await gang('red', 3, { cpu: 1 });
    await expect.poll(async () => Object.keys(await bound()).length).toBe(3);
    const plans = (await pods()).map(({ metadata }) => metadata.annotations?.['tutti.dev/plan']);
    expect([plans.length, new Set(plans).size, plans[0]]).toEqual([3, 1, expect.any(String)]);
  });

  it('of a hundred different pods starts as a whole through a slow extender, while other pods are scheduled', async () => {
    const managedResources = [{ name: 'example.com/gpu' }];
    await start(['dawdles', { filterVerb: 'filter', managedResources, httpTimeout: '5s' }]);
    const amounts = { cpu: '200', memory: '8Gi', pods: '200', 'example.com/gpu': '200' };
    const status = { allocatable: amounts, capacity: amounts };
    await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'large' }, status });
    await gang('red', 100, { cpu: 1, gpus: 1, isUnique: true });
    await pod('plain', { cpu: 1 });
    await expect.poll(async () => Object.keys(await bound()).length).toBe(101);
    expect(new Set(requests.map((request) => request.pod)).size).toBe(100);
  });

  it('stays completely unbound if the extender rejects its Bindings, and is retried', async () => {
    await start(['rejects', { bindVerb: 'bind' }]);
    await gang('red', 3, { cpu: 1 });
    await expectMessage('red-0', expect.stringContaining('failed in bind: not today'));
    await expect.poll(() => requests.length).toBeGreaterThan(3);
    expect(await bound()).toEqual({});
  });
});
