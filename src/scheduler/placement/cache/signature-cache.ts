import { NodeTable } from './node-table.ts';

/**
 * Node tables by signature, the least recently used one given up first. A table that is given up is handed out again,
 * so that a stream of signatures never seen before allocates nothing.
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

  /** The table of this signature, a cleared one when there is none. Good until the tables of `limit - 1` others have been asked for. */
  table(signature: string): NodeTable {
    let table = this.#tables.get(signature);
    if (table !== undefined) this.#tables.delete(signature);
    else table = this.#tables.size < this.#limit ? new NodeTable(this.#scorerCount) : this.#giveUpOldest();
    this.#tables.set(signature, table);
    return table;
  }

  #giveUpOldest(): NodeTable {
    const [signature, table] = this.#tables.entries().next().value!;
    this.#tables.delete(signature);
    table.clear();
    return table;
  }
}
