import type { JsonObject } from '../json.ts';
import { ensureObject, objectAt, objectsAt, textAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { statusSubresource } from './resource-type.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'storage.k8s.io';
const version = 'v1';

// Stored, and not acted on: there are no drivers.

export const csiNodes: ResourceType = builtIn({
  group,
  version,
  kind: 'CSINode',
  plural: 'csinodes',
  namespaced: false,
  model: 'V1CSINode',
  columns: [nameColumn, { ...textColumn('Drivers', driverCount), type: 'integer' }, ageColumn],
  behaviour: { returnsDeleted: true },
});

export const csiDrivers: ResourceType = builtIn({
  group,
  version,
  kind: 'CSIDriver',
  plural: 'csidrivers',
  namespaced: false,
  model: 'V1CSIDriver',
  behaviour: {
    returnsDeleted: true,
    applyDefaults: (driver) => {
      const spec = ensureObject(driver, 'spec');
      spec.attachRequired ??= true;
      spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
      spec.podInfoOnMount ??= false;
      spec.preventPodSchedulingIfMissing ??= false;
      spec.requiresRepublish ??= false;
      spec.seLinuxMount ??= false;
      spec.storageCapacity ??= false;
      spec.volumeLifecycleModes ??= ['Persistent'];
    },
  },
});

export const csiStorageCapacities: ResourceType = builtIn({
  group,
  version,
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  namespaced: true,
  model: 'V1CSIStorageCapacity',
  columns: [
    nameColumn,
    textColumn('StorageClassName', (each) => textAt(each, 'storageClassName')),
    textColumn('Capacity', (each) => textAt(each, 'capacity')),
  ],
  behaviour: { returnsDeleted: true },
});

export const volumeAttachments: ResourceType = builtIn({
  group,
  version,
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  namespaced: false,
  model: 'V1VolumeAttachment',
  subresources: [statusSubresource({ group, version, kind: 'VolumeAttachment' })],
  behaviour: {
    returnsDeleted: true,
    applyDefaults: (each) => {
      ensureObject(each, 'status').attached ??= false;
    },
  },
});

function driverCount(node: JsonObject): number {
  return objectsAt(objectAt(node, 'spec'), 'drivers').length;
}
