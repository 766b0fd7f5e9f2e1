import { isDeepStrictEqual } from 'node:util';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { fieldForbidden } from '../../schema/field-error.ts';
import { objectAt, objectsAt, textAt } from '../access.ts';

const immutableMessage =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)';

/**
 * Rejects changes of a pod's spec, except for images, activeDeadlineSeconds, additional tolerations and the removal of scheduling
 * gates. While the pod is gated, its node selector and affinity may change, too.
 */
export function validatePodUpdate(pod: JsonObject, previous: JsonObject): StatusCause[] {
  const spec = objectAt(pod, 'spec') ?? {};
  const old = objectAt(previous, 'spec') ?? {};
  const causes = [...validateGateRemoval(spec, old), ...validateTolerationsUpdate(spec, old)];
  const allowed = structuredClone(spec);
  for (const field of ['containers', 'initContainers']) {
    const before = objectsAt(old, field);
    objectsAt(allowed, field).forEach((container, index) => {
      const image = before[index]?.image;
      if (image !== undefined && textAt(container, 'image') !== '') container.image = image;
    });
  }
  const isGated = objectsAt(old, 'schedulingGates').length > 0;
  const mutable = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'];
  if (isGated) mutable.push('nodeSelector', 'affinity');
  const changed = Object.keys({ ...allowed, ...old }).filter(
    (field) => !mutable.includes(field) && !isDeepStrictEqual(allowed[field], old[field]),
  );
  if (changed.length > 0) {
    const list = changed.map((field) => `spec.${field}`).join(', ');
    causes.push(fieldForbidden('spec', `${immutableMessage}; changed: ${list}`));
  }
  return causes;
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
  const keyOf = ({ key, operator, value, effect }: JsonObject): string =>
    JSON.stringify([key, operator, value, effect]);
  const tolerations = new Set(objectsAt(spec, 'tolerations').map(keyOf));
  const isUnchanged = objectsAt(old, 'tolerations').every((before) => tolerations.has(keyOf(before)));
  return isUnchanged
    ? []
    : [fieldForbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}
