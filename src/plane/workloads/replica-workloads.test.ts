import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { isActive } from './workload.ts';
import { startWorkloadsPlane } from './testing/workloads-plane.ts';
import type { WorkloadsPlane } from './testing/workloads-plane.ts';

const newTemplate = { template: { metadata: { labels: { version: '2' } } } };

async function activeNames(plane: WorkloadsPlane): Promise<string[]> {
  return (await plane.pods())
    .filter(isActive)
    .map(({ metadata }) => metadata.name)
    .sort();
}

describe('Deployment and ReplicaSet controllers', () => {
  it('create pods through a ReplicaSet, and report them', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Deployment', 'web', { replicas: 3 });
    await plane.pass(5_000);
    const [set] = await plane.workloads('ReplicaSet');
    const hash = set!.metadata.labels!['pod-template-hash']!;
    expect(set!.metadata).toMatchObject({
      name: `web-${hash}`,
      ownerReferences: [{ kind: 'Deployment', name: 'web', controller: true, blockOwnerDeletion: true }],
    });
    for (const { metadata } of await plane.pods()) {
      expect(metadata.name).toMatch(new RegExp(`^web-${hash}-[a-z0-9]{5}$`));
      expect(metadata.labels).toEqual({ app: 'web', 'pod-template-hash': hash });
    }
    const { status } = await plane.workload('Deployment', 'web');
    expect(status).toMatchObject({
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
    });
    expect(status.conditions.map((each: any) => `${each.type}=${each.status} ${each.reason}`)).toEqual([
      'Available=True MinimumReplicasAvailable',
      'Progressing=True NewReplicaSetAvailable',
    ]);
  });

  it('replace the pods when the template changes, and delete the ReplicaSet of the old template', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Deployment', 'web', { replicas: 2 });
    await plane.pass(5_000);
    const before = await activeNames(plane);
    await plane.patchSpec('Deployment', 'web', newTemplate);
    await plane.pass(5_000);
    const after = await activeNames(plane);
    expect(after).toHaveLength(2);
    expect(after.some((name) => before.includes(name))).toBe(false);
    const sets = await plane.workloads('ReplicaSet');
    expect(sets.map(({ spec }) => [spec.replicas, spec.template.metadata!.labels!.version])).toEqual([[2, '2']]);
  });

  it('create new pods with strategy Recreate only after the old pods are deleted', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Deployment', 'web', { replicas: 2, strategy: { type: 'Recreate' } });
    await plane.pass(5_000);
    await plane.patchSpec('Deployment', 'web', newTemplate);
    for (let step = 0; step < 50; step++) {
      await plane.pass(100);
      const versions = new Set((await plane.pods()).map(({ metadata }) => metadata.labels!.version));
      expect(versions.size).toBeLessThanOrEqual(1);
    }
    expect(await activeNames(plane)).toHaveLength(2);
  });

  it('delete ReplicaSets and pods with the Deployment', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Deployment', 'web', { replicas: 2 });
    await plane.pass(5_000);
    await plane.deleteWorkload('Deployment', 'web');
    await plane.pass(5_000);
    expect([await plane.workloads('ReplicaSet'), await plane.pods()]).toEqual([[], []]);
  });

  it('double the delay before they replace a pod that fails at once', async () => {
    await using plane = await startWorkloadsPlane();
    // The pod requests more than the node has, so the node rejects it.
    const containers = [{ name: 'main', image: 'main', resources: { requests: { cpu: '2000' } } }];
    const template = { metadata: { labels: { app: 'big' } }, spec: { nodeName: 'a', containers } };
    await plane.createWorkload('ReplicaSet', 'big', { replicas: 1, template });
    await plane.pass(65_000);
    expect(await plane.pods()).toHaveLength(3);
  });
});

describe('StatefulSet controller', () => {
  it('creates ordered pods one at a time, and deletes the last one first', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('StatefulSet', 'db', { replicas: 3, serviceName: 'db' });
    const seen: string[] = [];
    for (let step = 0; step < 60; step++) {
      await plane.pass(50);
      seen.push((await activeNames(plane)).join());
    }
    expect([...new Set(seen)].filter((names) => names !== '')).toEqual(['db-0', 'db-0,db-1', 'db-0,db-1,db-2']);
    const [pod] = await plane.pods();
    expect(pod!.metadata.labels).toMatchObject({
      'apps.kubernetes.io/pod-index': '0',
      'statefulset.kubernetes.io/pod-name': 'db-0',
    });
    expect(pod!.spec).toMatchObject({ hostname: 'db-0', subdomain: 'db' });
    const { status } = await plane.workload('StatefulSet', 'db');
    expect(status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
    });
    expect(status.currentRevision).toBe(status.updateRevision);
    await plane.patchSpec('StatefulSet', 'db', { replicas: 1 });
    await plane.pass(5_000);
    expect(await activeNames(plane)).toEqual(['db-0']);
  });

  it('creates all pods of a Parallel set at once', async () => {
    await using plane = await startWorkloadsPlane();
    const unschedulable = { nodeName: null, schedulerName: 'none' };
    await plane.createWorkload('StatefulSet', 'gang', { replicas: 3, podManagementPolicy: 'Parallel' });
    await plane.patchSpec('StatefulSet', 'gang', { template: { spec: unschedulable } });
    await plane.pass(5_000);
    expect(await activeNames(plane)).toEqual(['gang-0', 'gang-1', 'gang-2']);
  });

  it.each(['OrderedReady', 'Parallel'])('replaces the pods of a changed template (%s)', async (podManagementPolicy) => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('StatefulSet', 'db', { replicas: 3, podManagementPolicy });
    await plane.pass(10_000);
    await plane.patchSpec('StatefulSet', 'db', newTemplate);
    await plane.pass(20_000);
    expect((await plane.pods()).map(({ metadata }) => metadata.labels!.version)).toEqual(['2', '2', '2']);
    const { status } = await plane.workload('StatefulSet', 'db');
    expect(status).toMatchObject({ updatedReplicas: 3, readyReplicas: 3, currentRevision: status.updateRevision });
  });

  it('deletes the pods of a deleted StatefulSet', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('StatefulSet', 'db', { replicas: 2 });
    await plane.pass(5_000);
    await plane.deleteWorkload('StatefulSet', 'db');
    await plane.pass(5_000);
    expect(await plane.pods()).toEqual([]);
  });
});

it.each(['Deployment', 'ReplicaSet', 'StatefulSet'])(
  'property: the pods of a %s converge to its replicas, and then the controllers write nothing',
  async (kind) => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('scale' as const), replicas: fc.nat(5) }),
      fc.record({ kind: fc.constant('delete' as const), pod: fc.nat(20) }),
      fc.record({ kind: fc.constant('fail' as const), pod: fc.nat(20) }),
      fc.record({ kind: fc.constant('template' as const), version: fc.nat(2) }),
      fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(3_000) }),
      fc.record({ kind: fc.constant('restart' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(5), fc.array(step, { maxLength: 12 }), async (first, steps) => {
        await using plane = await startWorkloadsPlane();
        let replicas = first;
        await plane.createWorkload(kind, 'web', { replicas });
        for (const each of steps) {
          const pods = await plane.pods();
          const pod = 'pod' in each ? pods[each.pod % Math.max(1, pods.length)] : undefined;
          if (each.kind === 'scale') await plane.patchSpec(kind, 'web', { replicas: (replicas = each.replicas) });
          if (each.kind === 'delete' && pod !== undefined) await plane.deletePod(pod.metadata.name);
          if (each.kind === 'fail' && pod !== undefined)
            await plane.client.patch(`/api/v1/namespaces/default/pods/${pod.metadata.name}/status`, 'merge', {
              status: { phase: 'Failed' },
            });
          if (each.kind === 'template' && kind !== 'ReplicaSet')
            await plane.patchSpec(kind, 'web', { template: { metadata: { labels: { version: `${each.version}` } } } });
          if (each.kind === 'pass') await plane.pass(each.ms);
          if (each.kind === 'restart') await plane.restartControllers();
        }
        await plane.pass(3_600_000);
        expect(await activeNames(plane)).toHaveLength(replicas);
        const { status, metadata } = await plane.workload(kind, 'web');
        expect([status.replicas ?? 0, status.readyReplicas ?? 0]).toEqual([replicas, replicas]);
        expect(status.observedGeneration).toBe(metadata.generation);
        await plane.pass(600_000);
        expect((await plane.workload(kind, 'web')).metadata.resourceVersion).toBe(metadata.resourceVersion);
        expect(plane.controllers.areMoving).toBe(false);
      }),
      { numRuns: 15 },
    );
  },
);
