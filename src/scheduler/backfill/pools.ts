import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';

/** Nodes that share one turn. */
export interface Pool {
  /** The value of the label; empty if the cluster is one pool. */
  readonly name: string;
  readonly nodes: readonly NodeInfo[];
  /** Names of the nodes; undefined: all nodes of the cluster. */
  readonly within: ReadonlySet<string> | undefined;
}

/** The nodes grouped by the value of a label; nodes without it are in no pool. Without a label, the cluster is one pool. */
export class Pools {
  readonly #cluster: Pick<Cluster, 'nodes' | 'nodesRevision'>;
  readonly #label: string | undefined;
  #pools: readonly Pool[] = [];
  /** Cluster.nodesRevision of `#pools`. */
  #revision = -1;

  constructor(cluster: Pick<Cluster, 'nodes' | 'nodesRevision'>, label: string | undefined) {
    this.#cluster = cluster;
    this.#label = label;
  }

  /** In order of name. */
  get all(): readonly Pool[] {
    const { nodes, nodesRevision } = this.#cluster;
    if (this.#label === undefined) return [{ name: '', nodes, within: undefined }];
    if (this.#revision !== nodesRevision) {
      this.#revision = nodesRevision;
      this.#pools = this.#group();
    }
    return this.#pools;
  }

  /** Returns the name of the node's pool; undefined if it is in none. */
  nameFor({ node }: NodeInfo): string | undefined {
    if (this.#label === undefined) return '';
    return Object.hasOwn(node.labels, this.#label) ? node.labels[this.#label] : undefined;
  }

  #group(): readonly Pool[] {
    const labeled = this.#cluster.nodes.filter((node) => this.nameFor(node) !== undefined);
    return [...Map.groupBy(labeled, (node) => this.nameFor(node)!)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, nodes]) => ({ name, nodes, within: new Set(nodes.map((node) => node.name)) }));
  }
}
