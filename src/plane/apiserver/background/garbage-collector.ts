import { ownerUids } from '../kinds/owner-index.ts';
import type { Collection } from '../store/collection.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { deleteObject } from '../verbs/delete.ts';
import { backgroundDeletion } from '../verbs/delete-options.ts';
import type { ApiContext } from '../verbs/api-context.ts';

/** Number of deleted owners to remember. A controller may create an object for an owner shortly after the owner is deleted. */
const maxRememberedOwners = 10_000;

/**
 * Deletes objects whose owners are all gone: the dependents of a deleted owner, and new objects that name an owner deleted earlier. It
 * runs right after the request. It keeps objects whose owners never existed, because they may be of a kind that this server does
 * not serve.
 */
export function startGarbageCollector(context: ApiContext): void {
  /** UIDs of deleted objects, the latest last */
  const gone = new Set<string>();
  context.store.subscribe((collection, change) => {
    const { uid, object } = change.object;
    if (change.type === 'ADDED' && ownerUids(object).some((owner) => gone.has(owner))) {
      context.background.after(0, 'cannot collect an object whose owner is gone', uid, () =>
        collectLatecomer(context, collection, change.object),
      );
    }
    if (change.type !== 'DELETED') return;
    gone.add(uid);
    if (gone.size > maxRememberedOwners) gone.delete(gone.values().next().value!);
    if (context.owners.dependents(uid).length === 0) return;
    context.background.after(0, 'cannot collect the dependents of a deleted owner', uid, () => {
      for (const dependent of context.owners.dependents(uid)) collect(context, dependent.collection, dependent.stored);
    });
  });
}

function collectLatecomer(context: ApiContext, collection: Collection, added: StoredObject): void {
  const stored = collection.get(added.namespace, added.name);
  if (stored?.uid === added.uid && ownerUids(stored.object).length > 0) collect(context, collection, stored);
}

function collect(context: ApiContext, collection: Collection, stored: StoredObject): void {
  if (ownerUids(stored.object).some((uid) => context.owners.exists(uid))) return;
  const type = context.registry.findByStorage(collection.name);
  if (type === undefined) return;
  context.background.attempt(
    'cannot delete an object whose owner is gone',
    `${collection.name}/${stored.key}`,
    () => void deleteObject(context, type, stored, backgroundDeletion),
    undefined,
  );
}
