import { append } from '../../append.ts';
import { deepEqual } from '../../deep-equal.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { metadataOf, objectAt, objectsAt, textAt } from '../access.ts';
import {
  dnsLabelProblem,
  duplicateValue,
  invalidValue,
  notSupported,
  qualifiedNameProblem,
  required,
} from '../field-rules.ts';
import { validateSelector } from '../validate-selector.ts';
import { totalOfIndexes } from './completion-indexes.ts';
import { printedLabels, unlessSelected, validatePodTemplate } from './pod-template.ts';

const mostIndexed = 100_000;
const mostWithManyCompletions = 10_000;
const mostRules = 20;
const mostExitCodes = 255;
const mostManagedBy = 63;
/** Characters of `succeededIndexes`. */
const mostIndexText = 65_536;

/** Whether the Job gives each of its pods an index. */
export function isIndexed(job: JsonObject): boolean {
  return objectAt(job, 'spec')?.completionMode === 'Indexed';
}

/** Checks the spec of a Job as far as its controller depends on it. Defaults are filled in by now. */
export function validateJob(job: JsonObject): StatusCause[] {
  const spec = objectAt(job, 'spec') ?? {};
  const template = objectAt(spec, 'template') ?? {};
  const selector = objectAt(spec, 'selector');
  const causes = validateGenerated(job, spec, template);
  const wrong = validateSelector(selector, 'spec.selector');
  append(causes, validateCounts(spec));
  append(causes, validateMode(spec));
  append(causes, validateFailurePolicy(spec, template));
  append(causes, validateSuccessPolicy(spec));
  append(causes, validateReplacement(spec));
  append(causes, validatePodTemplate(template));
  append(causes, validateRestartPolicy(spec, template));
  if (selector === undefined) causes.push(required('spec.selector'));
  append(causes, wrong);
  if (wrong.length === 0) append(causes, unlessSelected(selector, template));
  append(causes, validateName(job, spec));
  return causes;
}

/** What of a Job must not be changed any more. */
export function validateJobUpdate(job: JsonObject, previous: JsonObject): StatusCause[] {
  const spec = objectAt(job, 'spec') ?? {};
  const old = objectAt(previous, 'spec') ?? {};
  const causes: StatusCause[] = [];
  const fixed = (field: string): void => {
    if (deepEqual(spec[field], old[field])) return;
    causes.push(invalidValue(`spec.${field}`, spec[field] ?? null, 'field is immutable'));
  };
  if (isIndexed(job) && spec.completions !== undefined) {
    if (spec.completions !== old.completions && spec.completions !== spec.parallelism) {
      const rule = `can only be modified in tandem with spec.parallelism`;
      causes.push(invalidValue('spec.completions', spec.completions, rule));
    }
  } else {
    fixed('completions');
  }
  fixed('selector');
  if (!deepEqual(fixedTemplate(spec, previous), fixedTemplate(old, previous))) {
    causes.push(invalidValue('spec.template', spec.template ?? null, 'field is immutable'));
  }
  for (const field of ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'])
    fixed(field);
  return causes;
}

/** The pods of a suspended Job that has none may still be sent elsewhere, and ask for other amounts. */
function fixedTemplate(spec: JsonObject, previous: JsonObject): JsonValue | undefined {
  const template = objectAt(spec, 'template');
  const status = objectAt(previous, 'status');
  const isSuspended = objectsAt(status, 'conditions').some(
    ({ type, status }) => type === 'Suspended' && status === 'True',
  );
  const mayChange =
    objectAt(previous, 'spec')?.suspend === true &&
    (status?.startTime === undefined || isSuspended) &&
    (status?.active ?? 0) === 0;
  if (!mayChange || template === undefined) return template;
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    affinity,
    ...rest
  } = objectAt(template, 'spec') ?? {};
  const { labels: _labels, annotations: _annotations, ...metadata } = objectAt(template, 'metadata') ?? {};
  const { nodeAffinity: _nodes, ...others } = objectAt({ affinity: affinity ?? {} }, 'affinity') ?? {};
  const withoutResources = (field: string): JsonValue =>
    objectsAt(rest, field).map(({ resources: _resources, ...container }) => container);
  return {
    ...template,
    metadata,
    spec: {
      ...rest,
      affinity: others,
      containers: withoutResources('containers'),
      initContainers: withoutResources('initContainers'),
    },
  };
}

/** Labels and selector that the server has made, or that the user would have it believe it has. */
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
  const causes: StatusCause[] = [];
  for (const [label, value] of expected) {
    if (labels?.[label] === undefined) causes.push(required(`${field}[${label}]`, `must be '${value}'`));
    else if (labels[label] !== value)
      causes.push(invalidValue(`${field}[${label}]`, printedLabels(labels), `must be '${value}'`));
  }
  const selector = objectAt(spec, 'selector');
  if (
    selector !== undefined &&
    unlessSelected(selector, { metadata: { labels: Object.fromEntries(expected) } }).length > 0
  ) {
    causes.push(invalidValue('spec.selector', selector, '`selector` not auto-generated'));
  }
  return causes;
}

function validateCounts(spec: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ]) {
    const value = spec[field];
    if (typeof value === 'number' && value < 0) {
      causes.push(invalidValue(`spec.${field}`, value, 'must be greater than or equal to 0'));
    }
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    causes.push(required('spec.backoffLimitPerIndex', 'when maxFailedIndexes is specified'));
  }
  const managedBy = textAt(spec, 'managedBy');
  if (spec.managedBy !== undefined && !/^[^/]+\/.+$/.test(managedBy)) {
    const rule = 'must be a domain-prefixed path (such as "acme.io/foo")';
    causes.push(invalidValue('spec.managedBy', managedBy, rule));
  }
  if (managedBy.length > mostManagedBy) {
    causes.push(tooLong('spec.managedBy', mostManagedBy));
  }
  return causes;
}

function validateMode(spec: JsonObject): StatusCause[] {
  const {
    completionMode: mode,
    completions,
    parallelism,
    backoffLimitPerIndex: perIndex,
    maxFailedIndexes: mostFailed,
  } = spec;
  if (mode !== 'Indexed' && mode !== 'NonIndexed') {
    return [notSupported('spec.completionMode', mode ?? '', ['NonIndexed', 'Indexed'])];
  }
  const causes: StatusCause[] = [];
  const atMost = (field: string, most: number, when: string): void => {
    if (Number(spec[field]) <= most || spec[field] === undefined) return;
    causes.push(invalidValue(`spec.${field}`, spec[field], `must be less than or equal to ${most}${when}`));
  };
  if (mode === 'NonIndexed') {
    for (const [field, value] of [
      ['backoffLimitPerIndex', perIndex],
      ['maxFailedIndexes', mostFailed],
    ] as const) {
      if (value !== undefined) causes.push(invalidValue(`spec.${field}`, value, 'requires indexed completion mode'));
    }
    return causes;
  }
  if (completions === undefined) causes.push(required('spec.completions', 'when completion mode is Indexed'));
  if (parallelism !== undefined) atMost('parallelism', mostIndexed, ' when completion mode is Indexed');
  if (mostFailed !== undefined && Number(mostFailed) > Number(completions)) {
    causes.push(invalidValue('spec.maxFailedIndexes', mostFailed, 'must be less than or equal to completions'));
  }
  atMost('maxFailedIndexes', mostIndexed, '');
  if (Number(completions) > mostIndexed && perIndex !== undefined) {
    if (mostFailed === undefined) {
      causes.push(required('spec.maxFailedIndexes', `must be specified when completions is above ${mostIndexed}`));
    }
    const when = ` when completions are above ${mostIndexed} and used with backoff limit per index`;
    atMost('parallelism', mostWithManyCompletions, when);
    atMost('maxFailedIndexes', mostWithManyCompletions, when);
  }
  return causes;
}

const failureActions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

function validateFailurePolicy(spec: JsonObject, template: JsonObject): StatusCause[] {
  const policy = objectAt(spec, 'podFailurePolicy');
  if (policy === undefined) return [];
  const path = 'spec.podFailurePolicy.rules';
  const rules = objectsAt(policy, 'rules');
  const causes = tooMany(path, rules.length, mostRules);
  if (causes.length > 0) return causes;
  const podSpec = objectAt(template, 'spec');
  const names = [...objectsAt(podSpec, 'containers'), ...objectsAt(podSpec, 'initContainers')].map(({ name }) => name);
  for (const [index, rule] of rules.entries()) {
    const place = `${path}[${index}]`;
    const action = textAt(rule, 'action');
    if (action === '') causes.push(required(`${place}.action`, `valid values: ${listOf(failureActions)}`));
    else if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
      causes.push(invalidValue(`${place}.action`, action, 'requires the backoffLimitPerIndex to be set'));
    } else if (!failureActions.includes(action)) causes.push(notSupported(`${place}.action`, action, failureActions));
    const codes = objectAt(rule, 'onExitCodes');
    const conditions = objectsAt(rule, 'onPodConditions');
    if (codes !== undefined) append(causes, validateExitCodes(codes, `${place}.onExitCodes`, names));
    append(causes, validateConditionPatterns(conditions, `${place}.onPodConditions`));
    if ((codes !== undefined) === conditions.length > 0) {
      const said =
        codes === undefined
          ? 'one of OnExitCodes and OnPodConditions is required'
          : 'both OnExitCodes and OnPodConditions is not supported';
      causes.push(invalidWithoutValue(place, `specifying ${said}`));
    }
  }
  return causes;
}

function validateExitCodes(codes: JsonObject, path: string, names: readonly (JsonValue | undefined)[]): StatusCause[] {
  const causes: StatusCause[] = [];
  const operator = textAt(codes, 'operator');
  if (operator === '') causes.push(required(`${path}.operator`, `valid values: ${listOf(['In', 'NotIn'])}`));
  else if (!['In', 'NotIn'].includes(operator))
    causes.push(notSupported(`${path}.operator`, operator, ['In', 'NotIn']));
  if (codes.containerName !== undefined && !names.includes(codes.containerName)) {
    const rule = 'must be one of the container or initContainer names in the pod template';
    causes.push(invalidValue(`${path}.containerName`, codes.containerName, rule));
  }
  const values = Array.isArray(codes.values) ? codes.values.map(Number) : [];
  if (values.length === 0)
    causes.push(invalidValue(`${path}.values`, codes.values ?? null, 'at least one value is required'));
  if (values.length > mostExitCodes) return [...causes, ...tooMany(`${path}.values`, values.length, mostExitCodes)];
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0) {
      causes.push(invalidValue(`${path}.values[${index}]`, value, 'must not be 0 for the In operator'));
    }
    if (seen.has(value)) causes.push(duplicateValue(`${path}.values[${index}]`, value));
    seen.add(value);
  }
  if (values.some((value, index) => index > 0 && values[index - 1]! > value)) {
    causes.push(invalidValue(`${path}.values`, values, 'must be ordered'));
  }
  return causes;
}

function validateConditionPatterns(patterns: readonly JsonObject[], path: string): StatusCause[] {
  if (patterns.length > mostRules) return tooMany(path, patterns.length, mostRules);
  const causes: StatusCause[] = [];
  const statuses = ['False', 'True', 'Unknown'];
  for (const [index, pattern] of patterns.entries()) {
    const type = textAt(pattern, 'type');
    const problem = qualifiedNameProblem(type);
    if (problem !== undefined) causes.push(invalidValue(`${path}[${index}].type`, type, problem));
    if (!statuses.includes(textAt(pattern, 'status'))) {
      causes.push(notSupported(`${path}[${index}].status`, textAt(pattern, 'status'), statuses));
    }
  }
  return causes;
}

function validateSuccessPolicy(spec: JsonObject): StatusCause[] {
  const policy = objectAt(spec, 'successPolicy');
  if (policy === undefined) return [];
  if (spec.completionMode !== 'Indexed') {
    return [invalidValue('spec.successPolicy', asPrinted(policy), 'requires indexed completion mode')];
  }
  const path = 'spec.successPolicy.rules';
  const rules = objectsAt(policy, 'rules');
  const causes = tooMany(path, rules.length, mostRules);
  if (causes.length > 0) return causes;
  if (rules.length === 0) {
    causes.push(required(path, 'at least one rules must be specified when the successPolicy is specified'));
  }
  const completions = Number(spec.completions);
  for (const [index, rule] of rules.entries()) {
    const least = rule.succeededCount;
    const indexes = rule.succeededIndexes === undefined ? undefined : textAt(rule, 'succeededIndexes');
    const place = `${path}[${index}]`;
    if (least === undefined && indexes === undefined) {
      causes.push(required(place, 'at least one of succeededCount or succeededIndexes must be specified'));
    }
    if (indexes !== undefined && indexes.length > mostIndexText) {
      causes.push(tooLong(`${place}.succeededIndexes`, mostIndexText));
      continue;
    }
    const total = indexes === undefined ? undefined : totalOfIndexes(indexes, completions);
    if (typeof total === 'string') {
      causes.push(invalidValue(`${place}.succeededIndexes`, indexes!, `error parsing succeededIndexes: ${total}`));
    }
    if (least === undefined) continue;
    const field = `${place}.succeededCount`;
    if (Number(least) < 0) causes.push(invalidValue(field, least, 'must be greater than or equal to 0'));
    if (Number(least) > completions) {
      const most = `must be less than or equal to ${completions} (the number of specified completions)`;
      causes.push(invalidValue(field, least, most));
    }
    if (typeof total === 'number' && Number(least) > total) {
      const most = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
      causes.push(invalidValue(field, least, most));
    }
  }
  return causes;
}

/** As kube-apiserver prints it. */
function asPrinted(policy: JsonObject): JsonObject {
  const rules = objectsAt(policy, 'rules').map((rule) => ({
    SucceededIndexes: rule.succeededIndexes ?? null,
    SucceededCount: rule.succeededCount ?? null,
  }));
  return { Rules: rules };
}

function validateReplacement(spec: JsonObject): StatusCause[] {
  const policy = textAt(spec, 'podReplacementPolicy');
  const supported = spec.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  return supported.includes(policy) ? [] : [notSupported('spec.podReplacementPolicy', policy, supported)];
}

function validateRestartPolicy(spec: JsonObject, template: JsonObject): StatusCause[] {
  const policy = textAt(objectAt(template, 'spec'), 'restartPolicy');
  const field = 'spec.template.spec.restartPolicy';
  if (policy === 'Always')
    return [required(field, `valid values: ${['OnFailure', 'Never'].map((each) => JSON.stringify(each)).join(', ')}`)];
  if (policy === 'OnFailure' && spec.podFailurePolicy !== undefined) {
    return [invalidValue(field, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  }
  return [];
}

/** The last index must fit into the host name of its pod. */
function validateName(job: JsonObject, spec: JsonObject): StatusCause[] {
  const name = textAt(metadataOf(job), 'name');
  if (spec.completionMode !== 'Indexed' || !(Number(spec.completions) > 0)) return [];
  const hostname = `${name}-${Number(spec.completions) - 1}`;
  if (dnsLabelProblem(hostname) === undefined) return [];
  const rule = `will not able to create pod with invalid DNS label: ${hostname}`;
  return [invalidValue('metadata.name', name, rule)];
}

function tooLong(field: string, most: number): StatusCause {
  return { field, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${most} bytes` };
}

function tooMany(field: string, length: number, most: number): StatusCause[] {
  if (length <= most) return [];
  return [{ field, reason: 'FieldValueTooMany', message: `Too many: ${length}: must have at most ${most} items` }];
}

function invalidWithoutValue(field: string, detail: string): StatusCause {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` };
}

/** As kube-apiserver prints a list of choices. */
function listOf(choices: readonly string[]): string {
  return `[${choices.map((each) => JSON.stringify(each)).join(' ')}]`;
}
