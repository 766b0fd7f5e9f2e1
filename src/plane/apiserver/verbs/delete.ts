import { latestTimeMs, toKubernetesTime } from '../../../api/kubernetes-time.ts';
import { conflict } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf, textAt } from '../kinds/access.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { StoredObject } from '../store/stored-object.ts';
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
  const object = markDeleted(context, type, stored.object, grace);
  const gone = grace === 0 && isReleased(type, object);
  if (options.dryRun) return { gone, object: new StoredObject(object, stored.resourceVersion) };
  if (options.propagationPolicy === 'Orphan') context.owners.orphanDependents(stored.uid);

  const collection = context.store.collection(type.storage);
  if (!gone) return { gone, object: collection.write(object) };
  // What could have been given time is marked first, and watchers see that. Other objects are gone without a mark.
  if (behaviour.gracePeriod === undefined) {
    collection.remove(stored);
    return { gone, object: new StoredObject(object, stored.resourceVersion) };
  }
  const marked = collection.write(object);
  collection.remove(marked);
  return { gone, object: marked };
}

/** Removes an object whose deletion nothing holds up any more. */
export function removeIfReleased(context: ApiContext, type: ResourceType, stored: StoredObject): void {
  if (isDone(type, stored.object)) context.store.collection(type.storage).remove(stored);
}

/** Whether the object is being deleted and nothing holds that up any more. */
export function isDone(type: ResourceType, object: JsonObject): boolean {
  const metadata = metadataOf(object);
  if (metadata.deletionTimestamp === undefined || Number(metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return isReleased(type, object);
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
  metadata.deletionTimestamp = toKubernetesTime(Math.min(context.nowMs() + grace * 1000, latestTimeMs));
  metadata.deletionGracePeriodSeconds = grace;
  // Being deleted is a new wish.
  if (first && typeof metadata.generation === 'number') metadata.generation += 1;
  if (first) type.behaviour.markDeleted?.(marked);
  return marked;
}

function checkPreconditions(type: ResourceType, stored: StoredObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions;
  const subject = { group: type.group, plural: type.kind };
  if (uid !== undefined && uid !== stored.uid) {
    throw conflict(
      subject,
      stored.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${stored.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== textAt(metadataOf(stored.object), 'resourceVersion')) {
    throw conflict(
      subject,
      stored.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${stored.resourceVersion}). The object might have been modified`,
    );
  }
}
