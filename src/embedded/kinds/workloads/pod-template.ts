import { append } from '../../append.ts';
import type { StatusCause } from '../../http/api-error.ts';
import { compileLabelSelector } from '../../../api/label-selector.ts';
import type { Labels } from '../../../api/label-selector.ts';
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
  const labels = objectAt(objectAt(template, 'metadata'), 'labels');
  if (selector !== undefined && wrong.length === 0 && !selects(selector, labels)) {
    causes.push(
      invalidValue('spec.template.metadata.labels', labels ?? {}, '`selector` does not match template `labels`'),
    );
  }
  append(causes, validateLabels(labels, 'spec.template.metadata.labels'));
  const restartPolicy = textAt(objectAt(template, 'spec'), 'restartPolicy');
  for (const cause of validatePod(template)) causes.push({ ...cause, field: `spec.template.${cause.field}` });
  if (restartPolicy !== 'Always')
    causes.push(notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  return causes;
}

function selects(selector: JsonObject, labels: JsonObject | undefined): boolean {
  return compileLabelSelector(selector)(labels as Labels | undefined);
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
