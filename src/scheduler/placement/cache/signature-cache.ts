import { NodeTable } from './node-table.ts';

/**
 * Node tables by signature. At the limit, a new signature reuses the least recently used table, so a stream of new signatures
 * allocates nothing.
 */
export class SignatureCache {
  readonly #scorerCount: number;
  readonly #limit: number;
  /** signature -> table, least recently used first */
  readonly #tables = new Map<string, NodeTable>();

  constructor(scorerCount: number, limit = 64) {
    this.#scorerCount = scorerCount;
    this.#limit = limit;
  }

  /**
   * Returns the table of this signature, cleared if new. It is valid until the tables of `limit - 1` other signatures have been
   * requested.
   */
  table(signature: string): NodeTable {
    let table = this.#tables.get(signature);
    if (table !== undefined) this.#tables.delete(signature);
    else table = this.#tables.size < this.#limit ? new NodeTable(this.#scorerCount) : this.#evictOldest();
    this.#tables.set(signature, table);
    return table;
  }

  #evictOldest(): NodeTable {
    const [signature, table] = this.#tables.entries().next().value!;
    this.#tables.delete(signature);
    table.clear();
    return table;
  }
}
