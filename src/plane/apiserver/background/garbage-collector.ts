import { ownerUids } from '../kinds/owner-index.ts';
import type { Collection } from '../store/collection.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { deleteObject } from '../verbs/delete.ts';
import { backgroundDeletion } from '../verbs/delete-options.ts';
import type { ApiContext } from '../verbs/api-context.ts';

/** Owners that are remembered after they are gone: what a controller makes for one comes a moment later at most. */
const mostRemembered = 10_000;

/**
 * Deletes, a moment after an owner is gone, what it owned and no one else does, and what comes later and names it. An owner that never
 * existed here is no reason: it may be of a kind that this server does not have.
 */
export function startGarbageCollector(context: ApiContext): void {
  /** uids of objects that are gone, the latest last */
  const gone = new Set<string>();
  context.store.subscribe((collection, change) => {
    const { uid, object } = change.object;
    if (change.type === 'ADDED' && ownerUids(object).some((owner) => gone.has(owner))) {
      context.background.after(0, 'what names an owner that is gone could not be looked for', uid, () =>
        collectLatecomer(context, collection, change.object),
      );
    }
    if (change.type !== 'DELETED') return;
    gone.add(uid);
    if (gone.size > mostRemembered) gone.delete(gone.values().next().value!);
    if (context.owners.dependents(uid).length === 0) return;
    context.background.after(0, 'what an owner left behind could not be looked for', uid, () => {
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
    'an object whose owner is gone could not be deleted',
    `${collection.name}/${stored.key}`,
    () => void deleteObject(context, type, stored, backgroundDeletion),
    undefined,
  );
}
