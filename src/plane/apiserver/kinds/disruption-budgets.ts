import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { objectAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { fieldColumn } from './column.ts';
import { invalidValue } from '../schema/field-error.ts';
import type { ResourceType } from './resource-type.ts';
import { validateSelector } from './validate-selector.ts';

/** The server only stores PodDisruptionBudgets. No controller counts their pods, and evictions do not check them. */
export const podDisruptionBudgets: ResourceType = builtIn({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  shortNames: ['pdb'],
  hasStatus: true,
  columns: [
    fieldColumn('Min Available', 'spec.minAvailable', 'N/A'),
    fieldColumn('Max Unavailable', 'spec.maxUnavailable', 'N/A'),
    fieldColumn('Allowed Disruptions', 'status.disruptionsAllowed', 0),
  ],
  defaults: { spec: {}, status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 } },
  behavior: { generation: 'spec', validate: validateBudget },
});

function validateBudget(budget: JsonObject): StatusCause[] {
  const spec = objectAt(budget, 'spec') ?? {};
  const causes = validateSelector(objectAt(spec, 'selector'), 'spec.selector');
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    causes.push(invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    const value = spec[field] ?? 0;
    const isAmount = typeof value === 'number' ? value >= 0 : /^(100|\d?\d)%$/.test(value as string);
    if (!isAmount) causes.push(invalidValue(`spec.${field}`, value, 'must be a count of pods or a percentage'));
  }
  return causes;
}
