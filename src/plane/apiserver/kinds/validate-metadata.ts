import { isDeepStrictEqual } from 'node:util';
import { append } from '../append.ts';
import type { StatusCause } from '../http/api-error.ts';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { metadataOf, textAt, textsAt } from './access.ts';
import {
  dnsLabelProblem,
  dnsSubdomainProblem,
  labelValueProblem,
  qualifiedNameCauses,
  qualifiedNameProblem,
} from './field-rules.ts';
import { fieldForbidden, invalidValue, required } from '../schema/field-error.ts';

const annotationsLimitBytes = 256 * 1024;

/** The rule for the names of a kind's objects. */
export type NameRule = 'subdomain' | 'label';

const nameProblems: Readonly<Record<NameRule, (name: string) => string | undefined>> = {
  subdomain: dnsSubdomainProblem,
  label: dnsLabelProblem,
};

/** Checks the rules for the metadata of all objects. The name must be set. */
export function validateMetadata(object: JsonObject, nameRule: NameRule): StatusCause[] {
  const metadata = metadataOf(object);
  const causes: StatusCause[] = [];
  const name = metadata.name as string;
  const nameProblem = nameProblems[nameRule](name);
  if (nameProblem !== undefined) causes.push(invalidValue('metadata.name', name, nameProblem));
  append(causes, validateLabels(metadata.labels, 'metadata.labels'));
  append(causes, validateAnnotations(metadata.annotations));
  append(causes, validateOwners(metadata.ownerReferences));
  for (const finalizer of textsAt(metadata, 'finalizers')) {
    append(causes, qualifiedNameCauses('metadata.finalizers', finalizer));
  }
  return causes;
}

export function validateLabels(labels: JsonValue | undefined, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [key, value] of textEntries(labels)) {
    const keyProblem = qualifiedNameProblem(key);
    if (keyProblem !== undefined) causes.push(invalidValue(field, key, keyProblem));
    const valueProblem = labelValueProblem(value);
    if (valueProblem !== undefined) causes.push(invalidValue(field, value, valueProblem));
  }
  return causes;
}

/** Returns the entries of a map of strings. Decoding has checked its type. */
function textEntries(map: JsonValue | undefined): [string, string][] {
  return isObject(map) ? (Object.entries(map) as [string, string][]) : [];
}

function validateAnnotations(annotations: JsonValue | undefined): StatusCause[] {
  const causes: StatusCause[] = [];
  let size = 0;
  for (const [key, value] of textEntries(annotations)) {
    const problem = qualifiedNameProblem(key.toLowerCase());
    if (problem !== undefined) causes.push(invalidValue('metadata.annotations', key, problem));
    size += key.length + value.length;
  }
  if (size > annotationsLimitBytes) {
    causes.push({
      field: 'metadata.annotations',
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${annotationsLimitBytes} bytes`,
    });
  }
  return causes;
}

function validateOwners(owners: JsonValue | undefined): StatusCause[] {
  const causes: StatusCause[] = [];
  let controllers = 0;
  (Array.isArray(owners) ? owners.filter(isObject) : []).forEach((owner, index) => {
    for (const field of ['apiVersion', 'kind', 'name', 'uid']) {
      if (textAt(owner, field) === '') {
        causes.push(required(`metadata.ownerReferences[${index}].${field}`, 'must not be empty'));
      }
    }
    if (owner.controller === true) controllers++;
  });
  if (controllers > 1) {
    causes.push(
      invalidValue('metadata.ownerReferences', controllers, 'only one reference can have controller set to true'),
    );
  }
  return causes;
}

/**
 * Checks a change of metadata. Restores fields that only the server may set if the client omitted them, and rejects different
 * values. Always keeps the creation timestamp.
 */
export function validateMetadataUpdate(object: JsonObject, previous: JsonObject): StatusCause[] {
  const metadata = metadataOf(object);
  const old = metadataOf(previous);
  const causes: StatusCause[] = [];
  if (old.creationTimestamp !== undefined) metadata.creationTimestamp = old.creationTimestamp;
  for (const field of ['uid', 'deletionTimestamp', 'deletionGracePeriodSeconds']) {
    const before = old[field];
    const after = metadata[field] ?? undefined;
    if (after === undefined && before !== undefined) metadata[field] = before;
    else if (!isDeepStrictEqual(after, before)) {
      causes.push(invalidValue(`metadata.${field}`, after ?? null, 'field is immutable'));
    }
  }
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(textsAt(old, 'finalizers'));
    const added = textsAt(metadata, 'finalizers').filter((each) => !before.has(each));
    if (added.length > 0) {
      causes.push(
        fieldForbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((each) => JSON.stringify(each)).join(', ')}}`,
        ),
      );
    }
  }
  return causes;
}

/** Returns the cause for an object with neither a name nor a name prefix. */
export function missingName(): StatusCause {
  return required('metadata.name', 'name or generateName is required');
}
