import type { Pod } from '../api/pod.ts';
import { isTerminal } from '../api/pod.ts';
import { noVolumes } from '../api/pod-volume.ts';
import { addCount } from '../base/add-count.ts';
import type { NodeInfo, PodChangeLog } from './node-info.ts';

/** How many pods on nodes use which PersistentVolumeClaims. */
export interface ClaimsInUseView {
  /** How often pods on nodes, wherever that is, name the claim as a volume. */
  usersOf(namespace: string, claimName: string): number;
  /** How many pods name the claim as a volume, wherever they are: on a node, or still to be placed. */
  namersOf(namespace: string, claimName: string): number;
}

/** Nothing is kept before somebody asks for the first time; from then on pods that come to nodes and leave them are counted. */
export class ClaimsInUse implements ClaimsInUseView, PodChangeLog {
  readonly #nodes: () => Iterable<NodeInfo>;
  readonly #pods: () => Iterable<Pod>;
  /** namespace/name -> pods that name this claim, each once; undefined: nobody has asked */
  #namers: Map<string, number> | undefined;
  /** namespace/name -> volumes of pods on nodes that are this claim; undefined: nobody has asked */
  #users: Map<string, number> | undefined;

  /** `nodes`: all that hold pods; `pods`: all that are known. */
  constructor(nodes: () => Iterable<NodeInfo>, pods: () => Iterable<Pod>) {
    this.#nodes = nodes;
    this.#pods = pods;
  }

  namersOf(namespace: string, claimName: string): number {
    if (this.#namers === undefined) {
      this.#namers = new Map();
      for (const pod of this.#pods()) this.#countNamer(pod, 1);
    }
    return this.#namers.get(`${namespace}/${claimName}`) ?? 0;
  }

  /** The pod is no longer what it was; undefined: it was, or is, not there. */
  changed(before: Pod | undefined, now: Pod | undefined): void {
    if (this.#namers === undefined) return;
    if (now !== undefined) this.#countNamer(now, 1);
    if (before !== undefined) this.#countNamer(before, -1);
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

  #countNamer(pod: Pod, change: 1 | -1): void {
    if (pod.volumes === noVolumes || isTerminal(pod)) return;
    const names = new Set(pod.volumes.flatMap((volume) => (volume.type === 'claim' ? [volume.claimName] : [])));
    for (const claimName of names) addCount(this.#namers!, `${pod.namespace}/${claimName}`, change);
  }

  #count({ namespace, volumes }: Pod, change: 1 | -1): void {
    if (volumes === noVolumes) return;
    for (const volume of volumes) {
      if (volume.type !== 'claim' || volume.isEphemeral) continue;
      addCount(this.#users!, `${namespace}/${volume.claimName}`, change);
    }
  }
}
