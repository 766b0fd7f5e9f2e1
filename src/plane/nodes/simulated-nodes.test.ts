import { describe, expect, test } from 'vitest';
import type { TransportResponse } from '../../client/transport.ts';
import { small, startPlane } from './testing/simulated-plane.ts';

describe('a simulated node', () => {
  test('registers as a ready node with its resources, labels and taints', async () => {
    await using plane = await startPlane([
      { ...small, labels: { zone: 'z1' }, taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
    ]);
    const node = await plane.client.get<Record<string, never>>('/api/v1/nodes/a');
    expect(node).toMatchObject({
      metadata: { labels: { 'kubernetes.io/hostname': 'a', zone: 'z1' } },
      spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
      status: {
        capacity: { cpu: '4', memory: '8Gi', pods: '10' },
        allocatable: { cpu: '4', memory: '8Gi', pods: '10' },
        addresses: [
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'Hostname', address: 'a' },
        ],
      },
    });
    expect(plane.problems).toEqual([]);
  });
});

describe('a Node that a user creates', () => {
  const extra = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'extra', labels: { zone: 'z2' } } };

  test('becomes a simulated node with its own capacity and labels', async () => {
    await using plane = await startPlane();
    await plane.client.create('/api/v1/nodes', { ...extra, status: { capacity: { cpu: '3', memory: '1Gi' } } });
    await plane.createPod('early', { node: 'extra' });
    await plane.pass(1_000);
    expect(await plane.client.get('/api/v1/nodes/extra')).toMatchObject({
      metadata: { labels: { 'kubernetes.io/hostname': 'extra', zone: 'z2' } },
      status: { allocatable: { cpu: '3', memory: '1Gi', pods: '110' }, addresses: expect.anything() },
    });
    expect(await plane.phase('early')).toBe('Running');
    expect(plane.problems).toEqual([]);
  });

  test('has 2 CPUs and 8Gi if it specifies no resources', async () => {
    await using plane = await startPlane();
    await plane.client.create('/api/v1/nodes', extra);
    await plane.pass(1_000);
    const { status } = await plane.client.get<{ status: unknown }>('/api/v1/nodes/extra');
    expect(status).toMatchObject({ allocatable: { cpu: '2', memory: '8Gi', pods: '110' } });
  });

  test('is left alone if a kubelet has registered it', async () => {
    await using plane = await startPlane();
    const status = { nodeInfo: { kubeletVersion: 'v1.37.1' }, allocatable: { cpu: '1' } };
    await plane.client.create('/api/v1/nodes', { ...extra, status });
    await plane.pass(1_000);
    expect((await plane.client.get<{ status: object }>('/api/v1/nodes/extra')).status).toMatchObject({
      allocatable: { cpu: '1' },
    });
    await plane.createPod('stray', { node: 'extra' });
    await plane.pass(1_000);
    expect(await plane.phase('stray')).toBe('Pending');
  });

  test('loses its pods when they are deleted after it', async () => {
    await using here = await startPlane();
    await here.client.create('/api/v1/nodes', extra);
    await here.createPod('first', { node: 'extra' });
    await here.createPod('second', { node: 'extra' });
    await here.pass(1_000);
    await here.client.delete('/api/v1/namespaces/default/pods/first');
    await here.client.delete('/api/v1/nodes/extra');
    await here.pass(1_000);
    expect(await here.phase('second')).toBe('Running');
    await here.client.delete('/api/v1/namespaces/default/pods/second');
    await here.pass(1_000);
    expect((await here.client.list('/api/v1/pods')).items).toEqual([]);
    expect(here.problems).toEqual([]);
  });

  test('renews no Lease after it was deleted, and can be created again', async () => {
    await using plane = await startPlane([]);
    await plane.client.create('/api/v1/nodes', extra);
    await plane.pass(1_000);
    await plane.client.delete('/api/v1/nodes/extra');
    await plane.pass(1_000);
    const before = plane.requests.length;
    await plane.pass(30_000);
    const leases = plane.requests.slice(before).filter(({ path }) => path.includes('/leases/'));
    expect(leases).toEqual([]);
    await plane.client.create('/api/v1/nodes', extra);
    await plane.createPod('again', { node: 'extra' });
    await plane.pass(1_000);
    expect(await plane.phase('again')).toBe('Running');
    expect(plane.problems).toEqual([]);
  });
});

describe('a Node that is deleted during its takeover', () => {
  const extra = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'extra' } };
  const patchesNode = ({ method, path }: { method: string; path: string }): boolean =>
    method === 'PATCH' && path.startsWith('/api/v1/nodes/extra');

  test('stays deleted, and the next Node with its name is simulated', async () => {
    await using plane = await startPlane([]);
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    let isFirst = true;
    plane.fault = async (request) => {
      if (isFirst && patchesNode(request)) {
        isFirst = false;
        await blocked;
      }
      return undefined;
    };
    await plane.client.create('/api/v1/nodes', extra);
    await plane.pass(500);
    await plane.client.delete('/api/v1/nodes/extra');
    await plane.pass(500);
    await plane.client.create('/api/v1/nodes', extra);
    await plane.pass(500);
    release();
    await plane.createPod('p', { node: 'extra' });
    await plane.pass(1_000);
    expect(await plane.phase('p')).toBe('Running');
    await plane.client.delete('/api/v1/nodes/extra');
    await plane.pass(30_000);
    const { items } = await plane.client.list('/api/v1/nodes');
    expect(items).toEqual([]);
    expect(plane.problems).toEqual([]);
  });
});

describe('admission', () => {
  test('rejects a pod that does not fit until another pod has ended', async () => {
    await using plane = await startPlane();
    await plane.createPod('first', { node: 'a', cpu: '3', annotations: { runDuration: '1m' } });
    await plane.createPod('second', { node: 'a', cpu: '1500m' });
    await plane.pass(1_000);
    const { status } = await plane.pod('second');
    expect(status).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu' });
    expect(status.message).toBe(
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000",
    );
    expect(await plane.phase('first')).toBe('Running');
    await plane.pass(60_000);
    expect(await plane.phase('first')).toBe('Succeeded');
    await plane.createPod('third', { node: 'a', cpu: '4' });
    await plane.pass(1_000);
    expect(await plane.phase('third')).toBe('Running');
  });

  test('counts a terminating pod until it is deleted', async () => {
    await using plane = await startPlane();
    await plane.createPod('old', { node: 'a', cpu: '4', annotations: { termination: '10s' } });
    await plane.pass(1_000);
    await plane.deletePod('old');
    await plane.pass(5_000);
    await plane.createPod('early', { node: 'a', cpu: '4' });
    await plane.pass(6_000);
    await plane.createPod('late', { node: 'a', cpu: '4' });
    await plane.pass(1_000);
    expect((await plane.pod('early')).status.reason).toBe('OutOfcpu');
    expect(await plane.phase('late')).toBe('Running');
  });

  test('rejects a pod whose nodeSelector does not match the node, and uses labels that are set later', async () => {
    await using plane = await startPlane();
    const spec = { nodeSelector: { disk: 'ssd' } };
    await plane.createPod('before', { node: 'a', spec });
    await plane.pass(1_000);
    expect((await plane.pod('before')).status).toMatchObject({ phase: 'Failed', reason: 'NodeAffinity' });
    await plane.client.patch('/api/v1/nodes/a', 'merge', { metadata: { labels: { disk: 'ssd' } } });
    await plane.createPod('after', { node: 'a', spec });
    await plane.pass(1_000);
    expect(await plane.phase('after')).toBe('Running');
  });
});

describe('simulated nodes', () => {
  test('write all statuses eventually, despite server errors, conflicts and resets', async () => {
    await using plane = await startPlane();
    let calls = 0;
    plane.fault = (request, proceed) => {
      if (request.method === 'GET' || !request.path.includes('/pods/')) return undefined;
      switch (calls++ % 4) {
        case 0:
          return jsonResponse(500, status(500, 'InternalError'));
        case 1:
          return jsonResponse(409, status(409, 'Conflict'));
        case 2:
          proceed();
          throw new Error('connection reset');
        default:
          return undefined;
      }
    };
    await plane.createPod('p', { node: 'a', annotations: { runDuration: '2s' } });
    await plane.createPod('q', { node: 'a' });
    await plane.pass(30_000);
    expect(await plane.phase('p')).toBe('Succeeded');
    expect(await plane.phase('q')).toBe('Running');
    await plane.deletePod('q');
    await plane.pass(30_000);
    expect(await plane.podNames()).toEqual(['p']);
  });

  test('miss no pod when a watch ends or its resourceVersion expires', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a' });
    plane.server.endWatches('pods');
    await plane.createPod('q', { node: 'a' });
    await plane.pass(5_000);
    plane.server.forgetHistory();
    plane.server.endWatches('pods');
    await plane.createPod('r', { node: 'a' });
    await plane.deletePod('p');
    await plane.pass(40_000);
    expect(await plane.podNames()).toEqual(['q', 'r']);
    expect(await plane.phase('q')).toBe('Running');
    expect(await plane.phase('r')).toBe('Running');
  });

  test('count the pods that already run on them after a restart', async () => {
    await using plane = await startPlane();
    await plane.createPod('waiting', { cpu: '2' });
    await plane.pass(2_000);
    await plane.createPod('running', { node: 'a', cpu: '3', annotations: { runDuration: '10s' } });
    await plane.pass(1_000);
    await plane.nodes.stop();
    await plane.bind('waiting', 'a');
    await plane.restart([small]);
    await plane.pass(1_000);
    expect((await plane.pod('waiting')).status.reason).toBe('OutOfcpu');
    await plane.pass(10_000);
    expect(await plane.phase('running')).toBe('Succeeded');
    const node = await plane.client.get<{ status: { conditions: unknown[] } }>('/api/v1/nodes/a');
    expect(node.status.conditions).toHaveLength(4);
  });

  test('write nothing after they are stopped', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a', annotations: { runDuration: '1s' } });
    await plane.pass(500);
    await plane.nodes.stop();
    const before = plane.requests.length;
    await plane.pass(120_000);
    expect(plane.requests.slice(before)).toEqual([]);
  });
});

test('runs of the same pods on the same clock are identical', async () => {
  const history = async (): Promise<unknown> => {
    await using plane = await startPlane([small, { ...small, name: 'b' }]);
    for (let index = 0; index < 8; index++) {
      const runDuration = `${index + 1}s`;
      await plane.createPod(`p${index}`, { node: index % 2 === 0 ? 'a' : 'b', annotations: { runDuration } });
    }
    await plane.pass(20_000);
    const { items } = await plane.client.list('/api/v1/pods');
    return [plane.requests, items];
  };
  expect(await history()).toEqual(await history());
});

function status(code: number, reason: string): Record<string, unknown> {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason };
}

function jsonResponse(code: number, body: unknown): TransportResponse {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(JSON.stringify(body));
  }
  return { status: code, headers: { 'content-type': 'application/json' }, body: bytes() };
}
