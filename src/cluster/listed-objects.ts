import type { ListedKind, ListedKinds, ListedObject } from '../api/listed-object.ts';

/** What plugins read besides nodes, pods and groups. Nothing of a kind that no enabled plugin reads. */
export interface ListedObjectsView {
  /** Changes with every change of that kind. */
  revision(kind: ListedKind): number;
  /** `namespace` is empty for kinds without one. */
  get<Kind extends ListedKind>(kind: Kind, namespace: string, name: string): ListedKinds[Kind] | undefined;
  /** Those of one namespace. */
  in<Kind extends ListedKind>(kind: Kind, namespace: string): Iterable<ListedKinds[Kind]>;
  /** Those that say that they belong to the group, in no meaningful order. */
  ofGroup<Kind extends ListedKind>(kind: Kind, group: string): Iterable<ListedKinds[Kind]>;
  /**
   * `changed` is told after each change of one of these kinds of the object as it is or last was, in the middle of others' work: it
   * must only take note. Answers how to end that.
   */
  onChange(kinds: readonly ListedKind[], changed: (object: ListedObject) => void): () => void;
}

interface OfKind {
  revision: number;
  /** namespace -> name -> object */
  readonly objects: Map<string, Map<string, ListedObject>>;
  /** group -> its objects, of kinds that have groups */
  readonly groups: Map<string, Set<ListedObject>>;
  readonly listeners: Set<(object: ListedObject) => void>;
}

/** Written by the watch handlers alone. */
export class ListedObjects implements ListedObjectsView {
  readonly #kinds = new Map<ListedKind, OfKind>();

  revision(kind: ListedKind): number {
    return this.#kinds.get(kind)?.revision ?? 0;
  }

  get<Kind extends ListedKind>(kind: Kind, namespace: string, name: string): ListedKinds[Kind] | undefined {
    return this.#kinds.get(kind)?.objects.get(namespace)?.get(name) as ListedKinds[Kind] | undefined;
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
    let siblings = objects.get(object.namespace);
    if (siblings === undefined) objects.set(object.namespace, (siblings = new Map<string, ListedObject>()));
    leaveGroup(ofKind, siblings.get(object.name));
    siblings.set(object.name, object);
    joinGroup(ofKind, object);
    notify(ofKind, object);
  }

  remove(object: ListedObject): void {
    const { kind, namespace, name } = object;
    const ofKind = this.#ofKind(kind);
    const { objects } = ofKind;
    const siblings = objects.get(namespace);
    leaveGroup(ofKind, siblings?.get(name));
    siblings?.delete(name);
    if (siblings?.size === 0) objects.delete(namespace);
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
  const members = groups.get(object.group);
  if (members === undefined) groups.set(object.group, new Set([object]));
  else members.add(object);
}

function leaveGroup({ groups }: OfKind, object: ListedObject | undefined): void {
  if (object === undefined || !('group' in object)) return;
  const members = groups.get(object.group)!;
  members.delete(object);
  if (members.size === 0) groups.delete(object.group);
}
