import type { NodeView } from './node-info.ts';

/** Which nodes have the same value of one label. */
export interface Topology {
  readonly key: string;
  /** node index -> number of its domain; -1 where it lacks the label */
  readonly domains: Int32Array;
  /** How many domains there are. */
  readonly size: number;
  /** No node lacks the label. */
  readonly isOnAll: boolean;
}

/** Topologies that are kept; beyond them all are made anew as they are asked for. Pods may name any label. */
const mostTopologies = 64;

/** The topologies that somebody has asked for, until the nodes change. */
export class Topologies {
  /** key -> its topology, of the nodes as of `#revision` */
  readonly #known = new Map<string, Topology>();
  #revision = -1;

  /** Good for as long as the revision of the nodes stands. */
  of(key: string, nodes: readonly NodeView[], revision: number): Topology {
    if (this.#revision !== revision) {
      this.#known.clear();
      this.#revision = revision;
    }
    let known = this.#known.get(key);
    if (known === undefined) {
      known = topologyOf(key, nodes);
      if (this.#known.size >= mostTopologies) this.#known.clear();
      this.#known.set(key, known);
    }
    return known;
  }
}

function topologyOf(key: string, nodes: readonly NodeView[]): Topology {
  const domains = new Int32Array(nodes.length);
  /** value -> number of its domain */
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
