import { append } from '../../append.ts';
import { conflict } from '../../http/api-error.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { checkStructural } from '../../schema/index.ts';
import { isObject, metadataOf, objectAt, objectsAt, textAt } from '../access.ts';
import { deepEqual } from '../../deep-equal.ts';
import {
  dnsLabelProblem,
  dnsSubdomainProblem,
  duplicateValue,
  fieldForbidden,
  invalidValue,
  notSupported,
  required,
} from '../field-rules.ts';
import { compileJsonPath } from '../json-path.ts';
import type { KindContext } from '../resource-type.ts';

const versionPattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const columnTypes = ['integer', 'number', 'string', 'boolean', 'date'];

/** Groups whose names the server itself serves: a definition cannot take them. */
const builtInGroups = new Set([
  'apiextensions.k8s.io',
  'authorization.k8s.io',
  'coordination.k8s.io',
  'events.k8s.io',
  'policy',
  'scheduling.k8s.io',
]);

/** Checks a CustomResourceDefinition; whatever this server could store but not honour is rejected. */
export function validateDefinition(definition: JsonObject, context: KindContext): StatusCause[] {
  const spec = objectAt(definition, 'spec');
  const names = objectAt(spec, 'names');
  const group = textAt(spec, 'group');
  const plural = textAt(names, 'plural');
  const causes: StatusCause[] = [];
  if (group === '') causes.push(required('spec.group'));
  else if (dnsSubdomainProblem(group) !== undefined || !group.includes('.')) {
    causes.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  } else if (builtInGroups.has(group)) {
    causes.push(fieldForbidden('spec.group', `${group} is a built-in group of this API server`));
  }
  for (const field of ['plural', 'kind']) if (textAt(names, field) === '') causes.push(required(`spec.names.${field}`));
  const pluralProblem = plural === '' ? undefined : dnsLabelProblem(plural);
  if (pluralProblem !== undefined) causes.push(invalidValue('spec.names.plural', plural, pluralProblem));
  const name = metadataOf(definition).name as string;
  if (plural !== '' && group !== '' && name !== `${plural}.${group}`) {
    causes.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  const scope = textAt(spec, 'scope');
  if (scope !== 'Namespaced' && scope !== 'Cluster') {
    causes.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  const strategy = textAt(objectAt(spec, 'conversion'), 'strategy');
  if (strategy !== 'None') {
    causes.push(
      fieldForbidden(
        'spec.conversion.strategy',
        `this API server converts with strategy None only, not ${JSON.stringify(strategy)}`,
      ),
    );
  }
  if (spec?.preserveUnknownFields === true) {
    causes.push(invalidValue('spec.preserveUnknownFields', true, 'must be false'));
  }
  append(causes, validateVersions(spec));
  rejectTakenNames(definition, context);
  return causes;
}

function validateVersions(spec: JsonObject | undefined): StatusCause[] {
  const versions = objectsAt(spec, 'versions');
  if (versions.length === 0) return [required('spec.versions')];
  const causes: StatusCause[] = [];
  const seen = new Set<string>();
  versions.forEach((version, index) => {
    const path = `spec.versions[${index}]`;
    const name = textAt(version, 'name');
    if (!versionPattern.test(name))
      causes.push(invalidValue(`${path}.name`, name, 'must be a DNS-1035 label such as v1alpha1'));
    if (seen.has(name)) causes.push(duplicateValue(`${path}.name`, name));
    seen.add(name);
    append(causes, validateVersion(version, path));
  });
  if (versions.filter((version) => version.storage === true).length !== 1) {
    causes.push(invalidValue('spec.versions', [...seen], 'must have exactly one version marked as storage version'));
  }
  return causes;
}

function validateVersion(version: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const schema = objectAt(version, 'schema')?.openAPIV3Schema;
  const schemaPath = `${path}.schema.openAPIV3Schema`;
  if (!isObject(schema)) causes.push(required(schemaPath, 'schemas are required'));
  else append(causes, checkStructural(schema, schemaPath));
  const subresources = objectAt(version, 'subresources');
  if (subresources?.scale !== undefined) {
    causes.push(
      fieldForbidden(`${path}.subresources.scale`, 'this API server has no scale subresource for custom resources'),
    );
  }
  objectsAt(version, 'additionalPrinterColumns').forEach((column, index) => {
    const columnPath = `${path}.additionalPrinterColumns[${index}]`;
    if (textAt(column, 'name') === '') causes.push(required(`${columnPath}.name`));
    if (!columnTypes.includes(textAt(column, 'type'))) {
      causes.push(notSupported(`${columnPath}.type`, textAt(column, 'type'), columnTypes));
    }
    append(causes, validateJsonPath(textAt(column, 'jsonPath'), `${columnPath}.jsonPath`));
  });
  objectsAt(version, 'selectableFields').forEach((field, index) => {
    append(causes, validateJsonPath(textAt(field, 'jsonPath'), `${path}.selectableFields[${index}].jsonPath`));
  });
  return causes;
}

function validateJsonPath(text: string, field: string): StatusCause[] {
  if (text === '') return [required(field)];
  if (text.startsWith('.') && compileJsonPath(text) !== undefined) return [];
  return [
    invalidValue(
      field,
      text,
      `is not a JSON path this API server knows: write .a.b, ['a.b'], [0], [*] or [?(@.a=="b")]`,
    ),
  ];
}

/** Two definitions of one group must not share a kind, plural, singular or short name. */
function rejectTakenNames(definition: JsonObject, context: KindContext): void {
  const name = metadataOf(definition).name as string;
  const group = textAt(objectAt(definition, 'spec'), 'group');
  const own = takenNames(definition);
  for (const other of context.store.collection('customresourcedefinitions.apiextensions.k8s.io').list()) {
    if (other.name === name || textAt(objectAt(other.object, 'spec'), 'group') !== group) continue;
    const shared = takenNames(other.object).find((each) => own.includes(each));
    if (shared === undefined) continue;
    throw conflict(
      { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' },
      name,
      `the name ${JSON.stringify(shared)} is already in use by ${other.name}`,
    );
  }
}

function takenNames(definition: JsonObject): JsonValue[] {
  const names = objectAt(objectAt(definition, 'spec'), 'names') ?? {};
  const shortNames = Array.isArray(names.shortNames) ? names.shortNames : [];
  return [names.plural ?? '', names.singular ?? '', names.kind ?? '', names.listKind ?? '', ...shortNames].filter(
    (each) => each !== '',
  );
}

export function validateDefinitionUpdate(definition: JsonObject, previous: JsonObject): StatusCause[] {
  const spec = objectAt(definition, 'spec') ?? {};
  const old = objectAt(previous, 'spec') ?? {};
  const causes: StatusCause[] = [];
  for (const field of ['group', 'scope']) {
    if (spec[field] !== old[field])
      causes.push(invalidValue(`spec.${field}`, spec[field] ?? null, 'field is immutable'));
  }
  for (const field of ['plural', 'kind']) {
    const now = objectAt(spec, 'names')?.[field];
    if (!deepEqual(now, objectAt(old, 'names')?.[field])) {
      causes.push(invalidValue(`spec.names.${field}`, now ?? null, 'field is immutable'));
    }
  }
  return causes;
}
