import type { StatusCause } from '../../http/api-error.ts';
import { deepEqual } from '../../deep-equal.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { objectAt, objectsAt, textAt, textsAt } from '../access.ts';
import { duplicateValue, invalidValue, required } from '../field-rules.ts';
import { totalOfIndexes } from './completion-indexes.ts';
import { isIndexed } from './validate-job.ts';
import { count } from './workload.ts';

/**
 * Checks what a controller says of a Job, and how it goes from what was said before: a Job that has ended stays so, and what is said
 * of it fits together. What was wrong already and is not changed is no reason to refuse what is right.
 */
export function validateJobStatus(job: JsonObject, previous: JsonObject): StatusCause[] {
  const next = new JobSays(job);
  const old = new JobSays(previous);
  return [
    ...countProblems(next),
    ...uncountedProblems(next),
    ...contentProblems(next, old),
    ...transitionProblems(next, old),
  ];
}

/** The status of a Job, in the words of the rules. */
class JobSays {
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly isIndexed: boolean;

  constructor(job: JsonObject) {
    this.spec = objectAt(job, 'spec') ?? {};
    this.status = objectAt(job, 'status') ?? {};
    this.isIndexed = isIndexed(job);
  }

  has(type: string, status = 'True'): boolean {
    return objectsAt(this.status, 'conditions').some((each) => each.type === type && each.status === status);
  }

  get isComplete(): boolean {
    return this.has('Complete');
  }

  get hasFailed(): boolean {
    return this.has('Failed');
  }

  get isFinished(): boolean {
    return this.isComplete || this.hasFailed;
  }

  count(field: string): number {
    return count(this.status[field]);
  }

  uncounted(field: 'succeeded' | 'failed'): readonly string[] {
    return textsAt(objectAt(this.status, 'uncountedTerminatedPods'), field);
  }
}

function countProblems(next: JobSays): StatusCause[] {
  return ['active', 'succeeded', 'failed', 'ready', 'terminating']
    .filter((field) => next.count(field) < 0)
    .map((field) => invalidValue(`status.${field}`, next.count(field), 'must be greater than or equal to 0'));
}

function uncountedProblems(next: JobSays): StatusCause[] {
  const causes: StatusCause[] = [];
  const seen = new Set<string>();
  for (const field of ['succeeded', 'failed'] as const) {
    for (const [index, uid] of next.uncounted(field).entries()) {
      const place = `status.uncountedTerminatedPods.${field}[${index}]`;
      if (uid === '') causes.push(invalidValue(place, uid, 'must not be empty'));
      else if (seen.has(uid)) causes.push(duplicateValue(place, uid));
      seen.add(uid);
    }
  }
  return causes;
}

/** What does not fit together, where it is new. */
function contentProblems(next: JobSays, old: JobSays): StatusCause[] {
  const causes: StatusCause[] = [];
  const { status, spec } = next;
  const changed = (...fields: readonly string[]): boolean =>
    fields.some((field) => !deepEqual(status[field], old.status[field]));
  const turned = (...types: readonly string[]): boolean => types.some((type) => next.has(type) !== old.has(type));
  const finishes = next.isFinished !== old.isFinished;
  const unless = (isRight: boolean, cause: StatusCause): void => {
    if (!isRight) causes.push(cause);
  };
  const invalid = (field: string, detail: string): StatusCause =>
    invalidValue(`status.${field}`, status[field] ?? null, detail);

  if (turned('Complete', 'Failed')) {
    unless(!(next.isComplete && next.hasFailed), conditions('cannot set Complete=True and Failed=true conditions'));
  }
  if (turned('Complete', 'FailureTarget')) {
    unless(
      !(next.isComplete && next.has('FailureTarget')),
      conditions('cannot set Complete=True and FailureTarget=true conditions'),
    );
  }
  if (turned('Complete') || changed('completionTime')) {
    const rule = 'cannot set completionTime when there is no Complete=True condition';
    unless(status.completionTime === undefined || next.isComplete, invalid('completionTime', rule));
    const missing = required('status.completionTime', 'completionTime is required for Complete jobs');
    unless(status.completionTime !== undefined || !next.isComplete, missing);
  }
  if (changed('startTime', 'completionTime')) {
    const [start, end] = [textAt(status, 'startTime'), textAt(status, 'completionTime')];
    unless(
      start === '' || end === '' || end >= start,
      invalid('completionTime', 'must be equal to or after `startTime`'),
    );
  }
  if (turned('Failed') || changed('failedIndexes')) {
    const rule = 'cannot set Failed=True condition without the FailureTarget=true condition';
    unless(!next.hasFailed || next.has('FailureTarget'), conditions(rule));
  }
  if (turned('Complete', 'SuccessCriteriaMet')) {
    const rule = 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition';
    unless(!next.isComplete || next.has('SuccessCriteriaMet'), conditions(rule));
  }
  if (finishes || changed('active')) {
    unless(!next.isFinished || next.count('active') === 0, invalid('active', 'active>0 is invalid for finished job'));
  }
  if ((finishes || changed('startTime')) && !(spec.suspend === true && spec.completions === 0)) {
    const missing = required('status.startTime', 'startTime is required for finished job');
    unless(!next.isFinished || status.startTime !== undefined, missing);
  }
  if (finishes || changed('uncountedTerminatedPods')) {
    const waiting = next.uncounted('succeeded').length + next.uncounted('failed').length;
    unless(!next.isFinished || waiting === 0, invalid('uncountedTerminatedPods', 'must be empty for finished job'));
  }
  if (finishes || changed('terminating')) {
    unless(
      !next.isFinished || next.count('terminating') === 0,
      invalid('terminating', 'terminating>0 is invalid for finished job'),
    );
  }
  if (changed('ready', 'active') && status.ready !== undefined) {
    unless(next.count('ready') <= next.count('active'), invalid('ready', 'cannot set more ready pods than active'));
  }
  for (const field of ['completedIndexes', 'failedIndexes']) {
    const applies = field === 'completedIndexes' || spec.backoffLimitPerIndex !== undefined;
    if (!changed(field) || spec.completions === undefined || !applies) continue;
    const total = totalOfIndexes(textAt(status, field), Number(spec.completions));
    unless(typeof total === 'number', invalid(field, `error parsing ${field}: ${total}`));
  }
  if (changed('completedIndexes') && !next.isIndexed) {
    const rule = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    unless(textAt(status, 'completedIndexes') === '', invalid('completedIndexes', rule));
  }
  if (changed('failedIndexes') && spec.backoffLimitPerIndex === undefined) {
    const rule = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    unless(status.failedIndexes === undefined, invalid('failedIndexes', rule));
  }
  const succeeds = next.has('SuccessCriteriaMet');
  unless(!(succeeds && next.hasFailed), conditions('cannot set SuccessCriteriaMet=True and Failed=true conditions'));
  unless(
    !(succeeds && next.has('FailureTarget')),
    conditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'),
  );
  return causes;
}

/** What must not be taken back. */
function transitionProblems(next: JobSays, old: JobSays): StatusCause[] {
  const causes: StatusCause[] = [];
  const { spec, status } = next;
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (old.has(type) && !next.has(type)) causes.push(conditions(`cannot disable the terminal ${type}=True condition`));
  }
  const mayShrink = next.isIndexed && spec.completions === spec.parallelism;
  for (const field of mayShrink ? ['failed'] : ['failed', 'succeeded']) {
    if (next.count(field) >= old.count(field)) continue;
    causes.push(invalidValue(`status.${field}`, next.count(field), `cannot decrease the ${field} counter`));
  }
  const isOtherTime = (field: string): boolean =>
    old.status[field] !== undefined && status[field] !== undefined && status[field] !== old.status[field];
  if (isOtherTime('completionTime')) {
    causes.push(invalidValue('status.completionTime', status.completionTime as JsonValue, 'field is immutable'));
  }
  const isResuming = old.has('Suspended') && next.has('Suspended', 'False');
  if (
    old.status.startTime !== undefined &&
    status.startTime !== old.status.startTime &&
    spec.suspend !== true &&
    !isResuming
  ) {
    const rule = 'field is immutable for unsuspended job once set';
    causes.push(invalidValue('status.startTime', status.startTime ?? null, rule));
  }
  if (old.has('SuccessCriteriaMet') && !next.has('SuccessCriteriaMet')) {
    causes.push(conditions('cannot disable the SuccessCriteriaMet=True condition'));
  }
  return causes;
}

function conditions(detail: string): StatusCause {
  return { field: 'status.conditions', reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` };
}
