/** ID of a resource name in the lists and vectors of one process. */
export type ResourceId = number;

export const cpuId: ResourceId = 0;
export const memoryId: ResourceId = 1;
export const ephemeralStorageId: ResourceId = 2;
export const podsId: ResourceId = 3;

/**
 * Number of common names: the four standard names and the first others. Their ids are below this number, so that vectors are dense. They
 * are never forgotten. All other names are rare.
 */
export const commonResources = 32;

interface RareName {
  readonly name: string;
  /** Number of lists with the name. Infinity if it was requested without a list. */
  holders: number;
}

/**
 * Interns resource names, so that amounts fit numeric lists and vectors: cpu in millicores, memory and ephemeral storage in bytes, pods and
 * extended resources in units. The four standard names always have the ids above, and ids are never reused. Users who can create pods can
 * invent names, so a rare name is forgotten when the last list with it is gone.
 */
export class ResourceNames {
  readonly #common: string[] = ['cpu', 'memory', 'ephemeral-storage', 'pods'];
  /** id -> rare name */
  readonly #rare = new Map<ResourceId, RareName>();
  /** resource name -> id */
  readonly #ids = new Map<string, ResourceId>(this.#common.map((name, id) => [name, id]));
  readonly #gone = new FinalizationRegistry<readonly ResourceId[]>((ids) => {
    for (const id of ids) this.#release(id);
  });
  #nextRare: ResourceId = commonResources;

  /** Number of known names. */
  get size(): number {
    return this.#ids.size;
  }

  /** Returns the id of a name in a configuration, not in a pod. The name is never forgotten. */
  idOf(name: string): ResourceId {
    const id = this.#idOf(name);
    const rare = this.#rare.get(id);
    if (rare !== undefined) rare.holders = Infinity;
    return id;
  }

  /** Returns the name of an id. Throws RangeError if the name was forgotten. */
  nameOf(id: ResourceId): string {
    const name = id < commonResources ? this.#common[id] : this.#rare.get(id)?.name;
    if (name === undefined) throw new RangeError(`no resource has the id ${id}`);
    return name;
  }

  /** Creates a list from the ids of these names, in order. The list keeps the names known while it is reachable. */
  hold<List extends WeakKey>(names: readonly string[], make: (ids: readonly ResourceId[]) => List): List {
    const ids = names.map((name) => this.#idOf(name));
    const list = make(ids);
    const rare = ids.filter((id) => id >= commonResources);
    if (rare.length > 0) {
      for (const id of rare) this.#rare.get(id)!.holders++;
      this.#gone.register(list, rare);
    }
    return list;
  }

  #idOf(name: string): ResourceId {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    let id: ResourceId;
    if (this.#common.length < commonResources) {
      id = this.#common.push(name) - 1;
    } else {
      id = this.#nextRare++;
      this.#rare.set(id, { name, holders: 0 });
    }
    this.#ids.set(name, id);
    return id;
  }

  #release(id: ResourceId): void {
    const rare = this.#rare.get(id)!;
    rare.holders--;
    if (rare.holders > 0) return;
    this.#rare.delete(id);
    this.#ids.delete(rare.name);
  }
}
