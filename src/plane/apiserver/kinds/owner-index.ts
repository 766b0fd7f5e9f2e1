import type { JsonObject } from '../json.ts';
import { metadataOf, objectsAt, textAt } from './access.ts';
import type { Collection } from '../store/collection.ts';
import type { Store } from '../store/store.ts';
import type { StoredObject } from '../store/stored-object.ts';

export interface Dependent {
  readonly collection: Collection;
  readonly stored: StoredObject;
}

/** Indexes objects by their owners. Every write updates it. */
export class OwnerIndex {
  /** owner's UID -> (collection name and object key -> collection, namespace and name of the owned object) */
  readonly #owned = new Map<string, Map<string, { collection: Collection; namespace: string; name: string }>>();
  /** UIDs of all stored objects */
  readonly #uids = new Set<string>();

  constructor(store: Store) {
    store.subscribe((collection, change) => {
      const { object } = change;
      if (change.type !== 'ADDED') this.#forget(collection, change.previous);
      if (change.type === 'DELETED') {
        this.#uids.delete(object.uid);
        return;
      }
      this.#uids.add(object.uid);
      for (const uid of ownerUids(object.object)) {
        const owned = this.#owned.get(uid) ?? new Map<string, never>();
        this.#owned.set(uid, owned);
        owned.set(dependentKey(collection, object), { collection, namespace: object.namespace, name: object.name });
      }
    });
  }

  /** Returns whether an object with that UID is stored. */
  exists(uid: string): boolean {
    return this.#uids.has(uid);
  }

  /** Returns the objects that name this owner. */
  dependents(ownerUid: string): Dependent[] {
    return [...(this.#owned.get(ownerUid)?.values() ?? [])].map(({ collection, namespace, name }) => ({
      collection,
      stored: collection.get(namespace, name)!,
    }));
  }

  /** Removes the owner from the owner references of its dependents. */
  orphanDependents(ownerUid: string): void {
    for (const { collection, stored } of this.dependents(ownerUid)) {
      const metadata: JsonObject = { ...metadataOf(stored.object) };
      metadata.ownerReferences = objectsAt(metadata, 'ownerReferences').filter((owner) => owner.uid !== ownerUid);
      collection.write({ ...stored.object, metadata });
    }
  }

  #forget(collection: Collection, previous: StoredObject): void {
    for (const uid of ownerUids(previous.object)) {
      const owned = this.#owned.get(uid);
      owned?.delete(dependentKey(collection, previous));
      if (owned?.size === 0) this.#owned.delete(uid);
    }
  }
}

export function ownerUids(object: JsonObject): string[] {
  const { ownerReferences } = metadataOf(object);
  if (ownerReferences === undefined) return [];
  return objectsAt(metadataOf(object), 'ownerReferences').map((owner) => textAt(owner, 'uid'));
}

function dependentKey(collection: Collection, stored: StoredObject): string {
  return `${collection.name}/${stored.key}`;
}
