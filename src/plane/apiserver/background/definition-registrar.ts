import type { JsonObject } from '../json.ts';
import { metadataOf } from '../kinds/access.ts';
import { cleanupFinalizer, customResourceDefinitions } from '../kinds/custom/custom-resource-definitions.ts';
import { customResourceTypes } from '../kinds/custom/custom-resource-types.ts';
import { deepEqual } from '../deep-equal.ts';
import type { Change } from '../store/change.ts';
import type { ApiContext } from '../verbs/api-context.ts';
import { deleteObject, removeIfReleased } from '../verbs/delete.ts';
import { backgroundDeletion } from '../verbs/delete-options.ts';

/**
 * Serves the resources of a CustomResourceDefinition as soon as it is stored. Deletes the objects of a CRD before the CRD itself. Ends
 * the watches of its resource when the CRD's spec changes or the CRD is removed, so that clients list again.
 */
export function startDefinitionRegistrar(context: ApiContext): void {
  const definitions = context.store.collection(customResourceDefinitions.storage);
  /** names of the CRDs that are being deleted */
  const terminating = new Set<string>();

  definitions.subscribe((change) => {
    serveDefinition(context, change);
    const { object } = change;
    if (change.type === 'DELETED') terminating.delete(object.name);
    else if (metadataOf(object.object).deletionTimestamp !== undefined && !terminating.has(object.name)) {
      terminating.add(object.name);
      context.background.after(0, 'cannot remove the objects of a CustomResourceDefinition', object.name, () =>
        removeInstances(context, object.name),
      );
    }
  });
  context.store.subscribe((collection, change) => {
    if (change.type !== 'DELETED' || !terminating.has(collection.name) || collection.size > 0) return;
    context.background.after(0, 'cannot finish the deletion of a CustomResourceDefinition', collection.name, () =>
      releaseDefinition(context, collection.name),
    );
  });
}

function serveDefinition(context: ApiContext, change: Change): void {
  const storage = change.object.name;
  if (change.type === 'DELETED') {
    context.registry.replace(storage, []);
  } else {
    if (change.type === 'MODIFIED' && deepEqual(change.object.object.spec, change.previous.object.spec)) return;
    context.store.collection(storage);
    context.registry.replace(storage, customResourceTypes(change.object.object));
  }
  if (change.type !== 'ADDED') context.watches.end(storage);
}

function removeInstances(context: ApiContext, storage: string): void {
  const type = context.registry.findByStorage(storage);
  const instances = context.store.collection(storage);
  for (const stored of instances.list()) {
    // Without a served version there are no deletion rules, such as finalizers: remove the object directly.
    if (type === undefined) instances.remove(stored);
    else {
      context.background.attempt(
        'cannot delete an object with its CustomResourceDefinition',
        `${storage}/${stored.key}`,
        () => void deleteObject(context, type, stored, backgroundDeletion),
        undefined,
      );
    }
  }
  if (instances.size === 0) releaseDefinition(context, storage);
}

function releaseDefinition(context: ApiContext, name: string): void {
  const collection = context.store.collection(customResourceDefinitions.storage);
  const stored = collection.get('', name);
  if (stored === undefined) return;
  const metadata: JsonObject = { ...metadataOf(stored.object) };
  const { finalizers } = metadata;
  if (!Array.isArray(finalizers) || !finalizers.includes(cleanupFinalizer)) return;
  metadata.finalizers = finalizers.filter((each) => each !== cleanupFinalizer);
  removeIfReleased(context, customResourceDefinitions, collection.write({ ...stored.object, metadata }));
}
