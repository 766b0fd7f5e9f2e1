import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import { ensureObject, objectAt, textAt } from './access.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { invalidValue } from './field-rules.ts';
import type { ResourceType } from './resource-type.ts';

export const leases: ResourceType = builtIn({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
  model: 'V1Lease',
  columns: [nameColumn, textColumn('Holder', (lease) => textAt(objectAt(lease, 'spec'), 'holderIdentity')), ageColumn],
  behaviour: {
    createOnUpdate: true,
    updateNeedsVersion: true,
    applyDefaults: (lease) => void ensureObject(lease, 'spec'),
    validate: validateLease,
  },
});

function validateLease(lease: JsonObject): StatusCause[] {
  const spec = objectAt(lease, 'spec');
  const causes: StatusCause[] = [];
  const duration = spec?.leaseDurationSeconds;
  if (typeof duration === 'number' && duration <= 0) {
    causes.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  const transitions = spec?.leaseTransitions;
  if (typeof transitions === 'number' && transitions < 0) {
    causes.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return causes;
}
