import type { JsonObject } from '../json.ts';
import { metadataOf, textsAt } from '../kinds/access.ts';
import { cleanupFinalizer, customResourceDefinitions } from '../kinds/custom/custom-resource-definitions.ts';
import { namespaces } from '../kinds/namespaces.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import type { Collection } from '../store/collection.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from '../verbs/api-context.ts';
import { deleteObject, removeIfReleased } from '../verbs/delete.ts';
import { backgroundDeletion } from '../verbs/delete-options.ts';

/** A kind whose objects stay during their deletion until their contents are gone. */
interface Container {
  readonly type: ResourceType;
  /** Returns the name of the container that holds an object of the collection. Empty if none does. */
  readonly containerOf: (collection: Collection, object: StoredObject) => string;
  /** Returns the objects that the container of that name holds. */
  readonly contents: (context: ApiContext, collection: Collection, name: string) => readonly StoredObject[];
  /** Returns the container without what keeps it. */
  readonly released: (container: JsonObject) => JsonObject;
}

const containers: readonly Container[] = [
  {
    type: namespaces,
    containerOf: (_collection, object) => object.namespace,
    contents: ({ registry }, collection, name) =>
      registry.findByStorage(collection.name)?.namespaced === true ? collection.list(name) : [],
    released: (namespace) => ({ ...namespace, metadata: { ...metadataOf(namespace) }, spec: {} }),
  },
  {
    type: customResourceDefinitions,
    containerOf: (collection) => collection.name,
    contents: (_context, collection, name) => (collection.name === name ? collection.list() : []),
    released: (definition) => {
      const metadata = { ...metadataOf(definition) };
      metadata.finalizers = textsAt(metadata, 'finalizers').filter((each) => each !== cleanupFinalizer);
      return { ...definition, metadata };
    },
  },
];

/** Deletes the objects of terminating namespaces and CustomResourceDefinitions, and then the namespace or CRD itself. */
export function startContentCleaners(context: ApiContext): void {
  for (const container of containers) startContentCleaner(context, container);
}

function startContentCleaner(context: ApiContext, container: Container): void {
  const { storage } = container.type;
  /** name of a terminating container -> whether a cleanup is scheduled */
  const terminating = new Map<string, boolean>();

  const scheduleCleanup = (name: string): void => {
    if (terminating.get(name) !== false) return;
    terminating.set(name, true);
    context.background.after(0, 'cannot delete the contents of an object', `${storage}/${name}`, () => {
      if (!terminating.has(name)) return;
      terminating.set(name, false);
      if (deleteContents(context, container, name)) release(context, container, name);
    });
  };

  context.store.subscribe((collection, change) => {
    const { object } = change;
    if (collection.name !== storage) {
      if (change.type === 'DELETED') scheduleCleanup(container.containerOf(collection, object));
    } else if (change.type === 'DELETED') {
      terminating.delete(object.name);
    } else if (metadataOf(object.object).deletionTimestamp !== undefined && !terminating.has(object.name)) {
      terminating.set(object.name, false);
      scheduleCleanup(object.name);
    }
  });
}

/** Deletes the contents. Returns whether all of them are gone. */
function deleteContents(context: ApiContext, container: Container, name: string): boolean {
  let isEmpty = true;
  for (const collection of context.store.collections()) {
    const type = context.registry.findByStorage(collection.name);
    for (const stored of container.contents(context, collection, name)) {
      const isGone = context.background.attempt(
        'cannot delete an object with what contains it',
        `${collection.name}/${stored.key}`,
        () => deleteOrRemove(context, type, collection, stored),
        false,
      );
      if (!isGone) isEmpty = false;
    }
  }
  return isEmpty;
}

function deleteOrRemove(
  context: ApiContext,
  type: ResourceType | undefined,
  collection: Collection,
  stored: StoredObject,
): boolean {
  if (type !== undefined) return deleteObject(context, type, stored, backgroundDeletion).gone;
  // Without a served version of a CRD there are no deletion rules, such as finalizers.
  collection.remove(stored);
  return true;
}

function release(context: ApiContext, { type, released }: Container, name: string): void {
  const collection = context.store.collection(type.storage);
  const stored = collection.get('', name);
  if (stored !== undefined) removeIfReleased(context, type, collection.write(released(stored.object)));
}
