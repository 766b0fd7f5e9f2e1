import { append } from '../../append.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { isObject, objectAt, objectsAt, textAt } from '../access.ts';
import { deepCopy, deepEqual } from '../../deep-equal.ts';
import { fieldForbidden, invalidValue } from '../field-rules.ts';

const immutableMessage =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/**
 * A pod's spec is fixed once it exists but for: images, a shorter activeDeadlineSeconds, further tolerations, and the
 * removal of scheduling gates; while gated, the node selector and the required node affinity may be narrowed.
 */
export function validatePodUpdate(pod: JsonObject, previous: JsonObject): StatusCause[] {
  const spec = objectAt(pod, 'spec') ?? {};
  const old = objectAt(previous, 'spec') ?? {};
  if (deepEqual(spec, old)) return [];
  const causes: StatusCause[] = [
    ...validateGateRemoval(spec, old),
    ...validateTolerationsUpdate(spec, old),
    ...validateDeadline(spec, old),
  ];
  const allowed = deepCopy(spec);
  for (const field of ['containers', 'initContainers']) {
    const before = objectsAt(old, field);
    objectsAt(allowed, field).forEach((container, index) => {
      const image = before[index]?.image;
      if (image !== undefined && textAt(container, 'image') !== '') container.image = image;
    });
  }
  for (const field of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']) restore(allowed, old, field);
  if (objectsAt(old, 'schedulingGates').length > 0) {
    append(causes, validateNarrowing(spec, old));
    restore(allowed, old, 'nodeSelector');
    const affinity = objectAt(allowed, 'affinity');
    const oldAffinity = objectAt(old, 'affinity');
    if (affinity !== undefined && oldAffinity !== undefined) restore(affinity, oldAffinity, 'nodeAffinity');
    else if (affinity !== undefined && Object.keys(affinity).every((key) => key === 'nodeAffinity')) {
      delete allowed.affinity;
    }
  }
  const changed = Object.keys({ ...allowed, ...old }).filter((field) => !deepEqual(allowed[field], old[field]));
  if (changed.length > 0) {
    const list = changed.map((field) => `spec.${field}`).join(', ');
    causes.push(fieldForbidden('spec', `${immutableMessage}; changed: ${list}`));
  }
  return causes;
}

function restore(target: JsonObject, source: JsonObject, field: string): void {
  const value = source[field];
  if (value === undefined) delete target[field];
  else target[field] = value;
}

function validateGateRemoval(spec: JsonObject, old: JsonObject): StatusCause[] {
  const before = new Set(objectsAt(old, 'schedulingGates').map((gate) => gate.name));
  return objectsAt(spec, 'schedulingGates').flatMap((gate, index) => {
    if (before.has(gate.name)) return [];
    const found = `only deletion is allowed, but found new scheduling gate '${textAt(gate, 'name')}'`;
    return [fieldForbidden(`spec.schedulingGates[${index}].name`, found)];
  });
}

function validateTolerationsUpdate(spec: JsonObject, old: JsonObject): StatusCause[] {
  const tolerations = objectsAt(spec, 'tolerations');
  const kept = objectsAt(old, 'tolerations').every((before) =>
    tolerations.some((now) => deepEqual({ ...now, tolerationSeconds: 0 }, { ...before, tolerationSeconds: 0 })),
  );
  return kept
    ? []
    : [fieldForbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function validateDeadline(spec: JsonObject, old: JsonObject): StatusCause[] {
  const before = old.activeDeadlineSeconds;
  const now = spec.activeDeadlineSeconds;
  if (before === undefined || (typeof now === 'number' && now <= Number(before))) return [];
  return [
    invalidValue(
      'spec.activeDeadlineSeconds',
      now ?? null,
      'must be less than or equal to previous value, and may not be removed',
    ),
  ];
}

function validateNarrowing(spec: JsonObject, old: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  const selector = objectAt(spec, 'nodeSelector') ?? {};
  const oldSelector = objectAt(old, 'nodeSelector') ?? {};
  if (!Object.entries(oldSelector).every(([key, value]) => selector[key] === value)) {
    causes.push(
      invalidValue(
        'spec.nodeSelector',
        selector,
        'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ),
    );
  }
  const oldTerms = requiredTerms(old);
  const terms = requiredTerms(spec);
  if (oldTerms.length === 0) return causes;
  const narrowed = terms.length === oldTerms.length && oldTerms.every((term, index) => narrows(terms[index]!, term));
  if (!narrowed) {
    causes.push(
      invalidValue(
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms',
        terms,
        'only additions to the expressions of existing terms are allowed while the pod is gated',
      ),
    );
  }
  return causes;
}

function requiredTerms(spec: JsonObject): JsonObject[] {
  const nodeAffinity = objectAt(objectAt(spec, 'affinity'), 'nodeAffinity');
  return objectsAt(objectAt(nodeAffinity, 'requiredDuringSchedulingIgnoredDuringExecution'), 'nodeSelectorTerms');
}

function narrows(term: JsonObject, before: JsonObject): boolean {
  return ['matchExpressions', 'matchFields'].every((field) => {
    const expressions = objectsAt(term, field);
    return objectsAt(before, field).every((old) => expressions.filter(isObject).some((now) => deepEqual(now, old)));
  });
}
