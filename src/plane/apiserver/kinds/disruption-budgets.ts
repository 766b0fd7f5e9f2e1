import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { ensureObject, objectAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { fillConditionTimes } from './condition-times.ts';
import { invalidValue } from './field-rules.ts';
import { statusSubresource } from './resource-type.ts';
import type { ResourceType } from './resource-type.ts';
import { validateSelector } from './validate-selector.ts';

const emptyStatus: JsonObject = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };

/** Stored, and not acted on: no controller counts the pods, and evictions do not ask it. */
export const podDisruptionBudgets: ResourceType = builtIn({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  namespaced: true,
  model: 'V1PodDisruptionBudget',
  subresources: [statusSubresource({ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' })],
  columns: [
    nameColumn,
    textColumn('Min Available', (budget) => amount(objectAt(budget, 'spec')?.minAvailable)),
    textColumn('Max Unavailable', (budget) => amount(objectAt(budget, 'spec')?.maxUnavailable)),
    {
      ...textColumn('Allowed Disruptions', (budget) => objectAt(budget, 'status')?.disruptionsAllowed ?? 0),
      type: 'integer',
    },
    ageColumn,
  ],
  behaviour: {
    generation: 'spec',
    applyDefaults: (budget) => {
      ensureObject(budget, 'spec');
      fillConditionTimes(objectAt(budget, 'status'), ['lastTransitionTime']);
      budget.status = { ...emptyStatus, ...objectAt(budget, 'status') };
    },
    validate: validateBudget,
  },
});

function amount(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'N/A';
}

function validateBudget(budget: JsonObject): StatusCause[] {
  const spec = objectAt(budget, 'spec') ?? {};
  const causes: StatusCause[] = [];
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    causes.push(invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    const value = spec[field];
    if (typeof value === 'number' && value < 0) {
      causes.push(invalidValue(`spec.${field}`, value, 'must be greater than or equal to 0'));
    }
    if (typeof value !== 'string') continue;
    const percent = /^(\d+)%$/.exec(value);
    if (percent === null) {
      const rule =
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
      causes.push(invalidValue(`spec.${field}`, value, rule));
    } else if (Number(percent[1]) > 100) {
      causes.push(invalidValue(`spec.${field}`, value, 'must not be greater than 100%'));
    }
  }
  return [...causes, ...validateSelector(objectAt(spec, 'selector'), 'spec.selector')];
}
