import { expect, it } from 'vitest';
import { podGroupPath } from '../../api/pod-group.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { expectValidAnswer } from '../../../test/expect/valid-answer.ts';
import { loadClusterState } from '../cluster-state/load-cluster-state.ts';
import { ListedCluster } from '../cluster-state/testing/listed-cluster.ts';
import { openSnapshot } from './open-snapshot.ts';
import { replaySnapshot } from './replay-snapshot.ts';
import { snapshotOfState } from './snapshot-of-state.ts';

const build = new Builders();

/** Puts a canary into every field of a pod that the scheduler does not read. */
function withSecrets(pod: object): object {
  const { metadata, spec } = pod as {
    readonly metadata: object;
    readonly spec: { readonly containers: readonly object[] };
  };
  const container = {
    command: ['canary-command'],
    args: ['--password=canary-arg'],
    env: [
      { name: 'CANARY_ENV', value: 'canary-env' },
      { name: 'X', valueFrom: { secretKeyRef: { name: 'canary-secret-ref', key: 'canary-key' } } },
    ],
    envFrom: [{ secretRef: { name: 'canary-env-from' } }],
    image: 'registry.example/canary-image:1',
    livenessProbe: { exec: { command: ['canary-probe'] } },
    volumeMounts: [{ name: 'v', mountPath: '/canary-path' }],
    workingDir: '/canary-dir',
  };
  return {
    ...pod,
    metadata: {
      ...metadata,
      annotations: { note: 'canary-annotation', 'canary.io/key': 'x' },
      finalizers: ['canary/final'],
    },
    spec: {
      ...spec,
      containers: spec.containers.map((each) => ({ ...each, ...container })),
      initContainers: [{ name: 'canary-init', ...container }],
      imagePullSecrets: [{ name: 'canary-pull-secret' }],
      serviceAccountName: 'canary-account',
      hostAliases: [{ ip: '1.2.3.4', hostnames: ['canary-host'] }],
      volumes: [
        { name: 'canary-secret-volume', secret: { secretName: 'canary-secret' } },
        { name: 'canary-map-volume', configMap: { name: 'canary-map' } },
        { name: 'canary-projected', projected: { sources: [{ serviceAccountToken: { path: 'canary-token' } }] } },
      ],
    },
  };
}

it('WI24: a snapshot from the API holds no env, args, Secrets or annotations that the scheduler does not read', async () => {
  const pod = (name: string, options: object): object =>
    withSecrets(build.pod({ name, schedulerName: 'tutti', ...options }));
  const node = build.node({ name: 'a', cpu: 4 });
  const cluster = new ListedCluster()
    .set('/api/v1/nodes', {
      ...node,
      metadata: { ...node.metadata, annotations: { note: 'canary-node-annotation' } },
      status: {
        ...node.status,
        addresses: [{ type: 'InternalIP', address: 'canary-address' }],
        nodeInfo: { machineID: 'canary-machine' },
      },
    })
    .set(
      '/api/v1/pods',
      pod('busy', { nodeName: 'a', cpu: 1 }),
      pod('red-0', { group: 'red', cpu: 9 }),
      pod('one', { cpu: 1 }),
    )
    .set(podGroupPath(), {
      ...build.podGroup({ name: 'red', minMember: 1 }),
      metadata: { ...build.podGroup({ name: 'red' }).metadata, annotations: { note: 'canary-group-annotation' } },
    })
    .set('/api/v1/configmaps');
  const state = await loadClusterState({ client: cluster, clock: new VirtualClock(), random: () => 0 });
  const snapshot = snapshotOfState(state);
  expectValidAnswer(snapshot);
  const lines = JSON.stringify(snapshot, undefined, 1).split('\n');
  // ImageLocality reads the names of images.
  expect(lines.filter((line) => /canary/i.test(line) && !line.includes('canary-image'))).toEqual([]);
  expect(snapshot.pods.map(({ name }) => name)).toEqual(['busy', 'red-0', 'one']);
  const { items, basis } = replaySnapshot(openSnapshot(snapshot, { now: () => Date.parse(snapshot.takenAt) + 5_000 }));
  expect(items.map(({ subject, plan, differences }) => [subject.name, plan, differences])).toEqual([
    ['one', 'same', []],
    ['red', 'same', []],
  ]);
  expect(basis).toMatchObject({ source: 'snapshot', ageSeconds: 5, version: state.basis.version });
  await state.core.stop();
});
