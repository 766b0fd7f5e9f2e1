import type { JsonObject, JsonValue } from '../json.ts';
import { FieldSet, FieldSetError, readFieldSet } from './field-set.ts';

/** What one manager owns of an object: an entry of `metadata.managedFields`. */
export interface FieldManager {
  readonly name: string;
  /** Apply: by server-side apply; Update: by any other write. */
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** When it last changed something; undefined when it never has. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** identity of a manager -> what it owns */
export type FieldManagers = ReadonlyMap<string, FieldManager>;

/** Which entries are one manager's: whoever applies is the same in all versions. */
export function identityOf({
  name,
  operation,
  apiVersion,
  subresource,
}: Omit<FieldManager, 'time' | 'fields'>): string {
  return JSON.stringify([name, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Reads `metadata.managedFields`; undefined when it is not right, as a client may have sent it. */
export function readFieldManagers(value: JsonValue | undefined): FieldManagers | undefined {
  const managers = new Map<string, FieldManager>();
  if (value === undefined || value === null) return managers;
  if (!Array.isArray(value)) return undefined;
  for (const entry of value) {
    const manager = readEntry(entry);
    if (manager === undefined) return undefined;
    managers.set(identityOf(manager), manager);
  }
  return managers;
}

function readEntry(entry: JsonValue): FieldManager | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return undefined;
  const { manager = '', operation, apiVersion, subresource = '', time, fieldsType, fieldsV1 } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (typeof apiVersion !== 'string' || apiVersion === '' || fieldsType !== 'FieldsV1') return undefined;
  if (typeof manager !== 'string' || typeof subresource !== 'string') return undefined;
  try {
    const fields = fieldsV1 === undefined ? new FieldSet() : readFieldSet(fieldsV1);
    return {
      name: manager,
      operation,
      apiVersion,
      subresource,
      time: typeof time === 'string' ? time : undefined,
      fields,
    };
  } catch (error) {
    if (error instanceof FieldSetError) return undefined;
    throw error;
  }
}

/** The entries as they are stored: who applies first, then by time and name. Undefined when nobody owns anything. */
export function writeFieldManagers(managers: FieldManagers): JsonObject[] | undefined {
  if (managers.size === 0) return undefined;
  const sortKey = ({ operation, time = '', name, apiVersion, subresource }: FieldManager): string =>
    [operation, time, name, apiVersion, subresource].join('\0');
  return [...managers.values()]
    .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
    .map(({ name, operation, apiVersion, subresource, time, fields }) => ({
      manager: name,
      operation,
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fields.toJson(),
      ...(subresource !== '' && { subresource }),
    }));
}

/** A manager as conflicts name it. */
export function managerText({ name, operation, apiVersion, subresource }: FieldManager): string {
  const place = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(name)}${place}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
