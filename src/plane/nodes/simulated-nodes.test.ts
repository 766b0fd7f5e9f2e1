import { describe, expect, test } from 'vitest';
import type { TransportResponse } from '../../client/transport.ts';
import { small, startPlane } from './testing/simulated-plane.ts';

describe('a simulated node', () => {
  test('registers as a ready node with what it has', async () => {
    await using here = await startPlane([
      { ...small, labels: { zone: 'z1' }, taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
    ]);
    const node = await here.client.get<Record<string, never>>('/api/v1/nodes/a');
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
    expect(here.problems).toEqual([]);
  });
});

describe('a Node that a user creates', () => {
  const extra = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'extra', labels: { zone: 'z2' } } };

  test('becomes a simulated node with its own capacity and labels', async () => {
    await using here = await startPlane();
    await here.client.create('/api/v1/nodes', { ...extra, status: { capacity: { cpu: '3', memory: '1Gi' } } });
    await here.createPod('early', { node: 'extra' });
    await here.pass(1_000);
    expect(await here.client.get('/api/v1/nodes/extra')).toMatchObject({
      metadata: { labels: { 'kubernetes.io/hostname': 'extra', zone: 'z2' } },
      status: { allocatable: { cpu: '3', memory: '1Gi', pods: '110' }, addresses: expect.anything() },
    });
    expect(await here.phase('early')).toBe('Running');
    expect(here.problems).toEqual([]);
  });

  test('has 2 CPUs and 8Gi if it does not say what it has', async () => {
    await using here = await startPlane();
    await here.client.create('/api/v1/nodes', extra);
    await here.pass(1_000);
    const { status } = await here.client.get<{ status: unknown }>('/api/v1/nodes/extra');
    expect(status).toMatchObject({ allocatable: { cpu: '2', memory: '8Gi', pods: '110' } });
  });

  test('is left alone if a kubelet has registered it', async () => {
    await using here = await startPlane();
    const status = { nodeInfo: { kubeletVersion: 'v1.37.1' }, allocatable: { cpu: '1' } };
    await here.client.create('/api/v1/nodes', { ...extra, status });
    await here.pass(1_000);
    expect((await here.client.get<{ status: object }>('/api/v1/nodes/extra')).status).toMatchObject({
      allocatable: { cpu: '1' },
    });
    await here.createPod('stray', { node: 'extra' });
    await here.pass(1_000);
    expect(await here.phase('stray')).toBe('Pending');
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
    await using here = await startPlane([]);
    await here.client.create('/api/v1/nodes', extra);
    await here.pass(1_000);
    await here.client.delete('/api/v1/nodes/extra');
    await here.pass(1_000);
    const before = here.requests.length;
    await here.pass(30_000);
    const leases = here.requests.slice(before).filter(({ path }) => path.includes('/leases/'));
    expect(leases).toEqual([]);
    await here.client.create('/api/v1/nodes', extra);
    await here.createPod('again', { node: 'extra' });
    await here.pass(1_000);
    expect(await here.phase('again')).toBe('Running');
    expect(here.problems).toEqual([]);
  });
});

describe('a Node that is deleted while it is being taken over', () => {
  const extra = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'extra' } };
  const patchesNode = ({ method, path }: { method: string; path: string }): boolean =>
    method === 'PATCH' && path.startsWith('/api/v1/nodes/extra');

  test('stays deleted, and the next one with its name is simulated', async () => {
    await using here = await startPlane([]);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let isFirst = true;
    here.fault = async (request) => {
      if (isFirst && patchesNode(request)) {
        isFirst = false;
        await held;
      }
      return undefined;
    };
    await here.client.create('/api/v1/nodes', extra);
    await here.pass(500);
    await here.client.delete('/api/v1/nodes/extra');
    await here.pass(500);
    await here.client.create('/api/v1/nodes', extra);
    await here.pass(500);
    release();
    await here.createPod('p', { node: 'extra' });
    await here.pass(1_000);
    expect(await here.phase('p')).toBe('Running');
    await here.client.delete('/api/v1/nodes/extra');
    await here.pass(30_000);
    const { items } = await here.client.list('/api/v1/nodes');
    expect(items).toEqual([]);
    expect(here.problems).toEqual([]);
  });
});

describe('admission', () => {
  test('rejects a pod that no longer fits, until a pod has ended', async () => {
    await using here = await startPlane();
    await here.createPod('first', { node: 'a', cpu: '3', annotations: { runDuration: '1m' } });
    await here.createPod('second', { node: 'a', cpu: '1500m' });
    await here.pass(1_000);
    const { status } = await here.pod('second');
    expect(status).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu' });
    expect(status.message).toBe(
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000",
    );
    expect(await here.phase('first')).toBe('Running');
    await here.pass(60_000);
    expect(await here.phase('first')).toBe('Succeeded');
    await here.createPod('third', { node: 'a', cpu: '4' });
    await here.pass(1_000);
    expect(await here.phase('third')).toBe('Running');
  });

  test('counts a pod that is being deleted until it is gone', async () => {
    await using here = await startPlane();
    await here.createPod('old', { node: 'a', cpu: '4', annotations: { termination: '10s' } });
    await here.pass(1_000);
    await here.deletePod('old');
    await here.pass(5_000);
    await here.createPod('early', { node: 'a', cpu: '4' });
    await here.pass(6_000);
    await here.createPod('late', { node: 'a', cpu: '4' });
    await here.pass(1_000);
    expect((await here.pod('early')).status.reason).toBe('OutOfcpu');
    expect(await here.phase('late')).toBe('Running');
  });

  test('rejects a pod whose nodeSelector the node does not match, and heeds labels set later', async () => {
    await using here = await startPlane();
    const spec = { nodeSelector: { disk: 'ssd' } };
    await here.createPod('before', { node: 'a', spec });
    await here.pass(1_000);
    expect((await here.pod('before')).status).toMatchObject({ phase: 'Failed', reason: 'NodeAffinity' });
    await here.client.patch('/api/v1/nodes/a', 'merge', { metadata: { labels: { disk: 'ssd' } } });
    await here.createPod('after', { node: 'a', spec });
    await here.pass(1_000);
    expect(await here.phase('after')).toBe('Running');
  });
});

describe('when things go wrong', () => {
  test('statuses arrive in the end, whatever the server does in between', async () => {
    await using here = await startPlane();
    let calls = 0;
    here.fault = (request, proceed) => {
      if (request.method === 'GET' || !request.path.includes('/pods/')) return undefined;
      switch (calls++ % 4) {
        case 0:
          return jsonAnswer(500, status(500, 'InternalError'));
        case 1:
          return jsonAnswer(409, status(409, 'Conflict'));
        case 2:
          proceed();
          throw new Error('connection reset');
        default:
          return undefined;
      }
    };
    await here.createPod('p', { node: 'a', annotations: { runDuration: '2s' } });
    await here.createPod('q', { node: 'a' });
    await here.pass(30_000);
    expect(await here.phase('p')).toBe('Succeeded');
    expect(await here.phase('q')).toBe('Running');
    await here.deletePod('q');
    await here.pass(30_000);
    expect(await here.podNames()).toEqual(['p']);
  });

  test('a watch that ends, or whose place is forgotten, misses nothing', async () => {
    await using here = await startPlane();
    await here.createPod('p', { node: 'a' });
    here.server.endWatches('pods');
    await here.createPod('q', { node: 'a' });
    await here.pass(5_000);
    here.server.forgetHistory();
    here.server.endWatches('pods');
    await here.createPod('r', { node: 'a' });
    await here.deletePod('p');
    await here.pass(40_000);
    expect(await here.podNames()).toEqual(['q', 'r']);
    expect(await here.phase('q')).toBe('Running');
    expect(await here.phase('r')).toBe('Running');
  });

  test('nodes that come back know who has their room', async () => {
    await using here = await startPlane();
    await here.createPod('waiting', { cpu: '2' });
    await here.pass(2_000);
    await here.createPod('running', { node: 'a', cpu: '3', annotations: { runDuration: '10s' } });
    await here.pass(1_000);
    await here.nodes.stop();
    await here.bind('waiting', 'a');
    await here.restart([small]);
    await here.pass(1_000);
    expect((await here.pod('waiting')).status.reason).toBe('OutOfcpu');
    await here.pass(10_000);
    expect(await here.phase('running')).toBe('Succeeded');
    const node = await here.client.get<{ status: { conditions: unknown[] } }>('/api/v1/nodes/a');
    expect(node.status.conditions).toHaveLength(4);
  });

  test('stopped nodes write nothing more', async () => {
    await using here = await startPlane();
    await here.createPod('p', { node: 'a', annotations: { runDuration: '1s' } });
    await here.pass(500);
    await here.nodes.stop();
    const before = here.requests.length;
    await here.pass(120_000);
    expect(here.requests.slice(before)).toEqual([]);
  });
});

test('the same pods on the same clock give the same run, to the millisecond', async () => {
  const history = async (): Promise<unknown> => {
    await using here = await startPlane([small, { ...small, name: 'b' }]);
    for (let index = 0; index < 8; index++) {
      const runDuration = `${index + 1}s`;
      await here.createPod(`p${index}`, { node: index % 2 === 0 ? 'a' : 'b', annotations: { runDuration } });
    }
    await here.pass(20_000);
    const { items } = await here.client.list('/api/v1/pods');
    return [here.requests, items];
  };
  expect(await history()).toEqual(await history());
});

function status(code: number, reason: string): Record<string, unknown> {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason };
}

function jsonAnswer(code: number, body: unknown): TransportResponse {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(JSON.stringify(body));
  }
  return { status: code, headers: { 'content-type': 'application/json' }, body: bytes() };
}
