import { isDeepStrictEqual } from 'node:util';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { duplicateValue, invalidValue, notSupported, required } from '../../schema/field-error.ts';
import { objectAt, objectsAt, ownValue, textAt } from '../access.ts';
import { dnsLabelProblem, dnsSubdomainProblem, qualifiedNameCauses } from '../field-rules.ts';
import { validateConditions } from '../validate-conditions.ts';

const highestUserPriority = 1_000_000_000;
const maxTopologyKeys = 1;
const maxClaims = 4;

/** Checks what all versions of Kubernetes' PodGroup share. The defaults must be set. */
export function validatePodGroup(group: JsonObject): StatusCause[] {
  const spec = objectAt(group, 'spec') ?? {};
  const policy = objectAt(spec, 'schedulingPolicy') ?? {};
  const topology = objectsAt(objectAt(spec, 'schedulingConstraints'), 'topology');
  const status = objectAt(group, 'status');
  const { priority } = spec;
  return [
    ...exactlyOne(policy, ['basic', 'gang'], 'spec.schedulingPolicy'),
    ...validateGang(objectAt(policy, 'gang')),
    ...eachOf(topology, maxTopologyKeys, 'spec.schedulingConstraints.topology', validateTopology),
    ...eachOf(objectsAt(spec, 'resourceClaims'), maxClaims, 'spec.resourceClaims', validateClaim),
    ...nameCauses(spec, 'priorityClassName', dnsSubdomainProblem, 'spec'),
    ...(typeof priority === 'number' && priority > highestUserPriority
      ? [invalidValue('spec.priority', priority, `must be less than or equal to ${highestUserPriority}`)]
      : []),
    ...validateConditions(objectsAt(status, 'conditions'), 'status.conditions'),
    ...objectsAt(status, 'resourceClaimStatuses').flatMap(({ name = '' }, index) => {
      if (objectsAt(spec, 'resourceClaims').some((claim) => claim.name === name)) return [];
      const path = `status.resourceClaimStatuses[${index}].name`;
      return [invalidValue(path, name, 'must match the name of an entry in `spec.resourceClaims`')];
    }),
  ];
}

/** Checks the fields that v1beta1 has and v1alpha2 does not. */
export function validateBeta(group: JsonObject): StatusCause[] {
  const spec = objectAt(group, 'spec') ?? {};
  const disruptionMode = objectAt(spec, 'disruptionMode');
  const workload = objectAt(spec, 'workloadRef');
  const preemptionPolicy = textAt(spec, 'preemptionPolicy');
  const policies = ['Never', 'PreemptLowerPriority'];
  return [
    ...(spec.parentCompositePodGroupName !== undefined && workload === undefined
      ? [required('spec.workloadRef', 'must be set when parentCompositePodGroupName is set')]
      : []),
    ...nameCauses(spec, 'parentCompositePodGroupName', dnsSubdomainProblem, 'spec'),
    ...requiredName(workload, 'workloadName', dnsSubdomainProblem, 'spec.workloadRef'),
    ...requiredName(workload, 'templateName', dnsLabelProblem, 'spec.workloadRef'),
    ...(disruptionMode === undefined ? [] : exactlyOne(disruptionMode, ['single', 'all'], 'spec.disruptionMode')),
    ...(preemptionPolicy === '' || policies.includes(preemptionPolicy)
      ? []
      : [notSupported('spec.preemptionPolicy', preemptionPolicy, policies)]),
  ];
}

/** Rejects every change of a spec but that of `gang.minCount`. */
export function validateBetaUpdate(group: JsonObject, previous: JsonObject): StatusCause[] {
  const spec = objectAt(group, 'spec') ?? {};
  const old = objectAt(previous, 'spec') ?? {};
  const policy = objectAt(spec, 'schedulingPolicy') ?? {};
  const oldPolicy = objectAt(old, 'schedulingPolicy') ?? {};
  const [hasGang, hadGang] = [policy.gang !== undefined, oldPolicy.gang !== undefined];
  return [
    ...changed(policy, oldPolicy, ['basic'], 'spec.schedulingPolicy'),
    ...(hasGang && !hadGang ? [unshown('spec.schedulingPolicy.gang', 'field cannot be set once created')] : []),
    ...(!hasGang && hadGang ? [unshown('spec.schedulingPolicy.gang', 'field cannot be cleared once set')] : []),
    ...changed(
      spec,
      old,
      Object.keys({ ...old, ...spec }).filter((field) => field !== 'schedulingPolicy'),
      'spec',
    ),
  ];
}

/** Rejects every change of a spec, as v1alpha2 does. */
export function validateAlphaUpdate(group: JsonObject, previous: JsonObject): StatusCause[] {
  const spec = objectAt(group, 'spec') ?? {};
  const old = objectAt(previous, 'spec') ?? {};
  return changed(spec, old, Object.keys({ ...old, ...spec }), 'spec');
}

function validateGang(gang: JsonObject | undefined): StatusCause[] {
  if (gang === undefined) return [];
  const path = 'spec.schedulingPolicy.gang.minCount';
  const { minCount = 0 } = gang;
  if (minCount === 0) return [required(path)];
  return Number(minCount) < 1 ? [invalidValue(path, minCount, 'must be greater than or equal to 1')] : [];
}

function validateTopology(constraint: JsonObject, path: string): StatusCause[] {
  const key = textAt(constraint, 'key');
  return key === '' ? [required(`${path}.key`)] : qualifiedNameCauses(`${path}.key`, key);
}

function validateClaim(claim: JsonObject, path: string, earlier: readonly JsonObject[]): StatusCause[] {
  const references = ['resourceClaimName', 'resourceClaimTemplateName'];
  return [
    ...(earlier.some(({ name }) => name === claim.name) ? [duplicateValue(path, claim)] : []),
    ...exactlyOne(claim, references, path),
    ...requiredName(claim, 'name', dnsLabelProblem, path),
    ...references.flatMap((field) => nameCauses(claim, field, dnsSubdomainProblem, path)),
  ];
}

function exactlyOne(owner: JsonObject, fields: readonly string[], path: string): StatusCause[] {
  const set = fields.filter((field) => ownValue(owner, field) !== undefined);
  const all = fields.map((field) => `\`${field}\``).join(', ');
  if (set.length === 0) return [invalidValue(path, '', `must specify one of: ${all}`)];
  return set.length === 1 ? [] : [invalidValue(path, `{${set.join(', ')}}`, `must specify exactly one of: ${all}`)];
}

/** Checks the entries of a list, unless it has too many. */
function eachOf(
  list: readonly JsonObject[],
  max: number,
  path: string,
  validate: (entry: JsonObject, path: string, earlier: readonly JsonObject[]) => StatusCause[],
): StatusCause[] {
  if (list.length <= max) {
    return list.flatMap((entry, index) => validate(entry, `${path}[${index}]`, list.slice(0, index)));
  }
  const message = `Too many: ${list.length}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`;
  return [{ field: path, reason: 'FieldValueTooMany', message }];
}

function requiredName(
  owner: JsonObject | undefined,
  field: string,
  problemOf: (text: string) => string | undefined,
  path: string,
): StatusCause[] {
  if (owner === undefined) return [];
  return textAt(owner, field) === '' ? [required(`${path}.${field}`)] : nameCauses(owner, field, problemOf, path);
}

function nameCauses(
  owner: JsonObject,
  field: string,
  problemOf: (text: string) => string | undefined,
  path: string,
): StatusCause[] {
  const name = textAt(owner, field);
  const problem = name === '' ? undefined : problemOf(name);
  return problem === undefined ? [] : [invalidValue(`${path}.${field}`, name, problem)];
}

function changed(now: JsonObject, before: JsonObject, fields: readonly string[], path: string): StatusCause[] {
  return fields
    .filter((field) => !isDeepStrictEqual(now[field], before[field]))
    .map((field) => unshown(`${path}.${field}`, 'field is immutable'));
}

/** Returns a cause as kube-apiserver reports changes: without the value. */
function unshown(field: string, detail: string): StatusCause {
  return invalidValue(field, null, detail);
}
