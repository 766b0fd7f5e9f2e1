import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { nodeManifest } from '../testing/manifests.ts';

describe('nodes', () => {
  it('keep the status of the create request, with allocatable defaulting to capacity', async () => {
    const stored = await new ApiClient().mustCreate('/api/v1/nodes', {
      ...nodeManifest('n1'),
      status: { capacity: { cpu: 4, memory: '8192Mi' }, conditions: [{ type: 'Ready', status: 'True' }] },
    });
    expect(stored.status).toMatchObject({
      capacity: { cpu: '4', memory: '8Gi' },
      allocatable: { cpu: '4', memory: '8Gi' },
      conditions: [{ type: 'Ready', status: 'True' }],
    });
  });

  it('are rejected if a taint has an unknown effect or a capacity is negative', async () => {
    const client = new ApiClient();
    const tainted = { ...nodeManifest('n1'), spec: { taints: [{ key: 'a', effect: 'Never' }] } };
    expect((await client.create('/api/v1/nodes', tainted)).body.details.causes[0].field).toBe(
      'metadata.taints[0].effect',
    );
    const negative = { ...nodeManifest('n1'), status: { capacity: { cpu: '-1' } } };
    expect((await client.create('/api/v1/nodes', negative)).body.details.causes[0].field).toBe('status.capacity[cpu]');
  });

  it('have columns with readiness, roles, version and address', async () => {
    const client = new ApiClient();
    await client.mustCreate('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', labels: { 'node-role.kubernetes.io/gpu': '', 'kubernetes.io/role': 'big' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        nodeInfo: { kubeletVersion: 'v1.34.0' },
      },
    });
    const { rows } = (await client.get('/api/v1/nodes', 'application/json;as=Table;v=v1;g=meta.k8s.io')).body;
    expect(rows[0].cells).toEqual(['n1', 'Ready,SchedulingDisabled', 'big,gpu', '0s', 'v1.34.0', '10.0.0.1']);
    expect((await client.get('/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue')).body.items).toHaveLength(1);
  });
});
