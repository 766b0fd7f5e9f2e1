import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, metadataOf, objectAt, textAt, textsAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { fieldForbidden, required } from './field-rules.ts';
import { modesOf, phaseOf } from './persistent-volumes.ts';
import { canonicalizeQuantities, validateQuantities } from './quantity-fields.ts';
import { statusSubresource } from './resource-type.ts';
import type { KindContext, ResourceType } from './resource-type.ts';
import { validateSelector } from './validate-selector.ts';

const isDefaultAnnotation = 'storageclass.kubernetes.io/is-default-class';
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** Stored, and not acted on: nothing binds claims. One that names no class gets the default one, if there is one. */
export const persistentVolumeClaims: ResourceType = builtIn({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  model: 'V1PersistentVolumeClaim',
  subresources: [statusSubresource({ group: '', version: 'v1', kind: 'PersistentVolumeClaim' })],
  columns: [
    nameColumn,
    textColumn('Status', (claim) => phaseOf(claim)),
    textColumn('Volume', (claim) => textAt(objectAt(claim, 'spec'), 'volumeName')),
    textColumn('Capacity', (claim) => textAt(objectAt(objectAt(claim, 'status'), 'capacity'), 'storage')),
    textColumn('Access Modes', (claim) => modesOf(objectAt(claim, 'status'))),
    textColumn('StorageClass', (claim) => textAt(objectAt(claim, 'spec'), 'storageClassName')),
    textColumn(
      'VolumeAttributesClass',
      (claim) => textAt(objectAt(claim, 'spec'), 'volumeAttributesClassName') || '<unset>',
    ),
    ageColumn,
    textColumn('VolumeMode', (claim) => textAt(objectAt(claim, 'spec'), 'volumeMode') || '<unset>', 'wide'),
  ],
  behaviour: {
    returnsDeleted: true,
    applyDefaults: (claim) => {
      const spec = ensureObject(claim, 'spec');
      spec.volumeMode ??= 'Filesystem';
      canonicalizeQuantities(objectAt(spec, 'resources'), 'requests');
      canonicalizeQuantities(objectAt(claim, 'status'), 'capacity');
    },
    admitCreate: (claim, context) => {
      claim.status = { phase: 'Pending' };
      fillInClass(claim, context);
    },
    validate: validateClaim,
    validateUpdate: validateChange,
  },
});

function fillInClass(claim: JsonObject, { store }: KindContext): void {
  const spec = ensureObject(claim, 'spec');
  const named = objectAt(metadataOf(claim), 'annotations')?.[classAnnotation];
  if (spec.storageClassName !== undefined || named !== undefined) return;
  const defaults = store
    .collection('storageclasses.storage.k8s.io')
    .list()
    .filter(({ object }) => objectAt(metadataOf(object), 'annotations')?.[isDefaultAnnotation] === 'true');
  // The newest, and of those the first by name.
  const createdAt = (object: JsonObject): string => textAt(metadataOf(object), 'creationTimestamp');
  const [first] = defaults.sort(
    (a, b) => createdAt(b.object).localeCompare(createdAt(a.object)) || a.name.localeCompare(b.name),
  );
  if (first !== undefined) spec.storageClassName = first.name;
}

function validateClaim(claim: JsonObject): StatusCause[] {
  const spec = objectAt(claim, 'spec');
  const requests = objectAt(spec, 'resources');
  const causes = validateQuantities(requests, 'requests', 'spec.resources');
  if (textsAt(spec, 'accessModes').length === 0) {
    causes.push(required('spec.accessModes', 'at least 1 access mode is required'));
  }
  if (objectAt(requests, 'requests')?.storage === undefined) causes.push(required('spec.resources[storage]'));
  return [...causes, ...validateSelector(objectAt(spec, 'selector'), 'spec.selector')];
}

/** Its volume may be named once, and more may be asked for; all else stays. */
function validateChange(claim: JsonObject, previous: JsonObject): StatusCause[] {
  const before = objectAt(previous, 'spec') ?? {};
  const now = { ...objectAt(claim, 'spec') };
  now.resources = before.resources ?? {};
  if (before.volumeName === undefined) delete now.volumeName;
  if (before.volumeAttributesClassName === undefined) delete now.volumeAttributesClassName;
  const isSame = JSON.stringify(sorted(now)) === JSON.stringify(sorted({ ...before, resources: now.resources }));
  if (isSame) return [];
  const rule =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  return [fieldForbidden('spec', rule)];
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
