import { append } from '../../append.ts';
import type { StatusCause } from '../../http/api-error.ts';
import { compileLabelSelector } from '../../../../api/label-selector.ts';
import type { Labels } from '../../../../api/label-selector.ts';
import type { JsonObject } from '../../json.ts';
import { ensureObject, objectAt, textAt } from '../access.ts';
import { invalidValue, notSupported, required } from '../../schema/field-error.ts';
import { applyPodSpecDefaults } from '../pods/default-pod.ts';
import { validatePod } from '../pods/validate-pod.ts';
import { validateLabels } from '../validate-metadata.ts';
import { validateSelector } from '../validate-selector.ts';

/** Sets the defaults of the pod template at `template`. In place. */
export function applyPodTemplateDefaults(spec: JsonObject): void {
  const template = ensureObject(spec, 'template');
  ensureObject(template, 'metadata');
  const podSpec = ensureObject(template, 'spec');
  applyPodSpecDefaults(podSpec);
  // The API always writes both names of the field.
  if (podSpec.serviceAccountName !== undefined) podSpec.serviceAccount ??= podSpec.serviceAccountName;
}

/** Checks replicas, selector and template of a workload. */
export function validateTemplate(workload: JsonObject): StatusCause[] {
  const spec = objectAt(workload, 'spec') ?? {};
  const selector = objectAt(spec, 'selector');
  const template = objectAt(spec, 'template') ?? {};
  const causes = validatePodSelector(spec);
  if (Number(spec.replicas) < 0) {
    causes.push(invalidValue('spec.replicas', spec.replicas!, 'must be greater than or equal to 0'));
  }
  if (selector !== undefined && Object.keys(selector).length === 0) {
    causes.push(invalidValue('spec.selector', selector, 'empty selector is invalid for deployment'));
  }
  append(causes, validatePodTemplate(template));
  const restartPolicy = textAt(objectAt(template, 'spec'), 'restartPolicy');
  if (restartPolicy !== 'Always')
    causes.push(notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  return causes;
}

/** Checks the pod template at `spec.template`. */
export function validatePodTemplate(template: JsonObject): StatusCause[] {
  const labels = objectAt(objectAt(template, 'metadata'), 'labels');
  const causes = validateLabels(labels, 'spec.template.metadata.labels');
  for (const cause of validatePod(template)) causes.push({ ...cause, field: `spec.template.${cause.field}` });
  return causes;
}

/** Checks that the selector of a workload selects the pods that it creates. */
export function validatePodSelector(spec: JsonObject): StatusCause[] {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) return [required('spec.selector')];
  const causes = validateSelector(selector, 'spec.selector');
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  if (causes.length > 0 || compileLabelSelector(selector)(labels as Labels | undefined)) return causes;
  const problem = '`selector` does not match template `labels`';
  return [invalidValue('spec.template.metadata.labels', labels ?? null, problem)];
}
