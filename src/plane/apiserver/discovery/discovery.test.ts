import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { definitionsPath, podGroupDefinition } from '../testing/manifests.ts';

describe('discovery', () => {
  it('lists groups, versions and resources, also to clients that prefer aggregated discovery', async () => {
    const client = new ApiClient();
    expect((await client.get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
    const groups = (await client.get('/apis', aggregated)).body.groups as { name: string }[];
    expect(groups.map((group) => group.name)).toContain('coordination.k8s.io');
    const list = (await client.get('/api/v1')).body as { kind: string; resources: { name: string }[] };
    expect(list.kind).toBe('APIResourceList');
    expect(list.resources.map((each) => each.name)).toEqual(expect.arrayContaining(['pods', 'pods/binding']));
  });

  it('lists a custom resource while its CRD exists', async () => {
    const client = new ApiClient();
    expect((await client.get('/apis/scheduling.x-k8s.io/v1alpha1')).status).toBe(404);
    await client.mustCreate(definitionsPath, podGroupDefinition());
    expect((await client.get('/apis/scheduling.x-k8s.io/v1alpha1')).body.resources[0]).toMatchObject({
      name: 'podgroups',
      singularName: 'podgroup',
      shortNames: ['pg', 'pgs'],
      categories: ['gangs'],
    });
    await client.delete(`${definitionsPath}/podgroups.scheduling.x-k8s.io`);
    client.clock.advance(0);
    expect((await client.get('/apis/scheduling.x-k8s.io/v1alpha1')).status).toBe(404);
  });

  it('serves its version and its health', async () => {
    const client = new ApiClient();
    expect((await client.get('/version?timeout=32s')).body).toMatchObject({ major: '1', minor: '34' });
    for (const path of ['/healthz', '/livez', '/readyz']) expect((await client.get(path)).body).toBe('ok');
  });

  it.each(['/api/v2', '/apis/no.such/v1/things'])(
    'returns a plain-text 404 for %s, an unknown version or group',
    async (path) => {
      const { status, body } = await new ApiClient().get(path);
      expect({ status, body }).toEqual({ status: 404, body: '404 page not found\n' });
    },
  );

  it.each(['/apis/rbac.authorization.k8s.io/v1/roles', '/apis/autoscaling/v2/horizontalpodautoscalers'])(
    'says that it does not serve %s of a group that Kubernetes has',
    async (path) => {
      const { status, body } = await new ApiClient().get(path);
      expect(status).toBe(404);
      expect(body.message).toMatch(/the embedded control plane does not serve \w+ of .*; use a cluster that does$/);
    },
  );

  it('says that it gives no tokens to service accounts', async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const { status, body } = await new ApiClient().create(path, { spec: {} });
    expect(status).toBe(404);
    expect(body.message).toContain('the embedded control plane does not serve serviceaccounts/token of v1');
  });

  it.each(['/nothing', '/api/v1/namespaces/default/things', '/openapi/v2'])(
    'returns a 404 Status for %s',
    async (path) => {
      const answer = await new ApiClient().get(path);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 });
    },
  );
});
