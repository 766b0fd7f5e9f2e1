import { deepEqual } from '../deep-equal.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { compareObjects, listOf, objectOf } from './compare-objects.ts';
import type { Comparison } from './compare-objects.ts';
import { identityOf, readFieldManagers, writeFieldManagers } from './field-managers.ts';
import type { FieldManager, FieldManagers } from './field-managers.ts';
import { FieldSet, pathText } from './field-set.ts';
import type { PathElement } from './field-set.ts';
import { fieldsOf, withDeclaredFields } from './fields-of.ts';
import { ElementError } from './list-elements.ts';
import { mergeObjects } from './merge-objects.ts';
import { resolveOpen } from './owned-type.ts';
import type { OwnedType } from './owned-type.ts';
import { removeFields } from './remove-fields.ts';

/** Who writes, through what. */
export interface Writer {
  readonly name: string;
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** An API timestamp, in whole seconds. */
  readonly now: string;
  readonly type: OwnedType;
  /** Leaves of a set what a write through this can change: a write of the object does not own its status. */
  readonly filter: (set: FieldSet) => FieldSet;
}

/** One field that the applied object would change although somebody else owns it. */
export interface FieldConflict {
  readonly manager: FieldManager;
  readonly path: readonly PathElement[];
}

/** What is applied would change fields of other managers. */
export class ApplyConflictError extends Error {
  override readonly name = 'ApplyConflictError';
  readonly conflicts: readonly FieldConflict[];

  constructor(conflicts: readonly FieldConflict[]) {
    super(conflicts.map(({ path }) => pathText(path)).join(', '));
    this.conflicts = conflicts;
  }
}

/** More managers of updates than this are joined into one, the oldest first, so that the list cannot grow without end. */
const updateManagersLimit = 10;
const oldUpdates = 'ancient-changes';
const beforeFirstApply = 'before-first-apply';

/** What nobody owns: it says which object this is, or the server alone writes it. */
const ownedByNobody = new FieldSet();
ownedByNobody.insert(['f:apiVersion']);
ownedByNobody.insert(['f:kind']);
ownedByNobody.insert(['f:metadata']);
for (const name of [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]) {
  ownedByNobody.insert(['f:metadata', `f:${name}`]);
}

/**
 * The managed fields of an object after a write other than an apply: whoever wrote owns what changed, alone. `before` is the
 * object until now, undefined when there was none; `managedFields` is what the client sent as such, or else the old ones.
 */
export function trackUpdate(
  before: JsonObject | undefined,
  after: JsonObject,
  managedFields: JsonValue | undefined,
  writer: Writer,
): JsonObject[] | undefined {
  const managers = readFieldManagers(managedFields) ?? new Map<string, FieldManager>();
  try {
    return writeFieldManagers(updated(before, after, managers, writer));
  } catch (error) {
    if (!(error instanceof ElementError)) throw error;
    // Validation, which comes after, says what is wrong with such an object; if anything is, for updates.
    return writeFieldManagers(managers);
  }
}

function updated(
  before: JsonObject | undefined,
  after: JsonObject,
  managers: FieldManagers,
  writer: Writer,
): FieldManagers {
  const changes = filtered(
    compareObjects(complete(before ?? {}, writer.type), complete(after, writer.type), writer.type),
    writer,
  );
  const result = new Map(withoutChanges(managers, changes));
  const changed = writer.filter(changes.modified.union(changes.added)).difference(ownedByNobody);
  if (!changed.isEmpty) {
    const own = {
      name: writer.name,
      operation: 'Update',
      apiVersion: writer.apiVersion,
      subresource: writer.subresource,
    } as const;
    const previous = result.get(identityOf(own));
    const fields = previous === undefined ? changed : changed.union(previous.fields);
    result.set(identityOf(own), { ...own, time: writer.now, fields });
  }
  return joinOldUpdates(result);
}

export interface Applied {
  /** Without managed fields. The same one as was given when nothing changes. */
  readonly object: JsonObject;
  readonly managedFields: JsonObject[] | undefined;
}

/**
 * Applies an object: the live one with what the applied one says, and without what the same manager applied before, does not
 * apply any more, and nobody else owns. `live` is undefined when there is none yet.
 *
 * @throws ApplyConflictError unless `force`, which takes the fields from their owners.
 */
export function applyObject(
  live: JsonObject | undefined,
  applied: JsonObject,
  force: boolean,
  writer: Writer,
): Applied {
  const { type } = writer;
  const before = withoutManagedFields(live ?? {});
  let managers = readFieldManagers(objectOf(live?.metadata).managedFields) ?? new Map<string, FieldManager>();
  if (live !== undefined && managers.size === 0) {
    managers = updated(undefined, before, managers, { ...writer, name: beforeFirstApply });
  }
  const own = {
    name: writer.name,
    operation: 'Apply',
    apiVersion: writer.apiVersion,
    subresource: writer.subresource,
  } as const;
  const identity = identityOf(own);
  const last = managers.get(identity);
  const all = new Map(managers);
  all.set(identity, { ...own, time: last?.time, fields: writer.filter(fieldsOf(applied, type)) });
  const merged = mergeObjects(before, applied, type);
  const object = last === undefined ? merged : withoutAbandoned(merged, last.fields, all, type);

  const changes = filtered(compareObjects(complete(before, type), complete(object, type), type), writer);
  const others = new Map(all);
  others.delete(identity);
  if (!force) refuseConflicts(others, changes);
  const result = new Map(withoutChanges(others, changes));
  // Order counts too: lists whose elements are told apart by keys may have changed in nothing else.
  const isSame = live !== undefined && deepEqual(before, object);
  const fields = all.get(identity)!.fields.difference(ownedByNobody);
  if (!fields.isEmpty) result.set(identity, { ...own, time: isSame ? last?.time : writer.now, fields });
  return { object: isSame ? before : object, managedFields: writeFieldManagers(result) };
}

/**
 * Without what was applied last and is applied no more, unless somebody else owns it, be it a part of it. The field sets name
 * leaves, and keeping a leaf keeps the fields that lead to it.
 */
function withoutAbandoned(merged: JsonObject, last: FieldSet, managers: FieldManagers, type: OwnedType): JsonObject {
  const declared = (set: FieldSet): FieldSet => withDeclaredFields(set, type);
  const everything = declared(fieldsOf(merged, type));
  let owned = new FieldSet();
  for (const { fields } of managers.values()) owned = owned.union(fields);
  const cut = removeFields(merged, declared(last), type);
  const kept = removeFields(merged, everything.difference(declared(fieldsOf(cut, type)).union(declared(owned))), type);
  // What nobody owns, and was not applied by this manager either, stays.
  return removeFields(merged, everything.difference(declared(fieldsOf(kept, type))).intersection(declared(last)), type);
}

function refuseConflicts(others: FieldManagers, changes: Comparison): void {
  const changed = changes.modified.union(changes.added);
  const conflicts = [...others.values()].flatMap((manager) =>
    manager.fields
      .intersection(changed)
      .paths()
      .map((path) => ({ manager, path })),
  );
  if (conflicts.length > 0) throw new ApplyConflictError(conflicts);
}

/** What is left to each manager when somebody else makes these changes; who has nothing left is gone. */
function withoutChanges(managers: FieldManagers, changes: Comparison): FieldManagers {
  const gone = changes.modified.union(changes.added).union(changes.removed);
  if (gone.isEmpty) return managers;
  const left = new Map<string, FieldManager>();
  for (const [identity, manager] of managers) {
    const fields = manager.fields.difference(gone);
    if (!fields.isEmpty) left.set(identity, { ...manager, fields });
  }
  return left;
}

function filtered({ added, modified, removed }: Comparison, { filter }: Writer): Comparison {
  return { added: filter(added), modified: filter(modified), removed: filter(removed) };
}

function joinOldUpdates(managers: FieldManagers): FieldManagers {
  const updates = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updates.length <= updateManagersLimit) return managers;
  const age = ([, { time = '', name }]: [string, FieldManager]): string => `${time}\0${name}`;
  updates.sort((a, b) => (age(a) < age(b) ? -1 : 1));
  const result = new Map(managers);
  /** version -> identity of the oldest of its managers */
  const firsts = new Map<string, string>();
  let count = updates.length;
  for (const [identity, manager] of updates) {
    if (count <= updateManagersLimit) break;
    const first = firsts.get(manager.apiVersion);
    if (first === undefined) {
      firsts.set(manager.apiVersion, identity);
      continue;
    }
    const bucket = { name: oldUpdates, operation: 'Update', apiVersion: manager.apiVersion, subresource: '' } as const;
    const joined = result.get(identityOf(bucket)) ?? result.get(first)!;
    result.delete(first);
    result.delete(identity);
    result.set(identityOf(bucket), { ...bucket, time: manager.time, fields: joined.fields.union(manager.fields) });
    count--;
  }
  return result;
}

function withoutManagedFields(object: JsonObject): JsonObject {
  if (objectOf(object.metadata).managedFields === undefined) return object;
  const metadata = { ...objectOf(object.metadata) };
  delete metadata.managedFields;
  return { ...object, metadata };
}

/** The object as a server writes it out: with the fields that it writes even when nobody has set them. */
function complete(object: JsonObject, type: OwnedType): JsonObject {
  return objectOf(completeValue(withoutManagedFields(object), type));
}

function completeValue(value: JsonValue, open: OwnedType): JsonValue {
  const type = resolveOpen(open, value);
  if (type.kind === 'list') {
    if (!Array.isArray(value) || type.structure.type === 'atomic' || type.element.kind !== 'map') return value;
    return listOf(value).map((item) => completeValue(item, type.element));
  }
  if (type.kind !== 'map' || type.isAtomic || typeof value !== 'object' || value === null || Array.isArray(value))
    return value;
  // A map of scalars, which may be long, has nothing to be completed.
  if (type.element?.kind === 'scalar') return value;
  const entries = Object.entries(value).map(([name, child]): [string, JsonValue] => [
    name,
    completeValue(child, type.field(name) ?? type.element ?? { kind: 'open' }),
  ]);
  const missing = Object.entries(type.written()).filter(([name]) => !Object.hasOwn(value, name));
  for (const [name, empty] of missing) entries.push([name, completeValue(empty, type.field(name)!)]);
  return Object.fromEntries(entries);
}
