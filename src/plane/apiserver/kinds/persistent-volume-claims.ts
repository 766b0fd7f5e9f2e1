import { isDeepStrictEqual } from 'node:util';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, metadataOf, objectAt } from './access.ts';
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
  // Of several defaults, the first by name wins. On a cluster, the newest does.
  const first = classes.find(
    ({ object }) => objectAt(metadataOf(object), 'annotations')?.[isDefaultAnnotation] === 'true',
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
