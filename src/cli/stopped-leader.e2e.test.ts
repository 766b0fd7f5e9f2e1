import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ApiProxy } from '../../test/planes/api-proxy.ts';
import { openEmbeddedPlane } from '../../test/planes/embedded.ts';
import type { TestPlane } from '../../test/planes/plane.ts';
import { podGroupPath } from '../api/pod-group.ts';
import { podGroupLabel } from '../api/pod-group-membership.ts';
import { deferred } from '../base/deferred.ts';
import { freshHome } from './testing/fresh-home.ts';
import type { TestProcess } from './testing/test-process.ts';

const home = freshHome('stopped');
const pods = '/api/v1/namespaces/default/pods';
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/tutti-scheduler';
const members = ['red-0', 'red-1', 'red-2', 'red-3'];

let plane: TestPlane;
let proxy: ApiProxy;

beforeEach(async () => {
  plane = await openEmbeddedPlane();
  proxy = await ApiProxy.open(plane.transport);
  const amounts = { cpu: '64', memory: '64Gi', pods: '100' };
  const node = { metadata: { name: 'node' }, status: { allocatable: amounts, capacity: amounts } };
  await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', ...node });
});

afterEach(async () => {
  await proxy.cut();
  await plane.stop();
});

/** Starts `tutti scheduler`, which reaches the server through the proxy. */
async function scheduler(...flags: readonly string[]): Promise<TestProcess> {
  const kubeconfig = join(home.path, 'kubeconfig');
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'proxy', cluster: { server: proxy.endpoint.server } }],
      users: [{ name: 'anonymous', user: {} }],
      contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'anonymous' } }],
      'current-context': 'proxy',
    }),
  );
  const process = home.tutti(['scheduler', '--kubeconfig', kubeconfig, '--secure-port', '0', ...flags]);
  await process.said(/scheduling +schedulerNames=tutti/);
  return process;
}

async function createGang(): Promise<void> {
  await plane.client.create(podGroupPath('default'), {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name: 'red' },
    spec: { minMember: members.length },
  });
  for (const name of members) {
    await plane.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { [podGroupLabel]: 'red' } },
      spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'busybox' }] },
    });
  }
}

async function bound(): Promise<string[]> {
  const { items } = await plane.client.list(pods);
  const seen = items as {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly nodeName?: string };
  }[];
  return seen.flatMap(({ spec, metadata }) => (spec.nodeName === undefined ? [] : [metadata.name])).sort();
}

async function holder(): Promise<string> {
  return (await plane.client.get<{ readonly spec: { readonly holderIdentity: string } }>(lease)).spec.holderIdentity;
}

/** Holds Bindings back until `release` resolves. Resolves when `count` Bindings have arrived. */
function holdBindings(release: Promise<void>, count: number): Promise<void> {
  const arrived = deferred();
  let bindings = 0;
  proxy.fault = async ({ path }) => {
    if (!path.endsWith('/binding')) return undefined;
    if (++bindings === count) arrived.resolve();
    await release;
    return undefined;
  };
  return arrived.promise;
}

it('completes the gang that it is binding at SIGTERM, even if that takes longer than two seconds, releases the Lease and exits with 0', async () => {
  const process = await scheduler('--kube-api-qps', '1', '--kube-api-burst', '1');
  await createGang();
  await expect.poll(bound).not.toHaveLength(0);
  process.signal('SIGTERM');
  const { exitCode } = await process.ended();
  expect({ exitCode, bound: await bound(), holder: await holder() }).toEqual({
    exitCode: 0,
    bound: members,
    holder: '',
  });
  expect(process.stderr).toContain('released the Lease');
});

it('does not bind a gang whose members wait on Permit at SIGTERM, and exits with 0', async () => {
  const plugin = join(home.path, 'waits.mjs');
  await writeFile(
    plugin,
    "export default { name: 'Waits', factory: () => ({ name: 'Waits', permit: () => ({ waitMs: 600_000 }) }) };\n",
  );
  const bindings: string[] = [];
  const process = await scheduler('--plugin', plugin, '--log-level', 'debug');
  const verdictWritten = new Promise<void>((resolve) => {
    proxy.fault = ({ path }) => {
      if (path.endsWith('/binding')) bindings.push(path);
      if (path.endsWith('/status')) resolve();
      return Promise.resolve(undefined);
    };
  });
  // The pod ranks below the gang: when it gets its verdict, the gang already waits on Permit.
  await createGang();
  await createPodTooLarge();
  await verdictWritten;
  process.signal('SIGTERM');
  expect(await process.ended()).toMatchObject({ exitCode: 0 });
  expect([bindings, await bound(), await holder()]).toEqual([[], [], '']);
});

it('exits at once at a second SIGTERM, and lets the Lease expire', async () => {
  const process = await scheduler();
  const release = deferred();
  const arrived = holdBindings(release.promise, members.length);
  await createGang();
  await arrived;
  const before = await holder();
  expect(before).not.toBe('');
  process.signal('SIGTERM');
  await process.said(/scheduler stops/);
  await expect.poll(() => signalAgain(process), { interval: 400 }).toBe(143);
  expect(await holder()).toBe(before);
  release.resolve();
});

/** Sends SIGTERM. A second signal within 0.3 s of the first one counts as a copy of it. */
async function signalAgain(process: TestProcess): Promise<number | undefined> {
  process.signal('SIGTERM');
  const { exitCode } = await Promise.race([
    process.ended(),
    new Promise<{ exitCode?: number }>((resolve) => setTimeout(() => resolve({}), 100)),
  ]);
  return exitCode;
}

async function createPodTooLarge(): Promise<void> {
  await plane.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'too-large' },
    spec: {
      schedulerName: 'tutti',
      containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1000' } } }],
    },
  });
}
