import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf, objectAt, textAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { fieldForbidden, notSupported, required } from './field-rules.ts';
import type { ResourceType } from './resource-type.ts';

export const storageClasses: ResourceType = builtIn({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  model: 'V1StorageClass',
  columns: [
    {
      ...nameColumn,
      cell: (each) => {
        const isDefault =
          objectAt(metadataOf(each), 'annotations')?.['storageclass.kubernetes.io/is-default-class'] === 'true';
        return `${metadataOf(each).name as string}${isDefault ? ' (default)' : ''}`;
      },
    },
    textColumn('Provisioner', (each) => textAt(each, 'provisioner')),
    textColumn('ReclaimPolicy', (each) => textAt(each, 'reclaimPolicy')),
    textColumn('VolumeBindingMode', (each) => textAt(each, 'volumeBindingMode')),
    textColumn('AllowVolumeExpansion', (each) => String(each.allowVolumeExpansion === true)),
    ageColumn,
  ],
  behaviour: {
    returnsDeleted: true,
    applyDefaults: (each) => {
      each.reclaimPolicy ??= 'Delete';
      each.volumeBindingMode ??= 'Immediate';
    },
    validate: validateClass,
    validateUpdate: (each, previous) =>
      ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((field) =>
        JSON.stringify(each[field]) === JSON.stringify(previous[field])
          ? []
          : [fieldForbidden(field, `updates to ${field} are forbidden.`)],
      ),
  },
});

function validateClass(each: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  if (textAt(each, 'provisioner') === '') causes.push(required('provisioner'));
  const closed = { reclaimPolicy: ['Delete', 'Retain'], volumeBindingMode: ['Immediate', 'WaitForFirstConsumer'] };
  for (const [field, values] of Object.entries(closed)) {
    const value = textAt(each, field);
    if (!values.includes(value)) causes.push(notSupported(field, value, values));
  }
  return causes;
}
