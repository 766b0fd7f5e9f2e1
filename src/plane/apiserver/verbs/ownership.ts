import type { JsonObject, JsonValue } from '../json.ts';
import { metadataOf } from '../kinds/access.ts';
import { apiVersionOf, hasStatusSubresource } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { FieldSet, modelType, readFieldManagers, trackUpdate } from '../ownership/index.ts';
import type { Writer } from '../ownership/index.ts';
import type { ApiContext } from './api-context.ts';
import { presentObject } from './present.ts';

/** To whom a write makes the fields belong that it changes. */
export type Ownership =
  | { readonly by: 'update'; readonly manager: string }
  /** Who owns what has been found out by applying. */
  | { readonly by: 'apply'; readonly managedFields: JsonObject[] | undefined };

const statusFields = new FieldSet();
statusFields.insert(['f:status']);
const statusAndMetadata = new FieldSet();
for (const path of [['f:status'], ['f:metadata', 'f:labels'], ['f:metadata', 'f:annotations']])
  statusAndMetadata.insert(path);

/** Somebody who writes an object of a kind, or its status, now. */
export function writerOf(context: ApiContext, type: ResourceType, name: string, status: boolean): Writer {
  return {
    name,
    apiVersion: apiVersionOf(type),
    subresource: status ? 'status' : '',
    now: context.now(),
    type: type.content.type === 'model' ? modelType(type.content.model) : type.content.owned,
    filter: filterOf(type, status),
  };
}

function filterOf(type: ResourceType, status: boolean): Writer['filter'] {
  if (status) {
    const own = type.behaviour.statusKeepsMetadata === true ? statusAndMetadata : statusFields;
    return (set) => set.onlyTrees(own);
  }
  return hasStatusSubresource(type) ? (set) => set.withoutTrees(statusFields) : (set) => set;
}

/**
 * The managed fields that an object has after a write; undefined for none. `sent` is what the client sent as such: an
 * empty list, or one empty entry, gives all ownership up.
 */
export function managedFieldsAfter(
  context: ApiContext,
  type: ResourceType,
  before: JsonObject | undefined,
  after: JsonObject,
  sent: JsonValue | undefined,
  status: boolean,
  ownership: Ownership | undefined,
): JsonValue[] | undefined {
  const old = before === undefined ? undefined : metadataOf(before).managedFields;
  if (ownership === undefined) return Array.isArray(old) ? old : undefined;
  if (ownership.by === 'apply') return ownership.managedFields;
  if (before !== undefined && isReset(sent)) return undefined;
  const given = (readFieldManagers(sent)?.size ?? 0) > 0 ? sent : old;
  if (given === undefined && (before !== undefined || type.behaviour.tracksOnceApplied === true)) return undefined;
  const writer = writerOf(context, type, ownership.manager, status);
  return trackUpdate(before && presentObject(type, before), presentObject(type, after), given, writer);
}

function isReset(sent: JsonValue | undefined): boolean {
  if (!Array.isArray(sent)) return false;
  return sent.length === 0 || (sent.length === 1 && Object.keys(sent[0] ?? {}).length === 0);
}
