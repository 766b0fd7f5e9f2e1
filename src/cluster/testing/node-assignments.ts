import type { Labels } from '../../api/label-selector.ts';
import type { PodAffinityRules } from '../../api/pod.ts';
import { addCount } from '../../base/add-count.ts';
import type { Cluster } from '../cluster.ts';
import type { PodClass } from '../placed-pods.ts';

/** `class @ node` -> how many */
export type NodeAssignments = Readonly<Record<string, number>>;

/** What the nodes hold, counted from scratch. */
export function heldBy(cluster: Cluster): NodeAssignments {
  const counts = new Map<string, number>();
  for (const node of cluster.nodes) {
    for (const { namespace, labels, deleting, template } of node.pods.values()) {
      addCount(counts, keyOf({ namespace, labels, deleting, affinity: template.podAffinity }, node.name), 1);
    }
  }
  return Object.fromEntries(counts);
}

/** The same, as it is kept. */
export function keptBy(cluster: Cluster): NodeAssignments {
  const counts = new Map<string, number>();
  for (const kind of cluster.placed.classes()) {
    kind.forEachNode((node, count) => {
      if (node.index >= 0) addCount(counts, keyOf(kind, node.name), count);
    });
  }
  return Object.fromEntries(counts);
}

/** Knows of what is on nodes only what has changed since it looked last; until nodes come or go. */
export class Follower {
  readonly #cluster: Cluster;
  #counts = new Map<string, number>();
  #nodesRevision = -1;
  #version = -1;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** What it knows then. */
  follow(): NodeAssignments {
    const { placed, nodesRevision } = this.#cluster;
    const isAbout = this.#nodesRevision === nodesRevision;
    const follows =
      isAbout &&
      placed.changesSince(this.#version, (kind, node, change) => {
        if (node.index >= 0) addCount(this.#counts, keyOf(kind, node.name), change);
      });
    if (!follows) this.#counts = new Map(Object.entries(keptBy(this.#cluster)));
    this.#nodesRevision = nodesRevision;
    this.#version = placed.version;
    return Object.fromEntries(this.#counts);
  }
}

interface Likeness extends Pick<PodClass, 'namespace' | 'deleting'> {
  readonly labels: Labels;
  readonly affinity: PodAffinityRules | undefined;
}

function keyOf({ namespace, labels, deleting, affinity }: Likeness, node: string): string {
  return `${namespace} ${JSON.stringify([labels, affinity])} ${deleting} @ ${node}`;
}
