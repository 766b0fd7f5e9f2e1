import { isDeepStrictEqual } from 'node:util';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, metadataOf, objectAt, textAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { fieldColumn } from './column.ts';
import { fieldForbidden } from '../schema/field-error.ts';
import type { KindContext, ResourceType } from './resource-type.ts';
import { accessModesColumn, phaseColumn } from './stored-kinds.ts';

const isDefaultAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** Claims without a class get the default StorageClass, if there is one. A client binds them to volumes. */
export const persistentVolumeClaims: ResourceType = builtIn({
  kind: 'PersistentVolumeClaim',
  shortNames: ['pvc'],
  hasStatus: true,
  columns: [
    phaseColumn,
    fieldColumn('Volume', 'spec.volumeName'),
    fieldColumn('Capacity', 'status.capacity.storage'),
    accessModesColumn('status'),
    fieldColumn('StorageClass', 'spec.storageClassName'),
  ],
  defaults: { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
  required: ['spec.accessModes', 'spec.resources.requests.storage'],
  behavior: { returnsDeleted: true, admitCreate: fillInClass, validateUpdate: validateChange },
});

function fillInClass(claim: JsonObject, { store }: KindContext): void {
  const spec = ensureObject(claim, 'spec');
  if (spec.storageClassName !== undefined) return;
  const classes = store.collection('storageclasses.storage.k8s.io').list();
  const defaults = classes.filter(
    ({ object }) => objectAt(metadataOf(object), 'annotations')?.[isDefaultAnnotation] === 'true',
  );
  // The newest wins, then the first by name.
  const createdAt = (object: JsonObject): string => textAt(metadataOf(object), 'creationTimestamp');
  const [first] = defaults.sort(
    (a, b) => createdAt(b.object).localeCompare(createdAt(a.object)) || a.name.localeCompare(b.name),
  );
  if (first !== undefined) spec.storageClassName = first.name;
}

/** Rejects changes of the spec, except for `resources`. A client may set `volumeName` once. */
function validateChange(claim: JsonObject, previous: JsonObject): StatusCause[] {
  const before = objectAt(previous, 'spec') ?? {};
  const now: JsonObject = { ...objectAt(claim, 'spec'), resources: before.resources ?? {} };
  if (before.volumeName === undefined) delete now.volumeName;
  if (isDeepStrictEqual(now, before)) return [];
  return [fieldForbidden('spec', 'spec is immutable after creation except resources.requests for bound claims')];
}
