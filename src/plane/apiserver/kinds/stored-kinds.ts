import { isDeepStrictEqual } from 'node:util';
import type { ResourceType } from './resource-type.ts';
import { metadataOf, objectAt, textAt, textsAt, valueAt } from './access.ts';
import { builtIn } from './built-in.ts';
import type { BuiltInKind } from './built-in.ts';
import { fieldColumn, textColumn } from './column.ts';
import type { Column } from './column.ts';
import { fieldForbidden, invalidValue } from '../schema/field-error.ts';

const storage = { group: 'storage.k8s.io', behavior: { returnsDeleted: true } } as const;

/** access mode -> kubectl's abbreviation */
const shortModes: ReadonlyMap<string, string> = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]);

/** Returns a column with the access modes at `spec` or `status` of a volume or claim. */
export function accessModesColumn(owner: 'spec' | 'status'): Column {
  return textColumn('Access Modes', (object) =>
    textsAt(objectAt(object, owner), 'accessModes')
      .map((mode) => shortModes.get(mode) ?? mode)
      .join(','),
  );
}

/** Column with the phase of an object, or Terminating while it is being deleted. */
export const phaseColumn: Column = textColumn('Status', (object) =>
  metadataOf(object).deletionTimestamp === undefined ? textAt(objectAt(object, 'status'), 'phase') : 'Terminating',
);

/** The kinds that the API server only stores. Clients may act on them. */
const kinds: readonly BuiltInKind[] = [
  {
    kind: 'ConfigMap',
    shortNames: ['cm'],
    columns: [
      textColumn('Data', (map) =>
        ['data', 'binaryData'].reduce((sum, field) => sum + Object.keys(objectAt(map, field) ?? {}).length, 0),
      ),
    ],
    behavior: {
      validateUpdate: (map, previous) =>
        ['immutable', 'data', 'binaryData']
          .filter((field) => previous.immutable === true && !isDeepStrictEqual(map[field], previous[field]))
          .map((field) => fieldForbidden(field, 'field is immutable when `immutable` is set')),
    },
  },
  { kind: 'ServiceAccount', shortNames: ['sa'], behavior: { returnsDeleted: true } },
  {
    kind: 'Service',
    shortNames: ['svc'],
    categories: ['all'],
    hasStatus: true,
    columns: [fieldColumn('Type', 'spec.type'), fieldColumn('Cluster-IP', 'spec.clusterIP', '<none>')],
    defaults: { spec: { sessionAffinity: 'None', type: 'ClusterIP' }, status: { loadBalancer: {} } },
    behavior: { nameRule: 'label', returnsDeleted: true },
  },
  {
    kind: 'ReplicationController',
    shortNames: ['rc'],
    categories: ['all'],
    hasStatus: true,
    columns: [fieldColumn('Desired', 'spec.replicas', 0), fieldColumn('Current', 'status.replicas', 0)],
    defaults: { spec: { replicas: 1 }, status: { replicas: 0 } },
    required: ['spec.selector'],
    behavior: { generation: 'spec' },
  },
  {
    kind: 'PersistentVolume',
    shortNames: ['pv'],
    namespaced: false,
    hasStatus: true,
    columns: [
      fieldColumn('Capacity', 'spec.capacity.storage'),
      accessModesColumn('spec'),
      fieldColumn('Reclaim Policy', 'spec.persistentVolumeReclaimPolicy'),
      phaseColumn,
      textColumn('Claim', (volume) => {
        const claim = objectAt(objectAt(volume, 'spec'), 'claimRef');
        return claim === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
      }),
      fieldColumn('StorageClass', 'spec.storageClassName'),
    ],
    defaults: {
      spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
    required: ['spec.capacity.storage', 'spec.accessModes'],
    behavior: { returnsDeleted: true },
  },
  {
    ...storage,
    kind: 'StorageClass',
    plural: 'storageclasses',
    shortNames: ['sc'],
    namespaced: false,
    columns: [
      fieldColumn('Provisioner', 'provisioner'),
      fieldColumn('ReclaimPolicy', 'reclaimPolicy'),
      fieldColumn('VolumeBindingMode', 'volumeBindingMode'),
    ],
    defaults: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
    required: ['provisioner'],
    values: { reclaimPolicy: ['Delete', 'Retain'], volumeBindingMode: ['Immediate', 'WaitForFirstConsumer'] },
    immutable: ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'],
  },
  { ...storage, kind: 'CSINode', namespaced: false },
  { ...storage, kind: 'CSIDriver', namespaced: false },
  { ...storage, kind: 'CSIStorageCapacity', plural: 'csistoragecapacities' },
  {
    ...storage,
    kind: 'VolumeAttachment',
    namespaced: false,
    hasStatus: true,
    defaults: { status: { attached: false } },
  },
  {
    group: 'coordination.k8s.io',
    kind: 'Lease',
    columns: [fieldColumn('Holder', 'spec.holderIdentity')],
    defaults: { spec: {} },
    behavior: {
      updateNeedsVersion: true,
      validate: (lease) => {
        const seconds = valueAt(lease, 'spec.leaseDurationSeconds');
        if (typeof seconds !== 'number' || seconds > 0) return [];
        return [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')];
      },
    },
  },
];

export const storedKinds: readonly ResourceType[] = kinds.map(builtIn);
