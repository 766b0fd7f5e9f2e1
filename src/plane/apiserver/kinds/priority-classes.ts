import { forbidden } from '../http/api-error.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import { metadataOf, textAt } from './access.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { fieldForbidden, notSupported, required } from './field-rules.ts';
import type { KindContext, ResourceType } from './resource-type.ts';

const highestUserPriority = 1_000_000_000;
const reference = { group: 'scheduling.k8s.io', plural: 'priorityclasses' };

/** The two classes that exist from the start: name -> value. */
export const builtInPriorityClasses: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);

export const priorityClasses: ResourceType = builtIn({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  model: 'V1PriorityClass',
  columns: [
    nameColumn,
    { ...textColumn('Value', (each) => each.value ?? 0), type: 'integer' },
    { ...textColumn('Global-Default', (each) => each.globalDefault === true), type: 'boolean' },
    ageColumn,
    textColumn('PreemptionPolicy', (each) => textAt(each, 'preemptionPolicy')),
  ],
  behaviour: {
    applyDefaults: (each) => {
      each.preemptionPolicy ??= 'PreemptLowerPriority';
    },
    admitCreate: (each, context) => {
      rejectSecondDefault(each, context);
      metadataOf(each).generation = 1;
    },
    validate: validatePriorityClass,
    admitDelete: (each) => {
      const name = metadataOf(each).name as string;
      if (builtInPriorityClasses.has(name))
        throw forbidden(reference, name, 'this is a system priority class and cannot be deleted');
    },
    validateUpdate: (each, previous, context) => {
      rejectSecondDefault(each, context);
      const causes: StatusCause[] = [];
      for (const field of ['value', 'preemptionPolicy']) {
        if (each[field] !== previous[field]) causes.push(fieldForbidden(field, 'may not be changed in an update.'));
      }
      return causes;
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
  const causes: StatusCause[] = [];
  const name = metadataOf(each).name as string;
  const value = each.value;
  if (value === undefined) causes.push(required('value'));
  else if (name.startsWith('system-')) {
    if (builtInPriorityClasses.get(name) !== value) {
      causes.push(
        fieldForbidden(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
        ),
      );
    }
  } else if (typeof value === 'number' && value > highestUserPriority) {
    causes.push(fieldForbidden('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`));
  }
  const policies = ['PreemptLowerPriority', 'Never'];
  const policy = textAt(each, 'preemptionPolicy');
  if (!policies.includes(policy)) causes.push(notSupported('preemptionPolicy', policy, policies));
  return causes;
}
