import type { ListedKind } from '../../api/listed-object.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { Draws } from './draws.ts';

/** An object of storage, as the API server returns it. */
export interface StorageObject {
  readonly kind: ListedKind;
  readonly raw: { readonly metadata: { readonly name: string; readonly [field: string]: unknown } };
}

export interface DrawnStorage {
  readonly objects: readonly StorageObject[];
  /** Claims for pods; the last one does not exist. */
  readonly claims: readonly string[];
}

export const noStorage: DrawnStorage = { objects: [], claims: [] };
const driver = 'csi.example';

/**
 * Draws volumes that bind pods to a node or a zone, volumes without a claim, claims that wait for their first pod, claims that one pod may use,
 * and nodes that take few volumes.
 */
export function drawStorage(draws: Draws, nodeNames: readonly string[]): DrawnStorage {
  const zones = ['a', 'b'];
  const objects: StorageObject[] = [
    storageClass('wait', driver),
    storageClass('manual', 'kubernetes.io/no-provisioner'),
    ...nodeNames.map((name) => csiNode(name, draws.int(1, 3))),
  ];
  const claims: string[] = [];
  const add = (claim: string, volume: Readonly<Record<string, unknown>> | undefined, fields: object): void => {
    claims.push(claim);
    objects.push(claimOf(claim, volume === undefined ? fields : { ...fields, volumeName: `pv-${claim}` }));
    if (volume !== undefined) objects.push(volumeOf(`pv-${claim}`, volume, claim));
  };
  add('local', { nodeAffinity: affinityTo('kubernetes.io/hostname', draws.pick(nodeNames)) }, {});
  add('zonal', { labels: { 'topology.kubernetes.io/zone': draws.pick(zones) } }, {});
  for (const i of [0, 1, 2]) add(`disk-${i}`, { csi: { driver, volumeHandle: `disk-${i}` } }, {});
  add('single', {}, { accessModes: ['ReadWriteOncePod'] });
  add('manual', undefined, { storageClassName: 'manual' });
  if (draws.chance(0.7))
    objects.push(
      volumeOf('pv-free', { nodeAffinity: affinityTo('kubernetes.io/hostname', draws.pick(nodeNames)) }, undefined),
    );
  add('late', undefined, { storageClassName: 'wait' });
  return { objects, claims: [...claims, 'absent'] };
}

/** Returns the spec of a pod with this claim. */
export function withClaim(claimName: string): NonNullable<PodOptions['spec']> {
  return { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] };
}

function storageClass(name: string, provisioner: string): StorageObject {
  return {
    kind: 'StorageClass',
    raw: { metadata: { name }, ...{ provisioner, volumeBindingMode: 'WaitForFirstConsumer' } },
  };
}

function csiNode(name: string, count: number): StorageObject {
  const raw = { metadata: { name }, spec: { drivers: [{ name: driver, nodeID: name, allocatable: { count } }] } };
  return { kind: 'CSINode', raw };
}

function claimOf(name: string, fields: { readonly volumeName?: string }): StorageObject {
  const annotations = fields.volumeName === undefined ? {} : { 'pv.kubernetes.io/bind-completed': 'yes' };
  return {
    kind: 'PersistentVolumeClaim',
    raw: {
      metadata: { namespace: 'default', name, uid: `uid-of-${name}`, annotations },
      ...{
        spec: {
          storageClassName: 'manual',
          accessModes: ['ReadWriteMany'],
          resources: { requests: { storage: '1Gi' } },
          ...fields,
        },
      },
    },
  };
}

function volumeOf(
  name: string,
  { labels, ...fields }: { readonly labels?: object; readonly [field: string]: unknown },
  claim: string | undefined,
): StorageObject {
  return {
    kind: 'PersistentVolume',
    raw: {
      metadata: { name, ...(labels !== undefined && { labels }) },
      ...{
        spec: {
          capacity: { storage: '2Gi' },
          accessModes: ['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'],
          storageClassName: 'manual',
          ...(claim !== undefined && { claimRef: { namespace: 'default', name: claim, uid: `uid-of-${claim}` } }),
          ...fields,
        },
        status: { phase: claim === undefined ? 'Available' : 'Bound' },
      },
    },
  };
}

export function affinityTo(key: string, value: string): object {
  return { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }] } };
}
