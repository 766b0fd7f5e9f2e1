import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ApiProxy } from '../../test/planes/api-proxy.ts';
import { openEmbeddedPlane } from '../../test/planes/embedded.ts';
import type { TestPlane } from '../../test/planes/plane.ts';
import { freshHome } from './testing/fresh-home.ts';

const home = freshHome('blocked');
const pods = '/api/v1/namespaces/default/pods';

let plane: TestPlane;
let proxy: ApiProxy;

beforeEach(async () => {
  plane = await openEmbeddedPlane();
  proxy = await ApiProxy.open(plane.transport);
});

afterEach(async () => {
  await proxy.cut();
  await plane.stop();
});

it('writes nothing after another process became the leader while the event loop was blocked', async () => {
  const unblocked = join(home.path, 'unblocked');
  const blocks = join(home.path, 'blocks.mjs');
  await writeFile(
    blocks,
    `import { existsSync } from 'node:fs';
const cell = new Int32Array(new SharedArrayBuffer(4));
const preFilter = () => {
  while (!existsSync(${JSON.stringify(unblocked)})) Atomics.wait(cell, 0, 0, 50);
};
export default { name: 'Blocks', factory: () => ({ name: 'Blocks', preFilter }) };
`,
  );
  const kubeconfig = join(home.path, 'kubeconfig');
  const cluster = { server: proxy.endpoint.server };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'proxy', cluster }],
      users: [{ name: 'anonymous', user: {} }],
      contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'anonymous' } }],
      'current-context': 'proxy',
    }),
  );
  const election = [
    '--leader-elect-lease-duration=3s',
    '--leader-elect-renew-deadline=2s',
    '--leader-elect-retry-period=500ms',
  ];
  const flags = ['--secure-port', '0', ...election];
  const first = home.tutti(['scheduler', '--kubeconfig', kubeconfig, '--plugin', blocks, ...flags]);
  await first.said(/scheduling +schedulerNames=tutti/);
  const second = home.tutti(['scheduler', '--kubeconfig', plane.kubeconfigPath, ...flags]);
  await second.said(/standing by/);
  const writes: string[] = [];
  proxy.fault = ({ method, path }) => {
    if (method !== 'GET' && !path.includes('/leases/')) writes.push(`${method} ${path}`);
    return Promise.resolve(undefined);
  };
  const amounts = { cpu: '4', memory: '4Gi', pods: '10' };
  const node = { metadata: { name: 'node' }, status: { allocatable: amounts, capacity: amounts } };
  await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', ...node });
  await plane.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod' },
    spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'busybox' }] },
  });

  await second.said(/became leader/);
  await second.said(/scheduled +entity=pod/);
  await writeFile(unblocked, '');
  expect(await first.ended()).toMatchObject({ exitCode: 1 });
  expect(first.stderr).toContain('lost the leader election');
  expect(writes).toEqual([]);
});
