import { metadataOf } from '../kinds/access.ts';
import { namespaces } from '../kinds/namespaces.ts';
import { deleteObject, removeIfReleased } from '../verbs/delete.ts';
import { backgroundDeletion } from '../verbs/delete-options.ts';
import type { ApiContext } from '../verbs/api-context.ts';

/** Deletes the objects of terminating namespaces, and removes each namespace once it is empty. */
export function startNamespaceCleaner(context: ApiContext): void {
  /** name of a terminating namespace -> whether a cleanup is scheduled */
  const terminating = new Map<string, boolean>();

  const scheduleCleanup = (name: string): void => {
    if (terminating.get(name) !== false) return;
    terminating.set(name, true);
    context.background.after(0, 'cannot empty a namespace', name, () => {
      if (!terminating.has(name)) return;
      terminating.set(name, false);
      if (emptyNamespace(context, name)) releaseNamespace(context, name);
    });
  };

  context.store.subscribe((collection, change) => {
    const { object } = change;
    if (collection.name !== namespaces.storage) {
      if (change.type === 'DELETED' && terminating.has(object.namespace)) scheduleCleanup(object.namespace);
    } else if (change.type === 'DELETED') {
      terminating.delete(object.name);
    } else if (metadataOf(object.object).deletionTimestamp !== undefined && !terminating.has(object.name)) {
      terminating.set(object.name, false);
      scheduleCleanup(object.name);
    }
  });
}

/** Deletes the objects in the namespace. Returns whether the namespace is then empty. */
function emptyNamespace(context: ApiContext, namespace: string): boolean {
  let empty = true;
  for (const collection of context.store.collections()) {
    const type = context.registry.findByStorage(collection.name);
    if (type?.namespaced !== true) continue;
    for (const stored of collection.list(namespace)) {
      const gone = context.background.attempt(
        'cannot delete an object with its namespace',
        `${collection.name}/${stored.key}`,
        () => deleteObject(context, type, stored, backgroundDeletion).gone,
        false,
      );
      if (!gone) empty = false;
    }
  }
  return empty;
}

function releaseNamespace(context: ApiContext, name: string): void {
  const collection = context.store.collection(namespaces.storage);
  const stored = collection.get('', name);
  if (stored === undefined) return;
  const released = collection.write({ ...stored.object, metadata: { ...metadataOf(stored.object) }, spec: {} });
  removeIfReleased(context, namespaces, released);
}
