import type { NodeView } from './node-info.ts';

/** The nodes grouped by the value of one label. */
export interface Topology {
  readonly key: string;
  /** node index -> number of its domain; -1 if the node lacks the label */
  readonly domains: Int32Array;
  /** Number of domains. */
  readonly size: number;
  /** True if every node has the label. */
  readonly isOnAll: boolean;
}

/** Maximum number of cached topologies; beyond it the cache starts over. Pods may use any label. */
const maxTopologies = 64;

/** Caches the topologies in use until the nodes change. */
export class Topologies {
  /** key -> topology of the nodes at `#revision` */
  readonly #cached = new Map<string, Topology>();
  #revision = -1;

  /** Returns a topology that is valid while the revision of the nodes stays the same. */
  of(key: string, nodes: readonly NodeView[], revision: number): Topology {
    if (this.#revision !== revision) {
      this.#cached.clear();
      this.#revision = revision;
    }
    let topology = this.#cached.get(key);
    if (topology === undefined) {
      topology = topologyOf(key, nodes);
      if (this.#cached.size >= maxTopologies) this.#cached.clear();
      this.#cached.set(key, topology);
    }
    return topology;
  }
}

function topologyOf(key: string, nodes: readonly NodeView[]): Topology {
  const domains = new Int32Array(nodes.length);
  /** label value -> domain number */
  const numbers = new Map<string, number>();
  for (let index = 0; index < nodes.length; index++) {
    const value = Object.hasOwn(nodes[index]!.node.labels, key) ? nodes[index]!.node.labels[key]! : undefined;
    if (value === undefined) {
      domains[index] = -1;
      continue;
    }
    let number = numbers.get(value);
    if (number === undefined) numbers.set(value, (number = numbers.size));
    domains[index] = number;
  }
  return { key, domains, size: numbers.size, isOnAll: !domains.includes(-1) };
}
