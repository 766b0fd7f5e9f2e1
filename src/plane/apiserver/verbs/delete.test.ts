import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { bindingManifest, configMapManifest, configMapsPath, podManifest, podsPath } from '../testing/manifests.ts';

const path = `${configMapsPath}/settings`;

function owner(object: { metadata: { name: string; uid: string } }): Record<string, string> {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: object.metadata.name, uid: object.metadata.uid };
}

describe('delete', () => {
  it('removes the object and returns a Status that names it', async () => {
    const client = new ApiClient();
    const stored = await client.mustCreate(configMapsPath, configMapManifest('settings'));
    const answer = await client.delete(path, { propagationPolicy: 'Background' });
    expect(answer.body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'settings', kind: 'configmaps', uid: stored.metadata.uid },
    });
    expect((await client.get(path)).status).toBe(404);
    expect((await client.delete(path)).status).toBe(404);
  });

  it('honors preconditions and dry runs', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('settings'));
    expect((await client.delete(path, { preconditions: { uid: 'another' } })).status).toBe(409);
    expect((await client.delete(path, { preconditions: { resourceVersion: '1' } })).status).toBe(409);
    expect((await client.delete(path, { dryRun: ['All'] })).status).toBe(200);
    expect((await client.delete(`${path}?dryRun=All`)).status).toBe(200);
    expect((await client.get(path)).status).toBe(200);
  });

  it('rejects a propagation policy that it does not support', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('settings'));
    const answer = await client.delete(path, { propagationPolicy: 'Foreground' });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('supported values: "Background", "Orphan"');
  });

  it('keeps an object with a deletion timestamp until its last finalizer is removed', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('settings', {}, { finalizers: ['example.test/hold'] }));
    const watch = await client.watch(`${configMapsPath}?watch=true`);
    const answer = await client.delete(path);
    expect(answer.body.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    });
    expect((await client.delete(path)).status).toBe(200);
    const added = await client.patch(path, 'merge', {
      metadata: { finalizers: ['example.test/hold', 'example.test/more'] },
    });
    expect(added.status).toBe(422);
    expect((await client.patch(path, 'merge', { metadata: { finalizers: null } })).status).toBe(200);
    expect((await client.get(path)).status).toBe(404);
    expect(await watch.nextNames(3)).toEqual(['ADDED settings', 'MODIFIED settings', 'DELETED settings']);
  });

  it('does not delete collections', async () => {
    const answer = await new ApiClient().delete(configMapsPath);
    expect(answer).toMatchObject({ status: 405, body: { message: expect.stringContaining('by its name') } });
  });

  describe('of a pod', () => {
    async function withBoundPod(): Promise<ApiClient> {
      const client = new ApiClient();
      await client.mustCreate(podsPath, podManifest('p'));
      await client.create(`${podsPath}/p/binding`, bindingManifest('p', 'n1'));
      return client;
    }

    it('removes an unbound pod at once, without its grace period', async () => {
      const client = new ApiClient();
      await client.mustCreate(podsPath, podManifest('p'));
      const answer = await client.delete(`${podsPath}/p`);
      expect(answer.body.kind).toBe('Pod');
      expect((await client.get(`${podsPath}/p`)).status).toBe(404);
    });

    it('marks a bound pod and waits for its node to terminate it', async () => {
      const client = await withBoundPod();
      const answer = await client.delete(`${podsPath}/p`);
      expect(answer.body.metadata).toMatchObject({
        deletionTimestamp: '2026-01-01T00:00:30Z',
        deletionGracePeriodSeconds: 30,
        generation: 2,
      });
      expect(
        (await client.delete(`${podsPath}/p`, { gracePeriodSeconds: 60 })).body.metadata.deletionGracePeriodSeconds,
      ).toBe(30);
      expect(
        (await client.delete(`${podsPath}/p`, { gracePeriodSeconds: 5 })).body.metadata.deletionGracePeriodSeconds,
      ).toBe(5);
      await client.delete(`${podsPath}/p`, { gracePeriodSeconds: 0 });
      expect((await client.get(`${podsPath}/p`)).status).toBe(404);
    });

    it('removes a finished pod at once', async () => {
      const client = await withBoundPod();
      await client.patch(`${podsPath}/p/status`, 'merge', { status: { phase: 'Succeeded' } });
      await client.delete(`${podsPath}/p`);
      expect((await client.get(`${podsPath}/p`)).status).toBe(404);
    });

    it('keeps a pod with finalizers, even after its grace period', async () => {
      const client = await withBoundPod();
      await client.patch(`${podsPath}/p`, 'merge', { metadata: { finalizers: ['example.test/hold'] } });
      await client.delete(`${podsPath}/p`, { gracePeriodSeconds: 0 });
      expect((await client.get(`${podsPath}/p`)).body.metadata.deletionGracePeriodSeconds).toBe(0);
      await client.patch(`${podsPath}/p`, 'merge', { metadata: { finalizers: null } });
      expect((await client.get(`${podsPath}/p`)).status).toBe(404);
    });
  });

  describe('of an owner', () => {
    it('deletes dependents without another owner right after the request', async () => {
      const client = new ApiClient();
      const first = await client.mustCreate(configMapsPath, configMapManifest('first'));
      const second = await client.mustCreate(configMapsPath, configMapManifest('second'));
      await client.mustCreate(configMapsPath, configMapManifest('alone', {}, { ownerReferences: [owner(first)] }));
      await client.mustCreate(
        configMapsPath,
        configMapManifest('shared', {}, { ownerReferences: [owner(first), owner(second)] }),
      );
      await client.delete(`${configMapsPath}/first`);
      expect((await client.get(`${configMapsPath}/alone`)).status).toBe(200);
      client.clock.advance(0);
      expect((await client.get(`${configMapsPath}/alone`)).status).toBe(404);
      expect((await client.get(`${configMapsPath}/shared`)).status).toBe(200);
      await client.delete(`${configMapsPath}/second`);
      client.clock.advance(0);
      expect((await client.get(`${configMapsPath}/shared`)).status).toBe(404);
    });

    it('deletes objects that are created later and name only the deleted owner', async () => {
      const client = new ApiClient();
      const first = await client.mustCreate(configMapsPath, configMapManifest('first'));
      const second = await client.mustCreate(configMapsPath, configMapManifest('second'));
      await client.delete(`${configMapsPath}/first`);
      const unknown = { ...owner(first), uid: '00000000-0000-0000-0000-000000000000' };
      const owners = { late: [owner(first)], shared: [owner(first), owner(second)], foreign: [unknown] };
      for (const [name, ownerReferences] of Object.entries(owners)) {
        await client.mustCreate(configMapsPath, configMapManifest(name, {}, { ownerReferences }));
      }
      client.clock.advance(0);
      const left = Object.keys(owners).map(async (name) => (await client.get(`${configMapsPath}/${name}`)).status);
      expect(await Promise.all(left)).toEqual([404, 200, 200]);
    });

    it('keeps the dependents and removes their owner reference if the policy is Orphan', async () => {
      const client = new ApiClient();
      const first = await client.mustCreate(configMapsPath, configMapManifest('first'));
      await client.mustCreate(configMapsPath, configMapManifest('child', {}, { ownerReferences: [owner(first)] }));
      await client.delete(`${configMapsPath}/first`, { propagationPolicy: 'Orphan' });
      client.clock.advance(0);
      expect((await client.get(`${configMapsPath}/child`)).body.metadata.ownerReferences).toEqual([]);
    });
  });
});
