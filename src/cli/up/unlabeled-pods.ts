import { describeMislabeledWorkload } from '../../api/mislabeled-workload.ts';
import { describeLookAlike } from '../../api/pod-group-membership.ts';
import type { ObservedPod, ObservedWorkload } from './observed.ts';

/** Pods that started one by one because they lack the label of a group. */
export interface UnlabeledStart {
  /** namespace/name */
  readonly group: string;
  /** Number of pods that were bound. */
  readonly pods: number;
  /** What is wrong and what to do, for the first of them. */
  readonly cause: string;
}

/** Finds pods that were bound outside of the group that their owner, or a look-alike of the label, names. */
export class UnlabeledPods {
  /** pod key -> a bound pod without a group that no start includes yet */
  readonly #pods = new Map<string, ObservedPod>();
  /** workload key -> the workload, if its pods lack the label that it has */
  readonly #workloads = new Map<string, ObservedWorkload>();
  /** group key -> its start */
  readonly #starts = new Map<string, UnlabeledStart>();
  /** uids of the pods in starts that still exist */
  readonly #counted = new Set<string>();

  podSeen(pod: ObservedPod): void {
    const mayBelong = pod.owner !== undefined || pod.lookAlikes.length > 0;
    if (pod.group === undefined && pod.nodeName !== undefined && mayBelong && !this.#counted.has(pod.uid))
      this.#pods.set(pod.key, pod);
  }

  podGone({ key, uid }: ObservedPod): void {
    this.#pods.delete(key);
    this.#counted.delete(uid);
  }

  workloadSeen(workload: ObservedWorkload): void {
    if (workload.mislabeled === undefined) this.#workloads.delete(workload.key);
    else this.#workloads.set(workload.key, workload);
  }

  workloadGone(key: string): void {
    this.#workloads.delete(key);
  }

  /** Returns the starts until now, in the order in which they were found. `hasGroup`: whether the PodGroup exists. */
  starts(hasGroup: (key: string) => boolean): readonly UnlabeledStart[] {
    for (const pod of this.#pods.values()) {
      const found = this.#groupOf(pod, hasGroup);
      if (found === undefined) continue;
      this.#pods.delete(pod.key);
      this.#counted.add(pod.uid);
      const known = this.#starts.get(found.group);
      this.#starts.set(found.group, { ...found, ...known, pods: (known?.pods ?? 0) + 1 });
    }
    return [...this.#starts.values()];
  }

  #groupOf(pod: ObservedPod, hasGroup: (key: string) => boolean): Omit<UnlabeledStart, 'pods'> | undefined {
    const { namespace, name, lookAlikes, owner } = pod;
    const mislabeled = owner === undefined ? undefined : this.#workloads.get(owner)?.mislabeled;
    if (mislabeled !== undefined)
      return { group: `${namespace}/${mislabeled.group}`, cause: describeMislabeledWorkload(mislabeled) };
    const lookAlike = lookAlikes.find((each) => hasGroup(`${namespace}/${each.name}`));
    if (lookAlike === undefined) return undefined;
    return { group: `${namespace}/${lookAlike.name}`, cause: describeLookAlike(`such as ${name}`, lookAlike) };
  }
}
