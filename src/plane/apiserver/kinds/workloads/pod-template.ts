import { append } from '../../append.ts';
import type { StatusCause } from '../../http/api-error.ts';
import { compileLabelSelector } from '../../../../api/label-selector.ts';
import type { Labels } from '../../../../api/label-selector.ts';
import type { JsonObject } from '../../json.ts';
import { ensureObject, objectAt, objectsAt, textAt } from '../access.ts';
import { textColumn } from '../column.ts';
import type { Column } from '../column.ts';
import { invalidValue, notSupported, required } from '../field-rules.ts';
import { applyPodSpecDefaults } from '../pods/default-pod.ts';
import { validatePod } from '../pods/validate-pod.ts';
import { labelSelectorText } from '../selector-text.ts';
import { validateLabels } from '../validate-metadata.ts';
import { validateSelector } from '../validate-selector.ts';

/** The defaults of the pods that a workload would make, and one replica. In place. */
export function applyTemplateDefaults(workload: JsonObject): void {
  const spec = ensureObject(workload, 'spec');
  spec.replicas ??= 1;
  applyPodTemplateDefaults(spec);
}

/** The defaults of the pods of a template, which is at `template`. In place. */
export function applyPodTemplateDefaults(spec: JsonObject): void {
  const template = ensureObject(spec, 'template');
  ensureObject(template, 'metadata');
  const podSpec = ensureObject(template, 'spec');
  applyPodSpecDefaults(podSpec);
  // Both names of the field are always written.
  if (podSpec.serviceAccountName !== undefined) podSpec.serviceAccount ??= podSpec.serviceAccountName;
}

/** Checks replicas, selector and template of a workload. */
export function validateTemplate(workload: JsonObject): StatusCause[] {
  const spec = objectAt(workload, 'spec') ?? {};
  const selector = objectAt(spec, 'selector');
  const template = objectAt(spec, 'template') ?? {};
  const causes: StatusCause[] = [];
  if (Number(spec.replicas) < 0) {
    causes.push(invalidValue('spec.replicas', spec.replicas!, 'must be greater than or equal to 0'));
  }
  if (selector === undefined) causes.push(required('spec.selector'));
  const wrong = validateSelector(selector, 'spec.selector');
  append(causes, wrong);
  if (selector !== undefined && Object.keys(selector).length === 0) {
    causes.push(invalidValue('spec.selector', selector, 'empty selector is invalid for deployment'));
  }
  if (selector !== undefined && wrong.length === 0) append(causes, unlessSelected(selector, template));
  append(causes, validatePodTemplate(template));
  const restartPolicy = textAt(objectAt(template, 'spec'), 'restartPolicy');
  if (restartPolicy !== 'Always')
    causes.push(notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  return causes;
}

/** What is wrong with the template of a workload's pods, which stands at `spec.template`. */
export function validatePodTemplate(template: JsonObject): StatusCause[] {
  const labels = objectAt(objectAt(template, 'metadata'), 'labels');
  const causes = validateLabels(labels, 'spec.template.metadata.labels');
  for (const cause of validatePod(template)) causes.push({ ...cause, field: `spec.template.${cause.field}` });
  return causes;
}

/** A workload must select the pods that it makes. */
export function unlessSelected(selector: JsonObject | undefined, template: JsonObject): StatusCause[] {
  const labels = objectAt(objectAt(template, 'metadata'), 'labels');
  if (compileLabelSelector(selector)(labels as Labels | undefined)) return [];
  const problem = '`selector` does not match template `labels`';
  return [invalidValue('spec.template.metadata.labels', printedLabels(labels), problem)];
}

/** As kube-apiserver prints them. */
export function printedLabels(labels: JsonObject | undefined): JsonObject | null {
  if (labels === undefined) return null;
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What `-o wide` shows of a workload's template. */
export const templateColumns: readonly Column[] = [
  textColumn('Containers', (workload) => containersText(workload, 'name'), 'wide'),
  textColumn('Images', (workload) => containersText(workload, 'image'), 'wide'),
  textColumn('Selector', (workload) => labelSelectorText(objectAt(objectAt(workload, 'spec'), 'selector')), 'wide'),
];

function containersText(workload: JsonObject, field: string): string {
  const template = objectAt(objectAt(workload, 'spec'), 'template');
  return objectsAt(objectAt(template, 'spec'), 'containers')
    .map((container) => textAt(container, field))
    .join(',');
}
