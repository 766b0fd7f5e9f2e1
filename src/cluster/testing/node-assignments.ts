import type { Labels } from '../../api/label-selector.ts';
import type { PodAffinityRules } from '../../api/pod.ts';
import { addCount } from '../../base/add-count.ts';
import type { Cluster } from '../cluster.ts';
import type { PodClass } from '../placed-pods.ts';

/** `class @ node` -> number of pods */
export type ClassCounts = Readonly<Record<string, number>>;

/** Counts the pods on the nodes from scratch. */
export function recount(cluster: Cluster): ClassCounts {
  const counts = new Map<string, number>();
  for (const node of cluster.nodes) {
    for (const { namespace, labels, deleting, template } of node.pods.values()) {
      addCount(counts, keyOf({ namespace, labels, deleting, affinity: template.podAffinity }, node.name), 1);
    }
  }
  return Object.fromEntries(counts);
}

/** Returns the counts of the index. */
export function keptBy(cluster: Cluster): ClassCounts {
  const counts = new Map<string, number>();
  for (const podClass of cluster.placed.classes()) {
    podClass.forEachNode((node, count) => {
      if (node.index >= 0) addCount(counts, keyOf(podClass, node.name), count);
    });
  }
  return Object.fromEntries(counts);
}

/** Keeps counts up to date from changes alone, until the nodes change. */
export class Follower {
  readonly #cluster: Cluster;
  #counts = new Map<string, number>();
  #nodesRevision = -1;
  #version = -1;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Returns the counts after the latest changes. */
  follow(): ClassCounts {
    const { placed, nodesRevision } = this.#cluster;
    const isCurrent = this.#nodesRevision === nodesRevision;
    const follows =
      isCurrent &&
      placed.changesSince(this.#version, (podClass, node, change) => {
        if (node.index >= 0) addCount(this.#counts, keyOf(podClass, node.name), change);
      });
    if (!follows) this.#counts = new Map(Object.entries(keptBy(this.#cluster)));
    this.#nodesRevision = nodesRevision;
    this.#version = placed.version;
    return Object.fromEntries(this.#counts);
  }
}

interface ClassKey extends Pick<PodClass, 'namespace' | 'deleting'> {
  readonly labels: Labels;
  readonly affinity: PodAffinityRules | undefined;
}

function keyOf({ namespace, labels, deleting, affinity }: ClassKey, node: string): string {
  return `${namespace} ${JSON.stringify([labels, affinity])} ${deleting} @ ${node}`;
}
