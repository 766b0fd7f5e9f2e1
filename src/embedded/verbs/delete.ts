import { conflict } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf, textAt } from '../kinds/access.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import type { DeleteOptions } from './delete-options.ts';

/** What became of a deletion: the object is gone, or it stays for a while (grace period, finalizers). */
export interface Deletion {
  readonly gone: boolean;
  /** The last state. */
  readonly object: StoredObject;
}

/** Deletes an object, or marks it as being deleted. Throws 403 and 409. */
export function deleteObject(
  context: ApiContext,
  type: ResourceType,
  stored: StoredObject,
  options: DeleteOptions,
): Deletion {
  checkPreconditions(type, stored, options);
  const { behaviour } = type;
  behaviour.admitDelete?.(stored.object);
  const metadata = metadataOf(stored.object);
  if (metadata.deletionTimestamp !== undefined) {
    // A deletion under way can only be made shorter, and only by someone who says how long.
    const remaining = Number(metadata.deletionGracePeriodSeconds ?? 0);
    const { gracePeriodSeconds } = options;
    if (gracePeriodSeconds === undefined || gracePeriodSeconds >= remaining) return { gone: false, object: stored };
  }
  const grace = behaviour.gracePeriod?.(stored.object, options.gracePeriodSeconds) ?? 0;
  if (options.dryRun) return { gone: grace === 0, object: stored };
  if (options.propagationPolicy === 'Orphan') context.owners.orphanDependents(stored.uid);

  const object = markDeleted(context, type, stored.object, grace);
  if (grace === 0 && isReleased(type, object)) return { gone: true, object: remove(context, type, stored, object) };
  return { gone: false, object: context.store.collection(type.storage).write(object) };
}

/** Removes an object whose deletion nothing holds up any more. Returns whether it did. */
export function removeIfReleased(context: ApiContext, type: ResourceType, stored: StoredObject): boolean {
  const metadata = metadataOf(stored.object);
  if (metadata.deletionTimestamp === undefined || Number(metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  if (!isReleased(type, stored.object)) return false;
  remove(context, type, stored, stored.object);
  return true;
}

function remove(context: ApiContext, type: ResourceType, stored: StoredObject, last: JsonObject): StoredObject {
  return context.store.collection(type.storage).remove(stored, last);
}

function isReleased(type: ResourceType, object: JsonObject): boolean {
  const { finalizers } = metadataOf(object);
  const held = Array.isArray(finalizers) && finalizers.length > 0;
  return !held && type.behaviour.heldBy?.(object) !== true;
}

function markDeleted(context: ApiContext, type: ResourceType, object: JsonObject, grace: number): JsonObject {
  const metadata = { ...metadataOf(object) };
  const marked: JsonObject = { ...object, metadata };
  const first = metadata.deletionTimestamp === undefined;
  metadata.deletionTimestamp = timestamp(context.nowMs() + grace * 1000);
  metadata.deletionGracePeriodSeconds = grace;
  if (first) type.behaviour.markDeleted?.(marked);
  return marked;
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function checkPreconditions(type: ResourceType, stored: StoredObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions;
  if (uid !== undefined && uid !== stored.uid) {
    throw conflict(
      type,
      stored.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.uid}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== textAt(metadataOf(stored.object), 'resourceVersion')) {
    throw conflict(
      type,
      stored.name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${stored.resourceVersion}`,
    );
  }
}
