import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const labels = { app: 'web' };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main:1' }] } },
  },
};

describe('the scale of a Deployment', () => {
  it('can be read, patched and replaced, as kubectl scale does', async () => {
    const client = new ApiClient();
    await client.mustCreate(deployments, deployment);
    const scale = await client.get(`${deployments}/web/scale`);
    expect(scale.body).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 2 } });
    const patched = await client.patch(`${deployments}/web/scale`, 'merge', { spec: { replicas: 3 } });
    expect(patched.body).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
    expect((await client.replace(`${deployments}/web/scale`, scale.body)).status).toBe(409);
    expect((await client.replace(`${deployments}/web/scale`, { ...patched.body, spec: { replicas: 1 } })).status).toBe(
      200,
    );
    expect((await client.get(`${deployments}/web`)).body).toMatchObject({
      metadata: { generation: 3 },
      spec: { replicas: 1 },
    });
  });

  it('cannot be negative, and exists for workloads only', async () => {
    const client = new ApiClient();
    await client.mustCreate(deployments, deployment);
    expect((await client.patch(`${deployments}/web/scale`, 'merge', { spec: { replicas: -1 } })).status).toBe(422);
    expect((await client.get('/api/v1/namespaces/default/scale')).status).toBe(404);
  });
});
