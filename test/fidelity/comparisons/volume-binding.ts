import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { DeliberateDifference, PluginComparison } from '../plugin-comparison.ts';
import type { ApiObject } from '../question.ts';
import { podWithVolumes, storageNode, storageObjects } from './storage.ts';

const point = fields({
  utilization: fc.constantFrom(0, 10, 25, 50, 75, 100),
  score: fc.integer({ min: 0, max: 10 }),
});
const shape = fc
  .uniqueArray(point, { minLength: 1, maxLength: 4, selector: ({ utilization }) => utilization })
  .map((points) => points.toSorted((a, b) => Number(a.utilization) - Number(b.utilization)));
const args = maybe(
  fields({ bindTimeoutSeconds: maybe(fc.constantFrom(0, 30)), shape: maybe(shape, 8) }).map((all): ApiObject => all),
  4,
);

const gibibytes = (most: number): fc.Arbitrary<string> =>
  fc.integer({ min: 1, max: most }).map((count) => `${count}Gi`);

/** Unbound claims, with volumes or capacity for them on most hosts, so that several nodes fit and differ. */
const openObjects = fc
  .record({
    claims: fc.array(fc.tuple(fc.constantFrom('wait', 'wait', 'manual', 'elsewhere'), gibibytes(4)), {
      minLength: 4,
      maxLength: 4,
    }),
    volumes: fc.array(
      fc.tuple(maybe(fc.constantFrom('h0', 'h1', 'h2'), 8), fc.constantFrom('manual', 'wait'), gibibytes(9)),
      { maxLength: 9 },
    ),
    capacities: fc.array(fc.tuple(fc.constantFrom('wait', 'elsewhere'), gibibytes(30), maybe(gibibytes(30), 2)), {
      minLength: 3,
      maxLength: 6,
    }),
    publishes: fc.constantFrom(true, true, true, false, undefined),
    /** The first volume has a claimRef to this claim. */
    kept: maybe(fc.constantFrom('a', 'b'), 3),
  })
  .map(({ claims, volumes, capacities, publishes, kept }): readonly ApiObject[] => {
    const metadata = (name: string, namespace?: string): ApiObject => ({
      name,
      resourceVersion: '1',
      uid: `uid-of-${name}`,
      ...(namespace !== undefined && { namespace }),
    });
    const accessModes = ['ReadWriteOnce'];
    const classes = ['wait', 'elsewhere', 'manual'].map((name) => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: metadata(name),
      provisioner: name === 'manual' ? 'kubernetes.io/no-provisioner' : 'csi.one',
      volumeBindingMode: 'WaitForFirstConsumer',
    }));
    const driver = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: metadata('csi.one'),
      spec: publishes === undefined ? {} : { storageCapacity: publishes },
    };
    return [
      ...classes,
      driver,
      ...claims.map(([storageClassName, storage], index) => ({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: metadata('abcd'[index]!, 'default'),
        spec: { storageClassName, accessModes, resources: { requests: { storage } } },
        status: { phase: 'Pending' },
      })),
      // Which of two volumes of the same size is chosen is random.
      ...[...new Map(volumes.map((each) => [each[2], each])).values()].map(
        ([host, storageClassName, storage], index) => ({
          apiVersion: 'v1',
          kind: 'PersistentVolume',
          metadata: metadata(`pv${index}`),
          spec: {
            storageClassName,
            accessModes,
            capacity: { storage },
            csi: { driver: 'csi.one', volumeHandle: `pv${index}` },
            ...(index === 0 &&
              kept !== undefined && {
                claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: kept },
              }),
            ...(host !== undefined && {
              nodeAffinity: {
                required: {
                  nodeSelectorTerms: [
                    { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host] }] },
                  ],
                },
              },
            }),
          },
          status: { phase: 'Available' },
        }),
      ),
      // At most one for a class and a node: which one of several counts is random.
      ...capacities.map(([storageClassName, capacity, maximumVolumeSize], index) => ({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSIStorageCapacity',
        metadata: metadata(`room-${index}`, 'default'),
        storageClassName: index < 3 ? 'wait' : storageClassName === 'wait' ? 'nobodys' : storageClassName,
        nodeTopology: { matchLabels: { 'kubernetes.io/hostname': `h${index % 3}` } },
        capacity,
        ...(maximumVolumeSize !== undefined && { maximumVolumeSize }),
      })),
    ];
  });

/**
 * If the volume with a claimRef cannot be reached, kube-scheduler has another volume provisioned, to which nothing binds the claim. The
 * claim gets the volume with the claimRef.
 */
const keptVolumes: DeliberateDifference = {
  name: 'a-kept-volume-is-not-made-again',
  explains: ({ where, tutti }, { question: { objects = [], pod } }) => {
    if (!where.startsWith('Filter of ') || !tutti.includes("didn't find available persistent volumes")) return false;
    const { volumes = [] } = pod.spec as {
      readonly volumes?: readonly {
        readonly name: string;
        readonly persistentVolumeClaim?: { readonly claimName: string };
      }[];
    };
    const { namespace, name } = pod.metadata as { readonly namespace: string; readonly name: string };
    const claims = volumes.map(({ name: own, persistentVolumeClaim: its }) => its?.claimName ?? `${name}-${own}`);
    return objects.some(({ kind, spec }) => {
      const { claimRef } = (spec ?? {}) as {
        readonly claimRef?: { readonly namespace: string; readonly name: string };
      };
      return kind === 'PersistentVolume' && claimRef?.namespace === namespace && claims.includes(claimRef.name);
    });
  },
};

export const volumeBinding: PluginComparison = {
  plugin: 'VolumeBinding',
  differences: [keptVolumes],
  questions: questionsOf({
    plugin: 'VolumeBinding',
    args,
    node: storageNode,
    pod: podWithVolumes({ often: 9, ephemeral: 1 }),
    objects: fc.oneof(
      { weight: 2, arbitrary: storageObjects({ bound: 4, hasOldClasses: true }) },
      { weight: 2, arbitrary: storageObjects({ bound: 1, hasOldClasses: false, isPlain: true }) },
      { weight: 1, arbitrary: openObjects },
    ),
  }),
};
