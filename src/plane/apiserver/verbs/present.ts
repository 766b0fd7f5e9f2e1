import type { JsonObject, JsonValue } from '../json.ts';
import type { ObjectForm } from '../http/negotiate.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import { metadataOf } from '../kinds/access.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import type { StoredObject } from '../store/stored-object.ts';

/** Returns the object as this resource serves it. It shares structure with the stored object, so do not change it. */
export function presentObject(type: ResourceType, object: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(type);
  if (type.conversion !== undefined) {
    return { ...type.conversion.fromStored(object), apiVersion, kind: type.kind };
  }
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** Returns the same as JSON text, encoded once for each version of the object. */
export function presentText(type: ResourceType, stored: StoredObject): string {
  return stored.text(apiVersionOf(type), (object) => JSON.stringify(presentObject(type, object)));
}

/** Returns the JSON text of a list item. Items of built-in kinds omit apiVersion and kind; custom resources repeat them. */
export function presentItemText(type: ResourceType, stored: StoredObject): string {
  if (type.content.type === 'structural') return presentText(type, stored);
  return stored.text(`${apiVersionOf(type)} item`, (object) => {
    const item = { ...presentObject(type, object) };
    delete item.apiVersion;
    delete item.kind;
    return JSON.stringify(item);
  });
}

const tableApiVersion = 'meta.k8s.io/v1';

/** The part of the object that each row of a Table includes. */
export type IncludeObject = 'Metadata' | 'Object';

/** The form in which a client wants objects. `includeObject` applies to tables only. */
export interface Presentation {
  readonly form: ObjectForm;
  readonly includeObject: IncludeObject;
}

/** Returns one object in the requested form. A table then has one row, and no columns if an earlier table defined them. */
export function presentOne(
  type: ResourceType,
  stored: StoredObject,
  presentation: Presentation,
  nowMs: number,
  columns?: 'defined',
): string {
  if (presentation.form === 'object') return presentText(type, stored);
  return JSON.stringify({
    ...tableHead(type, { resourceVersion: String(stored.resourceVersion) }),
    ...(columns === 'defined' && { columnDefinitions: null }),
    rows: [tableRow(type, stored, presentation, nowMs)],
  });
}

export function tableHead(type: ResourceType, metadata: JsonObject): JsonObject {
  return {
    kind: 'Table',
    apiVersion: tableApiVersion,
    metadata,
    columnDefinitions: type.columns.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format ?? '',
      description: column.description,
      priority: column.priority,
    })),
  };
}

export function tableRow(
  type: ResourceType,
  stored: StoredObject,
  presentation: Presentation,
  nowMs: number,
): JsonObject {
  const cells = type.columns.map((column): JsonValue => column.cell(stored.object, nowMs));
  if (presentation.includeObject === 'Object') return { cells, object: presentObject(type, stored.object) };
  const metadata = metadataOf(stored.object);
  return { cells, object: { kind: 'PartialObjectMetadata', apiVersion: tableApiVersion, metadata } };
}
