/** Stands for a resource name in the lists and vectors of one process. */
export type ResourceId = number;

export const cpuId: ResourceId = 0;
export const memoryId: ResourceId = 1;
export const ephemeralStorageId: ResourceId = 2;
export const podsId: ResourceId = 3;

/**
 * How many names are common: the four standard ones and those met first. Their ids are below this number, so that vectors are dense
 * over them, and they are kept for good. All others are rare.
 */
export const commonResources = 32;

interface RareName {
  readonly name: string;
  /** Lists that have it; Infinity when it was asked for without one. */
  holders: number;
}

/**
 * Interns resource names, so that amounts live in numeric lists and vectors: cpu in millicores, memory and ephemeral storage in
 * bytes, pods and extended resources in units. The four standard names always have the ids above; ids are never reused. Anybody who
 * may create a pod can make names up, so a rare one is forgotten when the last list that has it is gone.
 */
export class ResourceNames {
  readonly #common: string[] = ['cpu', 'memory', 'ephemeral-storage', 'pods'];
  /** id -> a rare name */
  readonly #rare = new Map<ResourceId, RareName>();
  /** resource name -> id */
  readonly #ids = new Map<string, ResourceId>(this.#common.map((name, id) => [name, id]));
  readonly #gone = new FinalizationRegistry<readonly ResourceId[]>((ids) => {
    for (const id of ids) this.#release(id);
  });
  #nextRare: ResourceId = commonResources;

  /** Names known now. */
  get size(): number {
    return this.#ids.size;
  }

  /** For names that a configuration holds, not a pod: it is kept for good. */
  idOf(name: string): ResourceId {
    const id = this.#idOf(name);
    const rare = this.#rare.get(id);
    if (rare !== undefined) rare.holders = Infinity;
    return id;
  }

  /** Throws RangeError for an id whose name is not known any more. */
  nameOf(id: ResourceId): string {
    const name = id < commonResources ? this.#common[id] : this.#rare.get(id)?.name;
    if (name === undefined) throw new RangeError(`no resource has the id ${id}`);
    return name;
  }

  /** The ids of these names, in order, and a list made of them, which keeps its names known for as long as it lives. */
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
