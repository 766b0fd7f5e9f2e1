import { forbidden } from '../http/api-error.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import { metadataOf } from './access.ts';
import { fieldColumn } from './column.ts';
import { fieldForbidden } from '../schema/field-error.ts';
import type { KindContext, ResourceType } from './resource-type.ts';

const highestUserPriority = 1_000_000_000;
const reference = { group: 'scheduling.k8s.io', plural: 'priorityclasses' };

/** Name -> value of the two classes that the server creates at startup. */
export const builtInPriorityClasses: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);

export const priorityClasses: ResourceType = builtIn({
  group: 'scheduling.k8s.io',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  columns: [fieldColumn('Value', 'value', 0), fieldColumn('Global-Default', 'globalDefault', false)],
  lastColumns: [fieldColumn('PreemptionPolicy', 'preemptionPolicy')],
  defaults: { preemptionPolicy: 'PreemptLowerPriority' },
  required: ['value'],
  values: { preemptionPolicy: ['PreemptLowerPriority', 'Never'] },
  immutable: ['value', 'preemptionPolicy'],
  behavior: {
    generation: 'spec',
    admitCreate: rejectSecondDefault,
    validate: validatePriorityClass,
    admitDelete: (each) => {
      const name = metadataOf(each).name as string;
      if (builtInPriorityClasses.has(name))
        throw forbidden(reference, name, 'this is a system priority class and cannot be deleted');
    },
    validateUpdate: (each, _previous, context) => {
      rejectSecondDefault(each, context);
      return [];
    },
  },
});

function rejectSecondDefault(each: JsonObject, context: KindContext): void {
  if (each.globalDefault !== true) return;
  const name = metadataOf(each).name as string;
  const other = context.store
    .collection('priorityclasses.scheduling.k8s.io')
    .list()
    .find((stored) => stored.object.globalDefault === true && stored.name !== name);
  if (other === undefined) return;
  throw forbidden(
    reference,
    name,
    `PriorityClass ${other.name} is already marked as default. Only one default can exist`,
  );
}

function validatePriorityClass(each: JsonObject): StatusCause[] {
  const name = metadataOf(each).name as string;
  if (builtInPriorityClasses.has(name)) return [];
  if (name.startsWith('system-')) {
    return [
      fieldForbidden('metadata.name', "priority class names with 'system-' prefix are reserved for system use only"),
    ];
  }
  if (Number(each.value) <= highestUserPriority) return [];
  return [fieldForbidden('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`)];
}
