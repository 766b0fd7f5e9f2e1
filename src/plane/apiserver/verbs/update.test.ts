import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { configMapManifest, configMapsPath, nodeManifest } from '../testing/manifests.ts';

const path = `${configMapsPath}/settings`;

async function withSettings(): Promise<{ client: ApiClient; stored: any }> {
  const client = new ApiClient();
  return { client, stored: await client.mustCreate(configMapsPath, configMapManifest('settings', { a: '1' })) };
}

describe('update', () => {
  it('replaces the object if the resource version matches', async () => {
    const { client, stored } = await withSettings();
    const answer = await client.replace(path, { ...stored, data: { a: '2' } });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ a: '2' });
    expect(Number(answer.body.metadata.resourceVersion)).toBeGreaterThan(Number(stored.metadata.resourceVersion));
    expect(answer.body.metadata.uid).toBe(stored.metadata.uid);
  });

  it('rejects a stale resource version', async () => {
    const { client, stored } = await withSettings();
    await client.replace(path, { ...stored, data: { a: '2' } });
    const answer = await client.replace(path, { ...stored, data: { a: '3' } });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "settings": the object has been modified; please apply your changes to the latest version and try again',
    });
    expect((await client.get(path)).body.data).toEqual({ a: '2' });
  });

  it('overwrites the object if the request has no resource version', async () => {
    const { client } = await withSettings();
    expect((await client.replace(path, configMapManifest('settings', { a: '2' }))).status).toBe(200);
  });

  it('rejects a different UID or name, and keeps the creation time', async () => {
    const { client } = await withSettings();
    const uid = await client.replace(path, configMapManifest('settings', {}, { uid: 'another' }));
    expect(uid.status).toBe(409);
    expect(uid.body.message).toContain('Precondition failed: UID in precondition: another');
    expect((await client.replace(path, configMapManifest('other'))).status).toBe(400);
    const created = configMapManifest('settings', {}, { creationTimestamp: '1999-01-01T00:00:00Z' });
    expect((await client.replace(path, created)).body.metadata.creationTimestamp).toBe('2026-01-01T00:00:00Z');
  });

  it('writes nothing if nothing changes', async () => {
    const { client, stored } = await withSettings();
    const watch = await client.watch(`${configMapsPath}?watch=true&resourceVersion=${stored.metadata.resourceVersion}`);
    const answer = await client.replace(path, configMapManifest('settings', { a: '1' }));
    expect(answer.body.metadata.resourceVersion).toBe(stored.metadata.resourceVersion);
    await client.mustCreate(configMapsPath, configMapManifest('next'));
    expect(await watch.nextNames(1)).toEqual(['ADDED next']);
  });

  it('returns 404 for an object that does not exist', async () => {
    const answer = await new ApiClient().replace(path, configMapManifest('settings'));
    expect(answer.status).toBe(404);
  });

  it('keeps the status when the main resource is written, and the rest when the status is written', async () => {
    const client = new ApiClient();
    await client.mustCreate('/api/v1/nodes', nodeManifest('n1'));
    const main = await client.replace('/api/v1/nodes/n1', {
      ...nodeManifest('n1'),
      spec: { unschedulable: true },
      status: { capacity: { cpu: '64' } },
    });
    expect(main.body.spec.unschedulable).toBe(true);
    expect(main.body.status.capacity.cpu).toBe('4');
    const status = await client.replace('/api/v1/nodes/n1/status', {
      ...nodeManifest('n1'),
      spec: {},
      status: { capacity: { cpu: '64' } },
    });
    expect(status.body.spec.unschedulable).toBe(true);
    expect(status.body.status.capacity).toEqual({ cpu: '64' });
  });
});

describe('times', () => {
  it('are normalized, so that a different notation is not a change', async () => {
    const { client, stored } = await withSettings();
    const metadata = { ...stored.metadata, creationTimestamp: '2026-01-01T02:00:00.000+02:00' };
    const answer = await client.replace(path, { ...stored, metadata });
    expect(answer.status).toBe(200);
    expect(answer.body.metadata).toEqual(stored.metadata);
  });
});
