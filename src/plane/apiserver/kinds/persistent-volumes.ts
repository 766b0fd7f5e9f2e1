import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, objectAt, textAt, textsAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { required } from './field-rules.ts';
import { canonicalizeQuantities, validateQuantities } from './quantity-fields.ts';
import { statusSubresource } from './resource-type.ts';
import type { ResourceType } from './resource-type.ts';

/** access mode -> as kubectl writes it */
const shortModes: ReadonlyMap<string, string> = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]);

/** Stored, and not acted on: nothing binds or makes volumes. */
export const persistentVolumes: ResourceType = builtIn({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  model: 'V1PersistentVolume',
  subresources: [statusSubresource({ group: '', version: 'v1', kind: 'PersistentVolume' })],
  columns: [
    nameColumn,
    textColumn('Capacity', (volume) => textAt(objectAt(specOf(volume), 'capacity'), 'storage')),
    textColumn('Access Modes', (volume) => modesOf(specOf(volume))),
    textColumn('Reclaim Policy', (volume) => textAt(specOf(volume), 'persistentVolumeReclaimPolicy')),
    textColumn('Status', (volume) => phaseOf(volume)),
    textColumn('Claim', (volume) => claimOf(volume)),
    textColumn('StorageClass', (volume) => textAt(specOf(volume), 'storageClassName')),
    textColumn('VolumeAttributesClass', (volume) => textAt(specOf(volume), 'volumeAttributesClassName') || '<unset>'),
    textColumn('Reason', (volume) => textAt(objectAt(volume, 'status'), 'reason')),
    ageColumn,
    textColumn('VolumeMode', (volume) => textAt(specOf(volume), 'volumeMode') || '<unset>', 'wide'),
  ],
  behaviour: {
    returnsDeleted: true,
    applyDefaults: (volume) => {
      const spec = ensureObject(volume, 'spec');
      spec.persistentVolumeReclaimPolicy ??= 'Retain';
      spec.volumeMode ??= 'Filesystem';
      canonicalizeQuantities(spec, 'capacity');
      const path = objectAt(spec, 'hostPath');
      if (path !== undefined) path.type ??= '';
    },
    admitCreate: (volume, context) => {
      volume.status = { phase: 'Pending', lastPhaseTransitionTime: context.now() };
    },
    validate: validateVolume,
  },
});

/** Modes of a volume or a claim, as kubectl lists them. */
export function modesOf(owner: JsonObject | undefined): string {
  return textsAt(owner, 'accessModes')
    .map((mode) => shortModes.get(mode) ?? mode)
    .join(',');
}

function specOf(volume: JsonObject): JsonObject | undefined {
  return objectAt(volume, 'spec');
}

/** What is being deleted says so in the place of its phase. */
export function phaseOf(object: JsonObject): string {
  if (objectAt(object, 'metadata')?.deletionTimestamp !== undefined) return 'Terminating';
  return textAt(objectAt(object, 'status'), 'phase');
}

function claimOf(volume: JsonObject): string {
  const claim = objectAt(specOf(volume), 'claimRef');
  return claim === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
}

function validateVolume(volume: JsonObject): StatusCause[] {
  const spec = specOf(volume);
  const causes = validateQuantities(spec, 'capacity', 'spec');
  if (objectAt(spec, 'capacity')?.storage === undefined) causes.push(required('spec.capacity'));
  if (textsAt(spec, 'accessModes').length === 0) causes.push(required('spec.accessModes'));
  return causes;
}
