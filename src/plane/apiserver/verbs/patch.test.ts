import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import {
  configMapManifest,
  configMapsPath,
  definitionsPath,
  podGroupDefinition,
  podGroupManifest,
  podGroupsPath,
  podManifest,
  podsPath,
} from '../testing/manifests.ts';

const path = `${configMapsPath}/settings`;

async function withSettings(): Promise<ApiClient> {
  const client = new ApiClient();
  await client.mustCreate(configMapsPath, configMapManifest('settings', { a: '1', b: '2' }));
  return client;
}

describe('patch', () => {
  it('applies a JSON patch, or none of it if a test fails', async () => {
    const client = await withSettings();
    const operations = [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'replace', path: '/data/a', value: '9' },
    ];
    expect((await client.patch(path, 'json', operations)).body.data).toEqual({ a: '9', b: '2' });
    const again = await client.patch(path, 'json', operations);
    expect(again.status).toBe(422);
    expect((await client.patch(path, 'json', { not: 'a list' })).status).toBe(400);
    expect((await client.get(path)).body.data.a).toBe('9');
  });

  it('applies a merge patch, in which null removes a field', async () => {
    const client = await withSettings();
    expect((await client.patch(path, 'merge', { data: { a: null, c: '3' } })).body.data).toEqual({ b: '2', c: '3' });
  });

  it('applies a strategic merge patch to built-in kinds only', async () => {
    const client = new ApiClient();
    await client.mustCreate(podsPath, podManifest('p'));
    const patched = await client.patch(`${podsPath}/p`, 'strategic', {
      spec: { containers: [{ name: 'main', image: 'example.test/app:2' }] },
    });
    expect(patched.status).toBe(200);
    expect(patched.body.spec.containers).toHaveLength(1);
    expect(patched.body.spec.containers[0]).toMatchObject({
      image: 'example.test/app:2',
      imagePullPolicy: 'IfNotPresent',
    });

    await client.mustCreate(definitionsPath, podGroupDefinition());
    await client.mustCreate(podGroupsPath, podGroupManifest('red'));
    const rejected = await client.patch(`${podGroupsPath}/red`, 'strategic', { spec: { minMember: 3 } });
    expect(rejected.status).toBe(415);
    expect(rejected.body.message).toContain('application/json-patch+json, application/merge-patch+json');
    expect(rejected.body.message).not.toContain('strategic');
  });

  it('returns 409 if the patch has an old resource version', async () => {
    const client = await withSettings();
    const answer = await client.patch(path, 'merge', { metadata: { resourceVersion: '1' }, data: { a: '5' } });
    expect(answer.status).toBe(409);
    expect((await client.get(path)).body.data.a).toBe('1');
  });

  it('cannot change the name, namespace or UID of an object', async () => {
    const client = await withSettings();
    for (const metadata of [{ name: 'other' }, { name: null }, { namespace: 'kube-system' }]) {
      expect((await client.patch(path, 'merge', { metadata })).status).toBe(400);
    }
    expect((await client.patch(path, 'merge', { metadata: { uid: 'other' } })).status).toBe(422);
  });

  it('writes nothing if the patch changes nothing', async () => {
    const client = await withSettings();
    const before = client.server.resourceVersion;
    expect((await client.patch(path, 'merge', { data: { a: '1' } })).status).toBe(200);
    expect(client.server.resourceVersion).toBe(before);
  });

  it('validates fields according to fieldValidation', async () => {
    const client = await withSettings();
    const headers = { 'content-type': 'application/merge-patch+json' };
    const strict = await client.send('PATCH', `${path}?fieldValidation=Strict`, { dta: {} }, headers);
    expect(strict.status).toBe(422);
    expect(strict.body.message).toContain('unknown field "dta"');
    const warned = await client.send('PATCH', path, { dta: {} }, headers);
    expect(warned.headers.warning).toBe('299 - "unknown field \\"dta\\""');
    expect(warned.body).not.toHaveProperty('dta');
  });

  it('returns 404 for an object that does not exist', async () => {
    expect((await new ApiClient().patch(path, 'merge', {})).status).toBe(404);
  });

  it('does not change earlier versions of the object', async () => {
    const client = await withSettings();
    const query = `watch=true&resourceVersion=${client.server.resourceVersion}`;
    const watch = await client.watch(`${configMapsPath}?${query}`);
    await client.patch(path, 'json', [{ op: 'add', path: '/data/c', value: '3' }]);
    await client.patch(path, 'json', [{ op: 'remove', path: '/data/a' }]);
    const states = [await watch.next(), await watch.next()].map((event) => event?.object.data as object);
    expect(states).toEqual([
      { a: '1', b: '2', c: '3' },
      { b: '2', c: '3' },
    ]);
  });
});
