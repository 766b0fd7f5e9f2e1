import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { bindingManifest, configMapManifest, podManifest } from '../testing/manifests.ts';

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };

describe('namespaces', () => {
  it('include the four of every cluster, which cannot be deleted', async () => {
    const client = new ApiClient();
    const list = (await client.get('/api/v1/namespaces')).body.items as { metadata: { name: string } }[];
    expect(list.map((each) => each.metadata.name)).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
    const answer = await client.delete('/api/v1/namespaces/default');
    expect(answer.status).toBe(403);
    expect(answer.body.message).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
  });

  it('start active and labeled with their name', async () => {
    const client = new ApiClient();
    const stored = await client.mustCreate('/api/v1/namespaces', namespace);
    expect(stored).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'team' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    expect((await client.create('/api/v1/namespaces', { metadata: { name: 'a.b' } })).status).toBe(422);
  });

  it('reject new objects during their deletion, and are removed after their last object', async () => {
    const client = new ApiClient();
    await client.mustCreate('/api/v1/namespaces', namespace);
    await client.mustCreate('/api/v1/namespaces/team/configmaps', configMapManifest('a'));
    await client.mustCreate('/api/v1/namespaces/team/pods', podManifest('p'));
    await client.create('/api/v1/namespaces/team/pods/p/binding', bindingManifest('p', 'n1'));
    const answer = await client.delete('/api/v1/namespaces/team');
    expect(answer.body.status.phase).toBe('Terminating');
    client.clock.advance(0);
    expect((await client.get('/api/v1/namespaces/team/configmaps/a')).status).toBe(404);
    expect((await client.get('/api/v1/namespaces/team/pods/p')).body.metadata.deletionTimestamp).toBeDefined();
    const rejected = await client.create('/api/v1/namespaces/team/configmaps', configMapManifest('b'));
    expect(rejected.status).toBe(403);
    expect(rejected.body.message).toContain('because it is being terminated');
    expect((await client.get('/api/v1/namespaces/team')).status).toBe(200);
    await client.delete('/api/v1/namespaces/team/pods/p', { gracePeriodSeconds: 0 });
    client.clock.advance(0);
    expect((await client.get('/api/v1/namespaces/team')).status).toBe(404);
  });
});
