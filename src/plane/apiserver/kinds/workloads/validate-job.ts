import { isDeepStrictEqual } from 'node:util';
import { append } from '../../append.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { objectAt, textAt } from '../access.ts';
import { invalidValue, required } from '../../schema/field-error.ts';
import { validatePodSelector, validatePodTemplate } from './pod-template.ts';

const countFields = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];
const immutableFields = ['selector', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy'];

/** Checks the spec fields of a Job that the embedded plane's controller acts on. The defaults must be set. */
export function validateJob(job: JsonObject): StatusCause[] {
  const spec = objectAt(job, 'spec') ?? {};
  const template = objectAt(spec, 'template') ?? {};
  const causes = countFields
    .filter((field) => Number(spec[field]) < 0)
    .map((field) => invalidValue(`spec.${field}`, spec[field]!, 'must be greater than or equal to 0'));
  if (spec.completionMode === 'Indexed' && spec.completions === undefined) {
    causes.push(required('spec.completions', 'when completion mode is Indexed'));
  }
  append(causes, validatePodTemplate(template));
  if (textAt(objectAt(template, 'spec'), 'restartPolicy') === 'Always') {
    causes.push(required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'));
  }
  return [...causes, ...validatePodSelector(spec)];
}

/** Rejects changes of a Job's immutable fields. */
export function validateJobUpdate(job: JsonObject, previous: JsonObject): StatusCause[] {
  const spec = objectAt(job, 'spec') ?? {};
  const old = objectAt(previous, 'spec') ?? {};
  // An Indexed Job may change completions and parallelism together.
  const isResized = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  // A suspended Job without pods may change its template, such as the node selector.
  const isSuspended = old.suspend === true && !(Number(objectAt(previous, 'status')?.active) > 0);
  const fields = [...immutableFields, ...(isResized ? [] : ['completions']), ...(isSuspended ? [] : ['template'])];
  return fields
    .filter((field) => !isDeepStrictEqual(spec[field], old[field]))
    .map((field) => invalidValue(`spec.${field}`, spec[field] ?? null, 'field is immutable'));
}
