import { ownerUids } from '../kinds/owner-index.ts';
import { deleteObject } from '../verbs/delete.ts';
import { backgroundDeletion } from '../verbs/delete-options.ts';
import type { ApiContext } from '../verbs/api-context.ts';

/**
 * Deletes, a moment after an owner is gone, what it owned and no one else does. An owner that never existed here is no
 * reason: it may be of a kind that this server does not have.
 */
export function startGarbageCollector(context: ApiContext): void {
  context.store.subscribe((_collection, change) => {
    if (change.type !== 'DELETED') return;
    const { uid } = change.object;
    if (context.owners.dependents(uid).length === 0) return;
    context.background.after(0, 'what an owner left behind could not be looked for', uid, () =>
      collectDependents(context, uid),
    );
  });
}

function collectDependents(context: ApiContext, ownerUid: string): void {
  for (const { collection, stored } of context.owners.dependents(ownerUid)) {
    if (ownerUids(stored.object).some((uid) => context.owners.exists(uid))) continue;
    const type = context.registry.findByStorage(collection.name);
    if (type === undefined) continue;
    context.background.attempt(
      'an object whose owner is gone could not be deleted',
      `${collection.name}/${stored.key}`,
      () => void deleteObject(context, type, stored, backgroundDeletion),
      undefined,
    );
  }
}
