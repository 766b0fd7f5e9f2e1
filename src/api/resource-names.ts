/** Index of a resource name in every vector of one process. */
export type ResourceId = number;

export const cpuId: ResourceId = 0;
export const memoryId: ResourceId = 1;
export const ephemeralStorageId: ResourceId = 2;
export const podsId: ResourceId = 3;

/**
 * Interns resource names, so that amounts live in numeric vectors: cpu in millicores, memory and ephemeral storage in
 * bytes, pods and extended resources in units. The four standard names always have the ids above; ids are never reused.
 */
export class ResourceNames {
  readonly #names: string[] = ['cpu', 'memory', 'ephemeral-storage', 'pods'];
  /** resource name -> id */
  readonly #ids = new Map<string, ResourceId>(this.#names.map((name, id) => [name, id]));

  get size(): number {
    return this.#names.length;
  }

  idOf(name: string): ResourceId {
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.#names.push(name) - 1;
      this.#ids.set(name, id);
    }
    return id;
  }

  nameOf(id: ResourceId): string {
    const name = this.#names[id];
    if (name === undefined) throw new RangeError(`no resource has the id ${id}`);
    return name;
  }
}
