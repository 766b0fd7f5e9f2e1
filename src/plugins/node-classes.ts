import type { Node } from '../api/node.ts';
import type { ClusterLister } from '../framework/plugin-handle.ts';

/** The nodes by what one plugin reads of them. */
interface NodeClassesView {
  /** node index -> number of its kind */
  readonly kinds: Uint32Array;
  /** One node of each kind, by number. */
  readonly samples: readonly Node[];
}

/**
 * For a plugin that is asked about many nodes at once, of which few differ in what it reads: it is asked about one of each kind. Found out
 * anew when nodes change.
 */
export class NodeClasses {
  readonly #cluster: Pick<ClusterLister, 'nodes' | 'nodesRevision'>;
  readonly #textOf: (node: Node) => string;
  #found: NodeClassesView = { kinds: new Uint32Array(0), samples: [] };
  #nodesRevision = -1;

  /** `textOf`: equal texts, equal answers; may read what moves `nodesRevision` alone. */
  constructor(cluster: Pick<ClusterLister, 'nodes' | 'nodesRevision'>, textOf: (node: Node) => string) {
    this.#cluster = cluster;
    this.#textOf = textOf;
  }

  /** Leaves the nodes of whose kind this is true, in their order, at the beginning; answers how many. */
  keep(indexes: Int32Array, size: number, isKept: (sample: Node) => boolean): number {
    const { kinds, samples } = this.#find();
    const keeps = Uint8Array.from(samples, (sample) => (isKept(sample) ? 1 : 0));
    return keepOf(indexes, size, kinds, keeps);
  }

  /** Gives the nodes what their kind is worth. */
  score(indexes: Int32Array, size: number, scores: Float64Array, worthOf: (sample: Node) => number): void {
    const { kinds, samples } = this.#find();
    scoreBy(indexes, size, scores, kinds, Float64Array.from(samples, worthOf));
  }

  /** Good until the nodes change. */
  #find(): NodeClassesView {
    const { nodes, nodesRevision } = this.#cluster;
    if (this.#nodesRevision === nodesRevision) return this.#found;
    this.#nodesRevision = nodesRevision;
    const samples: Node[] = [];
    /** text -> number */
    const numbers = new Map<string, number>();
    const kinds = Uint32Array.from(nodes, ({ node }) => {
      const text = this.#textOf(node);
      let number = numbers.get(text);
      if (number === undefined) {
        number = samples.push(node) - 1;
        numbers.set(text, number);
      }
      return number;
    });
    this.#found = { kinds, samples };
    return this.#found;
  }
}

function keepOf(indexes: Int32Array, size: number, kinds: Uint32Array, keeps: Uint8Array): number {
  let left = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    indexes[left] = index;
    left += keeps[kinds[index]!]!;
  }
  return left;
}

function scoreBy(
  indexes: Int32Array,
  size: number,
  scores: Float64Array,
  kinds: Uint32Array,
  worths: Float64Array,
): void {
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    scores[index] = worths[kinds[index]!]!;
  }
}
