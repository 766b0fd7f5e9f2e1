import type { Pod } from '../api/pod.ts';
import { isTerminal } from '../api/pod.ts';
import { noVolumes } from '../api/pod-volume.ts';
import { addCount } from '../base/add-count.ts';
import type { NodeInfo, PodChangeLog } from './node-info.ts';

/** Numbers of pods per PersistentVolumeClaim. */
export interface ClaimsInUseView {
  /** Returns how many volumes of pods on nodes refer to the claim, without ephemeral volumes. */
  usersOf(namespace: string, claimName: string): number;
  /** Returns how many pods refer to the claim, scheduled or not. */
  allUsersOf(namespace: string, claimName: string): number;
}

/** Starts counting on first use; from then on follows pods that are added to or removed from nodes. */
export class ClaimsInUse implements ClaimsInUseView, PodChangeLog {
  readonly #nodes: () => Iterable<NodeInfo>;
  readonly #pods: () => Iterable<Pod>;
  /** namespace/name -> number of pods that refer to the claim; undefined: not counted yet */
  #allUsers: Map<string, number> | undefined;
  /** namespace/name -> number of volumes of pods on nodes that refer to the claim; undefined: not counted yet */
  #users: Map<string, number> | undefined;

  /** `nodes`: all nodes with pods; `pods`: all known pods. */
  constructor(nodes: () => Iterable<NodeInfo>, pods: () => Iterable<Pod>) {
    this.#nodes = nodes;
    this.#pods = pods;
  }

  allUsersOf(namespace: string, claimName: string): number {
    if (this.#allUsers === undefined) {
      this.#allUsers = new Map();
      for (const pod of this.#pods()) this.#countUser(pod, 1);
    }
    return this.#allUsers.get(`${namespace}/${claimName}`) ?? 0;
  }

  /** Records a change of a pod; undefined: the pod was added or deleted. */
  changed(before: Pod | undefined, now: Pod | undefined): void {
    if (this.#allUsers === undefined) return;
    if (now !== undefined) this.#countUser(now, 1);
    if (before !== undefined) this.#countUser(before, -1);
  }

  usersOf(namespace: string, claimName: string): number {
    if (this.#users === undefined) {
      this.#users = new Map();
      for (const { pods } of this.#nodes()) for (const pod of pods.values()) this.#count(pod, 1);
    }
    return this.#users.get(`${namespace}/${claimName}`) ?? 0;
  }

  added(_node: NodeInfo, pods: readonly Pod[]): void {
    if (this.#users !== undefined) for (const pod of pods) this.#count(pod, 1);
  }

  removed(_node: NodeInfo, pods: readonly Pod[]): void {
    if (this.#users !== undefined) for (const pod of pods) this.#count(pod, -1);
  }

  #countUser(pod: Pod, change: 1 | -1): void {
    if (pod.volumes === noVolumes || isTerminal(pod)) return;
    const names = new Set(pod.volumes.flatMap((volume) => (volume.type === 'claim' ? [volume.claimName] : [])));
    for (const claimName of names) addCount(this.#allUsers!, `${pod.namespace}/${claimName}`, change);
  }

  #count({ namespace, volumes }: Pod, change: 1 | -1): void {
    if (volumes === noVolumes) return;
    for (const volume of volumes) {
      if (volume.type !== 'claim' || volume.isEphemeral) continue;
      addCount(this.#users!, `${namespace}/${volume.claimName}`, change);
    }
  }
}
