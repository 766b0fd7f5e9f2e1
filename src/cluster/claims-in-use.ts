import type { Pod } from '../api/pod.ts';
import { noVolumes } from '../api/pod-volume.ts';
import { addCount } from '../base/add-count.ts';
import type { NodeInfo, PlacementLog } from './node-info.ts';

/** How many pods on nodes use which PersistentVolumeClaims. */
export interface ClaimsInUseView {
  /** How often pods on nodes, wherever that is, name the claim as a volume. */
  usersOf(namespace: string, claimName: string): number;
}

/** Nothing is kept before somebody asks for the first time; from then on pods that come to nodes and leave them are counted. */
export class ClaimsInUse implements ClaimsInUseView, PlacementLog {
  readonly #nodes: () => Iterable<NodeInfo>;
  /** namespace/name -> volumes of pods on nodes that are this claim; undefined: nobody has asked */
  #users: Map<string, number> | undefined;

  /** `nodes`: all that hold pods. */
  constructor(nodes: () => Iterable<NodeInfo>) {
    this.#nodes = nodes;
  }

  usersOf(namespace: string, claimName: string): number {
    if (this.#users === undefined) {
      this.#users = new Map();
      for (const { pods } of this.#nodes()) for (const pod of pods.values()) this.#count(pod, 1);
    }
    return this.#users.get(`${namespace}/${claimName}`) ?? 0;
  }

  came(_node: NodeInfo, pods: readonly Pod[]): void {
    if (this.#users !== undefined) for (const pod of pods) this.#count(pod, 1);
  }

  left(_node: NodeInfo, pods: readonly Pod[]): void {
    if (this.#users !== undefined) for (const pod of pods) this.#count(pod, -1);
  }

  #count({ namespace, volumes }: Pod, change: 1 | -1): void {
    if (volumes === noVolumes) return;
    for (const volume of volumes) {
      if (volume.type !== 'claim' || volume.isEphemeral) continue;
      addCount(this.#users!, `${namespace}/${volume.claimName}`, change);
    }
  }
}
