import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import type { Answer } from '../testing/api-client.ts';
import { bindingManifest, configMapManifest, configMapsPath, podManifest, podsPath } from '../testing/manifests.ts';

function names(answer: Answer): string[] {
  return (answer.body.items as { metadata: { name: string } }[]).map((item) => item.metadata.name);
}

async function withMaps(...mapNames: string[]): Promise<ApiClient> {
  const client = new ApiClient();
  for (const name of mapNames) await client.mustCreate(configMapsPath, configMapManifest(name));
  return client;
}

describe('list', () => {
  it('sorts by namespace and name, and returns the resource version', async () => {
    const client = await withMaps('b', 'a');
    await client.mustCreate('/api/v1/namespaces/kube-system/configmaps', configMapManifest('0'));
    const all = await client.get('/api/v1/configmaps');
    expect(all.body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(names(all)).toEqual(['a', 'b', '0']);
    expect(all.body.metadata.resourceVersion).toBe(String(client.server.resourceVersion));
    expect(names(await client.get(configMapsPath))).toEqual(['a', 'b']);
  });

  it('returns all objects regardless of the limit', async () => {
    const client = await withMaps('a', 'b', 'c');
    const list = await client.get(`${configMapsPath}?limit=2`);
    expect(names(list)).toEqual(['a', 'b', 'c']);
    expect(list.body.metadata).not.toHaveProperty('continue');
    expect((await client.get(`${configMapsPath}?limit=2&continue=token`)).status).toBe(400);
  });

  it('rejects an exact resource version', async () => {
    const client = await withMaps('a');
    const { resourceVersion } = client.server;
    const exact = await client.get(`${configMapsPath}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
    expect(exact.status).toBe(422);
  });

  it('returns 504 for a resource version in the future', async () => {
    const answer = await new ApiClient().get(`${configMapsPath}?resourceVersion=999999`);
    expect(answer.status).toBe(504);
    expect(answer.body).toMatchObject({
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
    });
  });

  it.each(['resourceVersionMatch=Exact', 'sendInitialEvents=true', 'resourceVersion=1&resourceVersionMatch=Nearly'])(
    'rejects unsupported or contradictory options: %s',
    async (query) => {
      expect((await new ApiClient().get(`${configMapsPath}?${query}`)).status).toBe(422);
    },
  );

  it('selects by labels', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('red', {}, { labels: { team: 'red', size: 'big' } }));
    await client.mustCreate(configMapsPath, configMapManifest('blue', {}, { labels: { team: 'blue' } }));
    await client.mustCreate(configMapsPath, configMapManifest('plain'));
    const select = async (selector: string): Promise<string[]> =>
      names(await client.get(`${configMapsPath}?labelSelector=${encodeURIComponent(selector)}`));
    expect(await select('team=red')).toEqual(['red']);
    expect(await select('team!=red')).toEqual(['blue', 'plain']);
    expect(await select('team in (red, blue),!size')).toEqual(['blue']);
    expect(await select('team notin (red)')).toEqual(['blue', 'plain']);
    expect(await select('size')).toEqual(['red']);
    expect((await client.get(`${configMapsPath}?labelSelector=${encodeURIComponent('a b c')}`)).status).toBe(400);
  });

  it('selects pods by supported fields, and rejects other fields', async () => {
    const client = new ApiClient();
    for (const name of ['p1', 'p2', 'p3']) await client.mustCreate(podsPath, podManifest(name));
    await client.create(`${podsPath}/p2/binding`, bindingManifest('p2', 'n1'));
    expect(names(await client.get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1'))).toEqual(['p2']);
    expect(names(await client.get('/api/v1/pods?fieldSelector=spec.nodeName%3D'))).toEqual(['p1', 'p3']);
    expect(names(await client.get(`${podsPath}?fieldSelector=metadata.name%3Dp3,status.phase!%3DFailed`))).toEqual([
      'p3',
    ]);
    const rejected = await client.get(`${podsPath}?fieldSelector=spec.hostname%3Dx`);
    expect(rejected.status).toBe(400);
    expect(rejected.body.message).toContain('field label not supported: spec.hostname');
  });

  it('returns whole objects to a client that prefers metadata, and 406 to a client that accepts nothing else', async () => {
    const client = await withMaps('a');
    const metadata = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    expect((await client.get(configMapsPath, `${metadata},application/json`)).body.kind).toBe('ConfigMapList');
    expect((await client.get(configMapsPath, metadata)).status).toBe(406);
    expect((await client.get(configMapsPath, 'application/vnd.kubernetes.protobuf')).status).toBe(406);
  });
});
