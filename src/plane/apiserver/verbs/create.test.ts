import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { configMapManifest, configMapsPath, nodeManifest, podManifest, podsPath } from '../testing/manifests.ts';

describe('create', () => {
  it('sets the metadata that only the server sets, stores the object and returns 201', async () => {
    const client = new ApiClient();
    const metadata = { uid: 'mine', creationTimestamp: '1999-01-01T00:00:00Z', managedFields: [] };
    const answer = await client.create(configMapsPath, configMapManifest('settings', { a: 'b' }, metadata));
    expect(answer.status).toBe(201);
    expect(answer.body.metadata).toMatchObject({
      name: 'settings',
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
      uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      resourceVersion: String(client.server.resourceVersion),
    });
    expect(answer.body.metadata).not.toHaveProperty('generation');
    expect(answer.body.metadata).not.toHaveProperty('managedFields');
    expect((await client.get(`${configMapsPath}/settings`)).body).toEqual(answer.body);
  });

  it('rejects a second object with the same name', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('settings'));
    const answer = await client.create(configMapsPath, configMapManifest('settings'));
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      reason: 'AlreadyExists',
      message: 'configmaps "settings" already exists',
      details: { name: 'settings', kind: 'configmaps' },
    });
  });

  it('generates unique names from a prefix', async () => {
    const client = new ApiClient();
    const first = await client.mustCreate(configMapsPath, { metadata: { generateName: 'job-' } });
    const second = await client.mustCreate(configMapsPath, { metadata: { generateName: 'job-' } });
    expect(first.metadata.name).toMatch(/^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(second.metadata.name).not.toBe(first.metadata.name);
  });

  it.each([
    ['no name', {}, 'metadata.name', 'FieldValueRequired'],
    ['a name with capitals', { name: 'Settings' }, 'metadata.name', 'FieldValueInvalid'],
    ['a label value with a space', { name: 'a', labels: { x: 'y z' } }, 'metadata.labels', 'FieldValueInvalid'],
    [
      'an owner without uid',
      { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] },
      'metadata.ownerReferences[0].uid',
      'FieldValueRequired',
    ],
  ])('rejects %s and names the field', async (_case, metadata, field, reason) => {
    const answer = await new ApiClient().create(configMapsPath, { metadata });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      reason: 'Invalid',
      details: { kind: 'ConfigMap', causes: [{ field, reason }] },
    });
  });

  it('rejects a namespace that does not exist or differs from the path', async () => {
    const client = new ApiClient();
    const missing = await client.create('/api/v1/namespaces/nowhere/configmaps', configMapManifest('a'));
    expect(missing.status).toBe(404);
    expect(missing.body.message).toBe('namespaces "nowhere" not found');
    const other = await client.create(configMapsPath, configMapManifest('a', {}, { namespace: 'kube-system' }));
    expect(other.status).toBe(400);
  });

  it('rejects an object of another kind', async () => {
    const answer = await new ApiClient().create(configMapsPath, podManifest('a'));
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('must be of type ConfigMap');
  });

  it('does not store the object in a dry run', async () => {
    const client = new ApiClient();
    const before = client.server.resourceVersion;
    const answer = await client.create(`${podsPath}?dryRun=All`, podManifest('p'));
    expect(answer.status).toBe(201);
    expect(answer.body.spec.schedulerName).toBe('default-scheduler');
    expect(client.server.resourceVersion).toBe(before);
    expect((await client.get(`${podsPath}/p`)).status).toBe(404);
    expect((await client.create(`${podsPath}?dryRun=Some`, podManifest('p'))).status).toBe(422);
  });

  describe('field validation', () => {
    const text =
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeNam":"x","containers":[{"name":"c","name":"c","image":"i","imag":"i"}]}}';
    const json = { 'content-type': 'application/json' };

    it('rejects all unknown fields in one error if Strict', async () => {
      const answer = await new ApiClient().send('POST', `${podsPath}?fieldValidation=Strict`, text, json);
      expect(answer.status).toBe(400);
      expect(answer.body.message).toBe(
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.nodeNam", unknown field "spec.containers[0].imag"',
      );
    });

    it('drops unknown fields with a warning by default', async () => {
      const client = new ApiClient();
      const answer = await client.send('POST', podsPath, text, json);
      expect(answer.status).toBe(201);
      expect(answer.headers.warning).toContain('299 - "unknown field \\"spec.nodeNam\\""');
      expect(answer.body.spec).not.toHaveProperty('nodeNam');
      expect(answer.body.spec.containers[0]).not.toHaveProperty('imag');
    });

    it('drops unknown fields without a warning if Ignore', async () => {
      const answer = await new ApiClient().send('POST', `${podsPath}?fieldValidation=Ignore`, text, json);
      expect(answer.status).toBe(201);
      expect(answer.headers).not.toHaveProperty('warning');
    });

    it('rejects a value of the wrong type even if Ignore', async () => {
      const manifest = podManifest('p', { activeDeadlineSeconds: 'soon' });
      const answer = await new ApiClient().create(`${podsPath}?fieldValidation=Ignore`, manifest);
      expect(answer.status).toBe(400);
      expect(answer.body.message).toContain('spec.activeDeadlineSeconds');
    });
  });

  it.each([
    ['text/plain', 'accepted media types include: application/json'],
    ['application/yaml', 'kubectl apply'],
  ])('rejects a body of type %s and names a remedy', async (contentType, remedy) => {
    const answer = await new ApiClient().send('POST', configMapsPath, 'k8s', { 'content-type': contentType });
    expect(answer.status).toBe(415);
    expect(answer.body.message).toContain(remedy);
  });

  it.each([['{"metadata":'], ['[]'], ['null'], ['['.repeat(20_000) + ']'.repeat(20_000)]])(
    'rejects a body that is not an object (case %#)',
    async (text) => {
      const answer = await new ApiClient().send('POST', configMapsPath, text);
      expect(answer.status).toBe(400);
      expect(answer.body.reason).toBe('BadRequest');
    },
  );

  it('rejects a verb that the path does not support', async () => {
    const client = new ApiClient();
    await client.mustCreate('/api/v1/nodes', nodeManifest('n1'));
    expect((await client.create('/api/v1/nodes/n1', nodeManifest('n1'))).status).toBe(405);
    expect((await client.replace('/api/v1/nodes', nodeManifest('n1'))).status).toBe(405);
    expect((await client.get('/api/v1/namespaces/default/nodes')).status).toBe(404);
  });
});
