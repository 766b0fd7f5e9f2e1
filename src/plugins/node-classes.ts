import type { Node } from '../api/node.ts';
import type { ClusterLister } from '../framework/plugin-handle.ts';

/** The nodes grouped by what one plugin reads of them. */
interface NodeClassesView {
  /** node index -> number of its class */
  readonly classes: Uint32Array;
  /** class number -> one node of the class */
  readonly samples: readonly Node[];
}

/**
 * Groups nodes into classes that are equal for one plugin, so that the plugin evaluates only one node per class. For plugins that
 * evaluate many nodes at once. Rebuilt when nodes change.
 */
export class NodeClasses {
  readonly #cluster: Pick<ClusterLister, 'nodes' | 'nodesRevision'>;
  readonly #textOf: (node: Node) => string;
  #found: NodeClassesView = { classes: new Uint32Array(0), samples: [] };
  #nodesRevision = -1;

  /** `textOf` must return equal texts for nodes with equal results. It may read only fields that change `nodesRevision`. */
  constructor(cluster: Pick<ClusterLister, 'nodes' | 'nodesRevision'>, textOf: (node: Node) => string) {
    this.#cluster = cluster;
    this.#textOf = textOf;
  }

  /** Moves the indexes of the nodes whose class passes to the front, in their order. Returns their number. */
  keep(indexes: Int32Array, size: number, passes: (sample: Node) => boolean): number {
    const { classes, samples } = this.#find();
    const keeps = Uint8Array.from(samples, (sample) => (passes(sample) ? 1 : 0));
    return keepOf(indexes, size, classes, keeps);
  }

  /** Writes the score of each node's class to `scores`. */
  score(indexes: Int32Array, size: number, scores: Float64Array, scoreOf: (sample: Node) => number): void {
    const { classes, samples } = this.#find();
    scoreBy(indexes, size, scores, classes, Float64Array.from(samples, scoreOf));
  }

  /** Returns the classes, which stay valid until the nodes change. */
  #find(): NodeClassesView {
    const { nodes, nodesRevision } = this.#cluster;
    if (this.#nodesRevision === nodesRevision) return this.#found;
    this.#nodesRevision = nodesRevision;
    const samples: Node[] = [];
    /** text -> class number */
    const numbers = new Map<string, number>();
    const classes = Uint32Array.from(nodes, ({ node }) => {
      const text = this.#textOf(node);
      let number = numbers.get(text);
      if (number === undefined) {
        number = samples.push(node) - 1;
        numbers.set(text, number);
      }
      return number;
    });
    this.#found = { classes, samples };
    return this.#found;
  }
}

function keepOf(indexes: Int32Array, size: number, classes: Uint32Array, keeps: Uint8Array): number {
  let left = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    indexes[left] = index;
    left += keeps[classes[index]!]!;
  }
  return left;
}

function scoreBy(
  indexes: Int32Array,
  size: number,
  scores: Float64Array,
  classes: Uint32Array,
  classScores: Float64Array,
): void {
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    scores[index] = classScores[classes[index]!]!;
  }
}
