import { append } from '../../append.ts';
import { deepEqual } from '../../deep-equal.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { metadataOf, objectAt, objectsAt, textAt } from '../access.ts';
import { dnsLabelProblem, invalidValue, notSupported, required } from '../field-rules.ts';
import { validateSelector } from '../validate-selector.ts';
import { indexesProblem } from './completion-indexes.ts';
import { printedLabels, unlessSelected, validatePodTemplate } from './pod-template.ts';

const mostIndexed = 100_000;
const countFields = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];
const statusCounts = ['active', 'succeeded', 'failed', 'ready', 'terminating'];
const fixedFields = ['selector', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy'];

/** Checks the spec of a Job as far as the embedded plane's controller acts on it. Defaults are filled in by now. */
export function validateJob(job: JsonObject): StatusCause[] {
  const spec = objectAt(job, 'spec') ?? {};
  const template = objectAt(spec, 'template') ?? {};
  const selector = objectAt(spec, 'selector');
  const causes = validateGenerated(job, spec, template);
  const wrong = validateSelector(selector, 'spec.selector');
  append(causes, negativeCounts(spec, 'spec', countFields));
  append(causes, validateMode(job, spec));
  append(causes, validatePodTemplate(template));
  if (textAt(objectAt(template, 'spec'), 'restartPolicy') === 'Always') {
    causes.push(required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'));
  }
  if (selector === undefined) causes.push(required('spec.selector'));
  append(causes, wrong);
  if (wrong.length === 0) append(causes, unlessSelected(selector, template));
  return causes;
}

/** Rejects changes of a Job's immutable fields. */
export function validateJobUpdate(job: JsonObject, previous: JsonObject): StatusCause[] {
  const spec = objectAt(job, 'spec') ?? {};
  const old = objectAt(previous, 'spec') ?? {};
  const causes: StatusCause[] = [];
  const fixed = (field: string): void => {
    if (deepEqual(spec[field], old[field])) return;
    causes.push(invalidValue(`spec.${field}`, spec[field] ?? null, 'field is immutable'));
  };
  if (spec.completionMode !== 'Indexed' || spec.completions === undefined) fixed('completions');
  else if (spec.completions !== old.completions && spec.completions !== spec.parallelism) {
    const rule = 'can only be modified in tandem with spec.parallelism';
    causes.push(invalidValue('spec.completions', spec.completions, rule));
  }
  // A suspended Job without pods may still get another template, such as another node selector.
  const isSuspended = old.suspend === true && !(Number(objectAt(previous, 'status')?.active) > 0);
  for (const field of isSuspended ? fixedFields : [...fixedFields, 'template']) fixed(field);
  return causes;
}

/** Rejects a status that the controller could not continue from. */
export function validateJobStatus(job: JsonObject, previous: JsonObject): StatusCause[] {
  const status = objectAt(job, 'status') ?? {};
  const causes = negativeCounts(status, 'status', statusCounts);
  const indexes = textAt(status, 'completedIndexes');
  const problem = indexesProblem(indexes, Number(objectAt(job, 'spec')?.completions ?? 0));
  if (problem !== undefined) {
    causes.push(invalidValue('status.completedIndexes', indexes, `error parsing completedIndexes: ${problem}`));
  }
  for (const type of ['Failed', 'Complete']) {
    if (!holds(previous, type) || holds(job, type)) continue;
    const message = `Invalid value: cannot disable the terminal ${type}=True condition`;
    causes.push({ field: 'status.conditions', reason: 'FieldValueInvalid', message });
  }
  return causes;
}

function holds(job: JsonObject, type: string): boolean {
  return objectsAt(objectAt(job, 'status'), 'conditions').some((each) => each.type === type && each.status === 'True');
}

function negativeCounts(object: JsonObject, path: string, fields: readonly string[]): StatusCause[] {
  return fields
    .filter((field) => Number(object[field]) < 0)
    .map((field) => invalidValue(`${path}.${field}`, object[field] as JsonValue, 'must be greater than or equal to 0'));
}

/** Rejects labels and a selector other than those that the server generates. */
function validateGenerated(job: JsonObject, spec: JsonObject, template: JsonObject): StatusCause[] {
  if (spec.manualSelector === true) return [];
  const [name, uid] = [textAt(metadataOf(job), 'name'), textAt(metadataOf(job), 'uid')];
  const labels = objectAt(objectAt(template, 'metadata'), 'labels');
  const expected: readonly [string, string][] = [
    ['controller-uid', uid],
    ['job-name', name],
    ['batch.kubernetes.io/controller-uid', uid],
    ['batch.kubernetes.io/job-name', name],
  ];
  const field = 'spec.template.metadata.labels';
  const causes = expected
    .filter(([label, value]) => labels?.[label] !== value)
    .map(([label, value]) => invalidValue(`${field}[${label}]`, printedLabels(labels), `must be '${value}'`));
  const selector = objectAt(spec, 'selector');
  const generated = { metadata: { labels: Object.fromEntries(expected) } };
  if (selector !== undefined && unlessSelected(selector, generated).length > 0) {
    causes.push(invalidValue('spec.selector', selector, '`selector` not auto-generated'));
  }
  return causes;
}

function validateMode(job: JsonObject, spec: JsonObject): StatusCause[] {
  const { completionMode: mode, completions, parallelism } = spec;
  if (mode !== 'Indexed' && mode !== 'NonIndexed') {
    return [notSupported('spec.completionMode', mode ?? '', ['NonIndexed', 'Indexed'])];
  }
  if (mode === 'NonIndexed') return [];
  if (completions === undefined) return [required('spec.completions', 'when completion mode is Indexed')];
  const causes: StatusCause[] = [];
  if (Number(parallelism) > mostIndexed) {
    const rule = `must be less than or equal to ${mostIndexed} when completion mode is Indexed`;
    causes.push(invalidValue('spec.parallelism', parallelism as JsonValue, rule));
  }
  // The last index must fit into the host name of its pod.
  const name = textAt(metadataOf(job), 'name');
  const hostname = `${name}-${Number(completions) - 1}`;
  if (Number(completions) > 0 && dnsLabelProblem(hostname) !== undefined) {
    const rule = `will not able to create pod with invalid DNS label: ${hostname}`;
    causes.push(invalidValue('metadata.name', name, rule));
  }
  return causes;
}
