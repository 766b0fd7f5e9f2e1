import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';

const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

const lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'tutti' },
  spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.123456Z' },
};

describe('Leases', () => {
  it('keep microseconds and reject updates with an old resource version', async () => {
    const client = new ApiClient();
    const stored = await client.mustCreate(path, lease);
    expect(stored.spec.renewTime).toBe('2026-01-01T00:00:00.123456Z');
    const updated = await client.replace(`${path}/tutti`, {
      ...stored,
      spec: { ...lease.spec, holderIdentity: 'two' },
    });
    expect(updated.body.spec.holderIdentity).toBe('two');
    const late = await client.replace(`${path}/tutti`, { ...stored, spec: { ...lease.spec, holderIdentity: 'three' } });
    expect(late.status).toBe(409);
  });

  it('are rejected if the duration is not positive', async () => {
    const answer = await new ApiClient().create(path, { ...lease, spec: { leaseDurationSeconds: 0 } });
    expect(answer.body.details.causes[0].field).toBe('spec.leaseDurationSeconds');
  });

  it('have a column with their holder', async () => {
    const client = new ApiClient();
    await client.mustCreate(path, lease);
    const { rows } = (await client.get(path, 'application/json;as=Table;v=v1;g=meta.k8s.io')).body;
    expect(rows[0].cells).toEqual(['tutti', 'one', '0s']);
  });
});
