import type { StatusCause } from '../../http/api-error.ts';
import { deepEqual } from '../../deep-equal.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { objectAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import { ageColumn, nameColumn } from '../column.ts';
import { invalidValue } from '../field-rules.ts';
import { statusSubresource } from '../resource-type.ts';
import type { ResourceType } from '../resource-type.ts';
import { templateColumns } from './pod-template.ts';

export interface WorkloadParts extends Pick<ResourceType, 'kind' | 'columns' | 'behaviour'> {
  readonly shortName: string;
}

/** A kind of the group `apps` whose objects make pods of a template; the columns are those between name and age. */
export function workload({ kind, shortName, columns, behaviour }: WorkloadParts): ResourceType {
  const version = { group: 'apps', version: 'v1', kind };
  return builtIn({
    ...version,
    plural: `${kind.toLowerCase()}s`,
    shortNames: [shortName],
    categories: ['all'],
    namespaced: true,
    model: `V1${kind}`,
    subresources: [statusSubresource(version)],
    columns: [nameColumn, ...columns, ageColumn, ...templateColumns],
    behaviour: { generation: 'spec', validateUpdate: selectorIsFixed, ...behaviour },
  });
}

/** Of a status; nothing is none. */
export function count(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function selectorIsFixed(object: JsonObject, previous: JsonObject): StatusCause[] {
  const selector = objectAt(objectAt(object, 'spec'), 'selector');
  if (deepEqual(selector, objectAt(objectAt(previous, 'spec'), 'selector'))) return [];
  return [invalidValue('spec.selector', selector ?? null, 'field is immutable')];
}
