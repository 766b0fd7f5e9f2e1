import { append } from '../../append.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { fieldForbidden, invalidValue, required } from '../../schema/field-error.ts';
import { checkStructural } from '../../schema/check-structural.ts';
import { StepLimit } from '../../schema/step-limit.ts';
import { metadataOf, objectAt, objectsAt, textAt, valueAt } from '../access.ts';
import { dnsLabelProblem, dnsSubdomainProblem } from '../field-rules.ts';
import { compileJsonPath } from '../json-path.ts';

const versionPattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
/** Groups of kinds that the server itself serves; the domain rule already rejects those without a dot. */
const builtInGroups: ReadonlySet<string> = new Set([
  'apiextensions.k8s.io',
  'coordination.k8s.io',
  'events.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
]);
/** Maximum number of versions of a CRD, and of columns of a version. A table has a cell for each column and each object. */
const maxItems = 32;
const columnTypes = ['integer', 'number', 'string', 'boolean', 'date'];

/** Checks a CustomResourceDefinition. Rejects features that this server could store but not act on. */
export function validateDefinition(definition: JsonObject): StatusCause[] {
  const spec = objectAt(definition, 'spec') ?? {};
  const group = textAt(spec, 'group');
  const plural = textAt(objectAt(spec, 'names'), 'plural');
  const name = metadataOf(definition).name as string;
  const causes: StatusCause[] = [];
  if (dnsSubdomainProblem(group) !== undefined || !group.includes('.')) {
    causes.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  } else if (builtInGroups.has(group)) {
    causes.push(fieldForbidden('spec.group', `${group} is a built-in group of this API server`));
  }
  const pluralProblem = plural === '' ? undefined : dnsLabelProblem(plural);
  if (pluralProblem !== undefined) causes.push(invalidValue('spec.names.plural', plural, pluralProblem));
  if (name !== `${plural}.${group}`) {
    causes.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  const strategy = valueAt(spec, 'conversion.strategy');
  if (strategy !== 'None') {
    const rule = `this API server supports the conversion strategy None only, not ${JSON.stringify(strategy)}`;
    causes.push(fieldForbidden('spec.conversion.strategy', rule));
  }
  const versions = objectsAt(spec, 'versions');
  if (versions.length > maxItems) return [tooMany('spec.versions')];
  const steps = new StepLimit();
  versions.forEach((version, index) => append(causes, validateVersion(version, `spec.versions[${index}]`, steps)));
  if (versions.filter((version) => version.storage === true).length !== 1) {
    const names = versions.map((version) => textAt(version, 'name'));
    causes.push(invalidValue('spec.versions', names, 'must have exactly one version marked as storage version'));
  }
  return causes;
}

function validateVersion(version: JsonObject, path: string, steps: StepLimit): StatusCause[] {
  const name = textAt(version, 'name');
  const causes: StatusCause[] = [];
  if (!versionPattern.test(name)) {
    causes.push(invalidValue(`${path}.name`, name, 'must be a DNS-1035 label such as v1alpha1'));
  }
  const schema = objectAt(version, 'schema')?.openAPIV3Schema;
  if (schema === undefined) causes.push(required(`${path}.schema.openAPIV3Schema`, 'schemas are required'));
  else append(causes, checkStructural(schema, `${path}.schema.openAPIV3Schema`, steps));
  for (const field of ['subresources.scale', 'selectableFields']) {
    if (valueAt(version, field) === undefined) continue;
    causes.push(fieldForbidden(`${path}.${field}`, 'not supported for custom resources by this API server'));
  }
  const columns = objectsAt(version, 'additionalPrinterColumns');
  if (columns.length > maxItems) return [...causes, tooMany(`${path}.additionalPrinterColumns`)];
  columns.forEach((column, index) => {
    const columnPath = `${path}.additionalPrinterColumns[${index}]`;
    if (textAt(column, 'name') === '' || !columnTypes.includes(textAt(column, 'type'))) {
      causes.push(invalidValue(columnPath, column, `must have a name, and a type of ${columnTypes.join(', ')}`));
    }
    causes.push(...validateJsonPath(textAt(column, 'jsonPath'), `${columnPath}.jsonPath`));
  });
  return causes;
}

function tooMany(field: string): StatusCause {
  return { field, reason: 'FieldValueTooMany', message: `Too many: must have at most ${maxItems} items` };
}

function validateJsonPath(text: string, field: string): StatusCause[] {
  if (text.startsWith('.') && compileJsonPath(text) !== undefined) return [];
  const rule = `must be a JSON path that this API server supports: .a.b or .a[?(@.b=="c")].d`;
  return [invalidValue(field, text, rule)];
}
