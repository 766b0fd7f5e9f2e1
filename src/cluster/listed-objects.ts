import type { ListedKind, ListedKinds, ListedObject } from '../api/listed-object.ts';

/** Objects that plugins read besides nodes, pods and groups. Empty for kinds that no enabled plugin reads. */
export interface ListedObjectsView {
  /** Changes with every change to an object of the kind. */
  revision(kind: ListedKind): number;
  /** `namespace` is empty for kinds without one. */
  get<Kind extends ListedKind>(kind: Kind, namespace: string, name: string): ListedKinds[Kind] | undefined;
  /** Returns the objects in a namespace. */
  in<Kind extends ListedKind>(kind: Kind, namespace: string): Iterable<ListedKinds[Kind]>;
  /** Returns the objects that belong to the group, in arbitrary order. */
  ofGroup<Kind extends ListedKind>(kind: Kind, group: string): Iterable<ListedKinds[Kind]>;
  /**
   * Calls `changed` after each change of these kinds, with the current or last known object. The call happens in the middle of other work, so
   * it must only record the change. Returns a function that ends the subscription.
   */
  onChange(kinds: readonly ListedKind[], changed: (object: ListedObject) => void): () => void;
}

interface OfKind {
  revision: number;
  /** namespace -> name -> object */
  readonly objects: Map<string, Map<string, ListedObject>>;
  /** group -> its objects, for kinds with groups */
  readonly groups: Map<string, Set<ListedObject>>;
  readonly listeners: Set<(object: ListedObject) => void>;
}

/** Written only by the watch handlers. */
export class ListedObjects implements ListedObjectsView {
  /** Changes with every change to an object of any kind. */
  changes = 0;
  readonly #kinds = new Map<ListedKind, OfKind>();

  revision(kind: ListedKind): number {
    return this.#kinds.get(kind)?.revision ?? 0;
  }

  get<Kind extends ListedKind>(kind: Kind, namespace: string, name: string): ListedKinds[Kind] | undefined {
    return this.#kinds.get(kind)?.objects.get(namespace)?.get(name) as ListedKinds[Kind] | undefined;
  }

  /** Returns all objects of all kinds, in the order in which they are looked up. */
  *all(): Iterable<ListedObject> {
    for (const { objects } of this.#kinds.values()) for (const named of objects.values()) yield* named.values();
  }

  in<Kind extends ListedKind>(kind: Kind, namespace: string): Iterable<ListedKinds[Kind]> {
    return (this.#kinds.get(kind)?.objects.get(namespace)?.values() ?? []) as Iterable<ListedKinds[Kind]>;
  }

  ofGroup<Kind extends ListedKind>(kind: Kind, group: string): Iterable<ListedKinds[Kind]> {
    return (this.#kinds.get(kind)?.groups.get(group) ?? []) as Iterable<ListedKinds[Kind]>;
  }

  onChange(kinds: readonly ListedKind[], changed: (object: ListedObject) => void): () => void {
    for (const kind of kinds) this.#ofKind(kind).listeners.add(changed);
    return () => {
      for (const kind of kinds) this.#ofKind(kind).listeners.delete(changed);
    };
  }

  set(object: ListedObject): void {
    const ofKind = this.#ofKind(object.kind);
    const { objects } = ofKind;
    let named = objects.get(object.namespace);
    if (named === undefined) objects.set(object.namespace, (named = new Map<string, ListedObject>()));
    leaveGroup(ofKind, named.get(object.name));
    named.set(object.name, object);
    joinGroup(ofKind, object);
    this.changes++;
    notify(ofKind, object);
  }

  remove(object: ListedObject): void {
    const { kind, namespace, name } = object;
    const ofKind = this.#ofKind(kind);
    const { objects } = ofKind;
    const named = objects.get(namespace);
    leaveGroup(ofKind, named?.get(name));
    named?.delete(name);
    if (named?.size === 0) objects.delete(namespace);
    this.changes++;
    notify(ofKind, object);
  }

  #ofKind(kind: ListedKind): OfKind {
    let ofKind = this.#kinds.get(kind);
    if (ofKind === undefined) {
      ofKind = { revision: 0, objects: new Map(), groups: new Map(), listeners: new Set() };
      this.#kinds.set(kind, ofKind);
    }
    return ofKind;
  }
}

function notify(ofKind: OfKind, object: ListedObject): void {
  ofKind.revision++;
  for (const changed of ofKind.listeners) changed(object);
}

function joinGroup({ groups }: OfKind, object: ListedObject): void {
  if (!('group' in object)) return;
  const objects = groups.get(object.group);
  if (objects === undefined) groups.set(object.group, new Set([object]));
  else objects.add(object);
}

function leaveGroup({ groups }: OfKind, object: ListedObject | undefined): void {
  if (object === undefined || !('group' in object)) return;
  const objects = groups.get(object.group)!;
  objects.delete(object);
  if (objects.size === 0) groups.delete(object.group);
}
