import { describe, expect, it } from 'vitest';
import { ApiClient } from '../../testing/api-client.ts';
import { bindingManifest, podManifest, podsPath } from '../../testing/manifests.ts';

const path = `${podsPath}/p/binding`;

async function withPod(spec = {}): Promise<{ client: ApiClient; pod: any }> {
  const client = new ApiClient();
  return { client, pod: await client.mustCreate(podsPath, podManifest('p', spec, { annotations: { old: 'kept' } })) };
}

describe('binding', () => {
  it('sets the node, the annotations and the condition in one write', async () => {
    const { client, pod } = await withPod();
    const watch = await client.watch(`${podsPath}?watch=true&resourceVersion=${pod.metadata.resourceVersion}`);
    const answer = await client.create(
      path,
      bindingManifest('p', 'n1', { uid: pod.metadata.uid, annotations: { plan: '1' } }),
    );
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success' });
    const bound = (await watch.next())?.object;
    expect(bound.spec.nodeName).toBe('n1');
    expect(bound.metadata.annotations).toEqual({ old: 'kept', plan: '1' });
    expect(bound.metadata.generation).toBe(1);
    expect(bound.status.conditions).toEqual([
      { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' },
    ]);
    expect(Number(bound.metadata.resourceVersion)).toBe(client.server.resourceVersion);
  });

  it('replaces the Unschedulable condition', async () => {
    const { client } = await withPod();
    await client.patch(`${podsPath}/p/status`, 'strategic', {
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
    });
    await client.create(path, bindingManifest('p', 'n1'));
    const { conditions } = (await client.get(`${podsPath}/p`)).body.status;
    expect(conditions).toHaveLength(1);
    expect(conditions[0]).toMatchObject({ type: 'PodScheduled', status: 'True' });
    expect(conditions[0]).not.toHaveProperty('reason');
  });

  it('rejects a bound pod', async () => {
    const { client } = await withPod();
    await client.create(path, bindingManifest('p', 'n1'));
    const answer = await client.create(path, bindingManifest('p', 'n2'));
    expect(answer.status).toBe(409);
    expect(answer.body.message).toContain('pod p is already assigned to node "n1"');
    expect((await client.get(`${podsPath}/p`)).body.spec.nodeName).toBe('n1');
  });

  it('rejects a different UID', async () => {
    const { client } = await withPod();
    const answer = await client.create(path, bindingManifest('p', 'n1', { uid: 'of-a-deleted-pod' }));
    expect(answer.status).toBe(409);
    expect(answer.body.reason).toBe('Conflict');
    expect((await client.get(`${podsPath}/p`)).body.spec).not.toHaveProperty('nodeName');
  });

  it('rejects a gated pod', async () => {
    const { client } = await withPod({ schedulingGates: [{ name: 'wait' }] });
    const answer = await client.create(path, bindingManifest('p', 'n1'));
    expect(answer.status).toBe(409);
    expect(answer.body.message).toContain('non-empty .spec.schedulingGates');
  });

  it('rejects a pod that is being deleted', async () => {
    const { client } = await withPod();
    await client.patch(`${podsPath}/p`, 'merge', { metadata: { finalizers: ['example.test/hold'] } });
    await client.delete(`${podsPath}/p`);
    const answer = await client.create(path, bindingManifest('p', 'n1'));
    expect(answer.status).toBe(409);
    expect(answer.body.message).toContain('is being deleted, cannot be assigned to a host');
  });

  it('rejects a Binding with a different or unknown pod name, without a node, or with a target that is not a Node', async () => {
    const { client } = await withPod();
    expect((await client.create(path, bindingManifest('q', 'n1'))).status).toBe(400);
    expect((await client.create(path, bindingManifest('p', ''))).status).toBe(422);
    expect(
      (await client.create(path, { ...bindingManifest('p', 'n1'), target: { kind: 'Pod', name: 'x' } })).status,
    ).toBe(422);
    expect((await client.create(`${podsPath}/q/binding`, bindingManifest('q', 'n1'))).status).toBe(404);
    expect((await client.get(path)).status).toBe(405);
  });

  it('binds nothing in a dry run', async () => {
    const { client } = await withPod();
    expect((await client.create(`${path}?dryRun=All`, bindingManifest('p', 'n1'))).status).toBe(201);
    expect((await client.get(`${podsPath}/p`)).body.spec).not.toHaveProperty('nodeName');
  });
});

describe('eviction', () => {
  it('deletes the pod gracefully', async () => {
    const { client } = await withPod();
    await client.create(path, bindingManifest('p', 'n1'));
    const answer = await client.create(`${podsPath}/p/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p', namespace: 'default' },
      deleteOptions: { gracePeriodSeconds: 7 },
    });
    expect(answer.status).toBe(201);
    expect((await client.get(`${podsPath}/p`)).body.metadata.deletionGracePeriodSeconds).toBe(7);
  });
});
