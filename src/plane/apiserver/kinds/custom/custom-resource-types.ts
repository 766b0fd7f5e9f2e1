import type { JsonObject, JsonValue } from '../../json.ts';
import { objectAt, objectsAt, textAt, textsAt } from '../access.ts';
import { ageColumn, ageSince, nameColumn } from '../column.ts';
import type { Column } from '../column.ts';
import { compileJsonPath } from '../json-path.ts';
import { metadataFields, statusSubresource } from '../resource-type.ts';
import type { ContentSchema, ResourceType } from '../resource-type.ts';
import { Patterns } from '../../schema/patterns.ts';
import { StepLimit } from '../../schema/step-limit.ts';
import { validateStructural } from '../../schema/validate-structural.ts';

/** Returns the resources of a CustomResourceDefinition: one for each served version. */
export function customResourceTypes(definition: JsonObject): ResourceType[] {
  const spec = objectAt(definition, 'spec')!;
  return objectsAt(spec, 'versions')
    .filter((version) => version.served === true)
    .map((version) => customResourceType(spec, version));
}

function customResourceType(spec: JsonObject, version: JsonObject): ResourceType {
  const names = objectAt(spec, 'names')!;
  const group = textAt(spec, 'group');
  const kind = textAt(names, 'kind');
  const plural = textAt(names, 'plural');
  const name = textAt(version, 'name');
  const hasStatus = objectAt(version, 'subresources')?.status !== undefined;
  return {
    group,
    version: name,
    kind,
    plural,
    singular: textAt(names, 'singular'),
    listKind: textAt(names, 'listKind'),
    shortNames: textsAt(names, 'shortNames'),
    categories: textsAt(names, 'categories'),
    namespaced: spec.scope === 'Namespaced',
    subresources: hasStatus ? [statusSubresource({ group, version: name, kind })] : [],
    storage: `${plural}.${group}`,
    storedApiVersion: `${group}/${storageVersion(spec)}`,
    content: structuralContent(objectAt(objectAt(version, 'schema'), 'openAPIV3Schema')!),
    columns: printerColumns(version),
    selectableFields: metadataFields,
    behavior: { generation: 'content', updateNeedsVersion: true },
  };
}

function structuralContent(schema: JsonObject): ContentSchema {
  const patterns = new Patterns();
  return {
    type: 'structural',
    schema,
    validate: (object) => validateStructural(object, schema, '', patterns, new StepLimit()),
  };
}

function storageVersion(spec: JsonObject): string {
  return textAt(
    objectsAt(spec, 'versions').find((version) => version.storage === true),
    'name',
  );
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function printerColumns(version: JsonObject): readonly Column[] {
  const own = objectsAt(version, 'additionalPrinterColumns').map((column): Column => {
    const find = compileJsonPath(textAt(column, 'jsonPath'))!;
    const type = textAt(column, 'type') as Column['type'];
    const format = textAt(column, 'format');
    return {
      name: textAt(column, 'name'),
      type,
      ...(format !== '' && { format }),
      description: textAt(column, 'description') || `Custom resource definition column: ${textAt(column, 'jsonPath')}`,
      priority: typeof column.priority === 'number' ? column.priority : 0,
      cell: (object, nowMs) => printedCell(find(object), type, nowMs),
    };
  });
  return own.length === 0 ? [nameColumn, { ...ageColumn, type: 'date' }] : [nameColumn, ...own];
}

function printedCell(found: readonly JsonValue[], type: Column['type'], nowMs: number): JsonValue {
  const first = found[0];
  if (first === undefined || first === null) return null;
  if (type === 'date') return ageSince(first, nowMs);
  if (type === 'string') return found.map(textOf).join(' ');
  return typeof first === (type === 'boolean' ? 'boolean' : 'number') ? first : null;
}
