import { latestTimeMs, toKubernetesTime } from '../../../api/kubernetes-time.ts';
import { conflict } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf } from '../kinds/access.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import type { DeleteOptions } from './delete-options.ts';

/** The result of a deletion. The object is gone, or it stays until its grace period ends and its finalizers are removed. */
export interface Deletion {
  readonly gone: boolean;
  /** The last state. */
  readonly object: StoredObject;
}

/** Deletes an object, or sets its deletion timestamp. Throws 403 or 409. */
export function deleteObject(
  context: ApiContext,
  type: ResourceType,
  stored: StoredObject,
  options: DeleteOptions,
): Deletion {
  checkPreconditions(type, stored, options);
  const { behavior } = type;
  behavior.admitDelete?.(stored.object);
  const metadata = metadataOf(stored.object);
  if (metadata.deletionTimestamp !== undefined) {
    // A request can only shorten a deletion in progress, and only with an explicit grace period.
    const remaining = Number(metadata.deletionGracePeriodSeconds ?? 0);
    const { gracePeriodSeconds } = options;
    if (gracePeriodSeconds === undefined || gracePeriodSeconds >= remaining) return { gone: false, object: stored };
  }
  const grace = behavior.gracePeriod?.(stored.object, options.gracePeriodSeconds) ?? 0;
  const object = markDeleted(context, type, stored.object, grace);
  const gone = grace === 0 && isReleased(type, object);
  if (options.dryRun) return { gone, object: new StoredObject(object, stored.resourceVersion) };
  if (options.propagationPolicy === 'Orphan') context.owners.orphanDependents(stored.uid);

  const collection = context.store.collection(type.storage);
  if (!gone) return { gone, object: collection.write(object) };
  // An object with a grace period first gets a deletion timestamp, which watchers see. Other objects are removed without one.
  if (behavior.gracePeriod === undefined) {
    collection.remove(stored);
    return { gone, object: new StoredObject(object, stored.resourceVersion) };
  }
  const marked = collection.write(object);
  collection.remove(marked);
  return { gone, object: marked };
}

/** Removes an object that is being deleted, once neither its grace period nor finalizers keep it. */
export function removeIfReleased(context: ApiContext, type: ResourceType, stored: StoredObject): void {
  if (isDone(type, stored.object)) context.store.collection(type.storage).remove(stored);
}

/** Returns whether the object is being deleted and neither its grace period nor finalizers keep it. */
export function isDone(type: ResourceType, object: JsonObject): boolean {
  const metadata = metadataOf(object);
  if (metadata.deletionTimestamp === undefined || Number(metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return isReleased(type, object);
}

function isReleased(type: ResourceType, object: JsonObject): boolean {
  const { finalizers } = metadataOf(object);
  const hasFinalizers = Array.isArray(finalizers) && finalizers.length > 0;
  return !hasFinalizers && type.behavior.blocksRemoval?.(object) !== true;
}

function markDeleted(context: ApiContext, type: ResourceType, object: JsonObject, grace: number): JsonObject {
  const metadata = { ...metadataOf(object) };
  const marked: JsonObject = { ...object, metadata };
  const isFirst = metadata.deletionTimestamp === undefined;
  metadata.deletionTimestamp = toKubernetesTime(Math.min(context.nowMs() + grace * 1000, latestTimeMs));
  metadata.deletionGracePeriodSeconds = grace;
  // A deletion changes the desired state, so it raises the generation.
  if (isFirst && typeof metadata.generation === 'number') metadata.generation += 1;
  if (isFirst) type.behavior.markDeleted?.(marked);
  return marked;
}

function checkPreconditions(type: ResourceType, stored: StoredObject, { preconditions }: DeleteOptions): void {
  const checks = [
    ['UID', preconditions.uid, stored.uid, 'deleted and then recreated'],
    ['ResourceVersion', preconditions.resourceVersion, String(stored.resourceVersion), 'modified'],
  ] as const;
  for (const [field, wanted, found, change] of checks) {
    if (wanted === undefined || wanted === found) continue;
    throw conflict(
      { group: type.group, plural: type.kind },
      stored.name,
      `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${found}). The object might have been ${change}`,
    );
  }
}
