import type { ListedKind, ListedObject } from '../api/listed-object.ts';

/** What plugins read besides nodes, pods and groups. Nothing of a kind that no enabled plugin reads. */
export interface ListedObjectsView {
  /** Changes with every change of that kind. */
  revision(kind: ListedKind): number;
  /** `namespace` is empty for kinds without one. */
  get(kind: ListedKind, namespace: string, name: string): ListedObject | undefined;
  /** Those of one namespace. */
  in(kind: ListedKind, namespace: string): Iterable<ListedObject>;
}

interface OfKind {
  revision: number;
  /** namespace -> name -> object */
  readonly objects: Map<string, Map<string, ListedObject>>;
}

/** Written by the watch handlers alone. */
export class ListedObjects implements ListedObjectsView {
  readonly #kinds = new Map<ListedKind, OfKind>();

  revision(kind: ListedKind): number {
    return this.#kinds.get(kind)?.revision ?? 0;
  }

  get(kind: ListedKind, namespace: string, name: string): ListedObject | undefined {
    return this.#kinds.get(kind)?.objects.get(namespace)?.get(name);
  }

  in(kind: ListedKind, namespace: string): Iterable<ListedObject> {
    return this.#kinds.get(kind)?.objects.get(namespace)?.values() ?? [];
  }

  set(object: ListedObject): void {
    const { objects } = this.#changing(object.kind);
    const siblings = objects.get(object.namespace);
    if (siblings === undefined) objects.set(object.namespace, new Map([[object.name, object]]));
    else siblings.set(object.name, object);
  }

  remove({ kind, namespace, name }: ListedObject): void {
    const { objects } = this.#changing(kind);
    const siblings = objects.get(namespace);
    siblings?.delete(name);
    if (siblings?.size === 0) objects.delete(namespace);
  }

  #changing(kind: ListedKind): OfKind {
    let ofKind = this.#kinds.get(kind);
    if (ofKind === undefined) this.#kinds.set(kind, (ofKind = { revision: 0, objects: new Map() }));
    ofKind.revision++;
    return ofKind;
  }
}
