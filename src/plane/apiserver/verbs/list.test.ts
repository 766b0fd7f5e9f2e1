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
  it('is sorted by namespace and name, and carries the resource version', async () => {
    const client = await withMaps('b', 'a');
    await client.mustCreate('/api/v1/namespaces/kube-system/configmaps', configMapManifest('0'));
    const all = await client.get('/api/v1/configmaps');
    expect(all.body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(names(all)).toEqual(['a', 'b', '0']);
    expect(all.body.metadata.resourceVersion).toBe(String(client.server.resourceVersion));
    expect(names(await client.get(configMapsPath))).toEqual(['a', 'b']);
  });

  it('goes through pages of one snapshot, whatever is written meanwhile', async () => {
    const client = await withMaps('a', 'b', 'c', 'd', 'e');
    const first = await client.get(`${configMapsPath}?limit=2`);
    expect(names(first)).toEqual(['a', 'b']);
    expect(first.body.metadata.remainingItemCount).toBe(3);
    await client.mustCreate(configMapsPath, configMapManifest('bb'));
    await client.delete(`${configMapsPath}/c`);
    const second = await client.get(`${configMapsPath}?limit=2&continue=${first.body.metadata.continue}`);
    expect(names(second)).toEqual(['c', 'd']);
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
    const third = await client.get(`${configMapsPath}?limit=2&continue=${second.body.metadata.continue}`);
    expect(names(third)).toEqual(['e']);
    expect(third.body.metadata).not.toHaveProperty('continue');
  });

  it('does not count what remains when a selector is given', async () => {
    const client = await withMaps('a', 'b', 'c');
    const page = await client.get(`${configMapsPath}?limit=1&fieldSelector=metadata.name!%3Da`);
    expect(names(page)).toEqual(['b']);
    expect(page.body.metadata).not.toHaveProperty('remainingItemCount');
  });

  it('answers 410 to an expired token and 400 to one that is not its own', async () => {
    const client = await withMaps('a', 'b');
    const token = (await client.get(`${configMapsPath}?limit=1`)).body.metadata.continue as string;
    expect((await client.get(`${podsPath}?limit=1&continue=${token}`)).status).toBe(400);
    expect((await client.get(`${configMapsPath}?limit=1&continue=nonsense`)).status).toBe(400);
    client.clock.advance(10 * 60 * 1000);
    const late = await client.get(`${configMapsPath}?limit=1&continue=${token}`);
    expect(late.status).toBe(410);
    expect(late.body.reason).toBe('Expired');
  });

  it('gives the state at an exact resource version, and 410 when that is forgotten', async () => {
    const client = await withMaps('a', 'b');
    const version = client.server.resourceVersion;
    await client.delete(`${configMapsPath}/a`);
    await client.mustCreate(configMapsPath, configMapManifest('c'));
    const exact = `${configMapsPath}?resourceVersion=${version}&resourceVersionMatch=Exact`;
    const past = await client.get(exact);
    expect(names(past)).toEqual(['a', 'b']);
    expect(past.body.metadata.resourceVersion).toBe(String(version));
    expect(
      names(await client.get(`${configMapsPath}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`)),
    ).toEqual(['b', 'c']);
    client.server.forgetHistory();
    expect((await client.get(exact)).status).toBe(410);
  });

  it('answers 504 for a resource version that is still to come', async () => {
    const answer = await new ApiClient().get(`${configMapsPath}?resourceVersion=999999`);
    expect(answer.status).toBe(504);
    expect(answer.body).toMatchObject({
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
    });
  });

  it.each(['resourceVersionMatch=Exact', 'sendInitialEvents=true', 'resourceVersion=1&resourceVersionMatch=Nearly'])(
    'rejects options that do not go together: %s',
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

  it('selects pods by the fields that the kind has, and rejects others', async () => {
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

  it('answers metadata only when asked for it', async () => {
    const client = await withMaps('a');
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const list = await client.get(configMapsPath, accept);
    expect(list.body.kind).toBe('PartialObjectMetadataList');
    expect(Object.keys(list.body.items[0]).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect((await client.get(configMapsPath, 'application/vnd.kubernetes.protobuf')).status).toBe(406);
  });
});
