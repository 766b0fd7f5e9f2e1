import type { JsonObject, JsonValue } from '../json.ts';
import type { ObjectForm } from '../http/negotiate.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import type { StoredObject } from '../store/stored-object.ts';

/** The object as this resource serves it. Shares structure with the stored one: not to be changed. */
export function presentObject(type: ResourceType, object: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(type);
  if (type.conversion !== undefined) {
    return { ...type.conversion.fromStored(object), apiVersion, kind: type.kind };
  }
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** The same as JSON text, made once for each version of the object. */
export function presentText(type: ResourceType, stored: StoredObject): string {
  return stored.text(apiVersionOf(type), (object) => JSON.stringify(presentObject(type, object)));
}

/** The same as an item of a list: built-in kinds leave to the list what they are, custom resources say it again. */
export function presentItemText(type: ResourceType, stored: StoredObject): string {
  if (type.content.type === 'structural') return presentText(type, stored);
  return stored.text(`${apiVersionOf(type)} item`, (object) => {
    const item = { ...presentObject(type, object) };
    delete item.apiVersion;
    delete item.kind;
    return JSON.stringify(item);
  });
}

/** What a Table shows of the objects in its rows besides the cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** How a client wants objects: the form, its version, and what only tables have. */
export interface Presentation {
  readonly form: ObjectForm;
  readonly version: string;
  readonly includeObject: IncludeObject;
}

/** One object in the form that was asked for; a table has one row then, and no columns when they are defined already. */
export function presentOne(
  type: ResourceType,
  stored: StoredObject,
  presentation: Presentation,
  nowMs: number,
  columns?: 'defined',
): string {
  switch (presentation.form) {
    case 'object':
      return presentText(type, stored);
    case 'table':
      return JSON.stringify({
        ...tableHead(type, presentation.version, { resourceVersion: String(stored.resourceVersion) }),
        ...(columns === 'defined' && { columnDefinitions: null }),
        rows: [tableRow(type, stored, presentation, nowMs)],
      });
  }
}

function partialMetadata(object: JsonObject, version: string): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata ?? {},
  };
}

export function tableHead(type: ResourceType, version: string, metadata: JsonObject): JsonObject {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
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
  const row: JsonObject = { cells: type.columns.map((column): JsonValue => column.cell(stored.object, nowMs)) };
  switch (presentation.includeObject) {
    case 'None':
      row.object = null;
      break;
    case 'Metadata':
      row.object = partialMetadata(stored.object, presentation.version);
      break;
    case 'Object':
      row.object = presentObject(type, stored.object);
      break;
  }
  return row;
}
