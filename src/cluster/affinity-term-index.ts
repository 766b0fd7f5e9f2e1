import { isTerminal } from '../api/pod.ts';
import type { Pod, PodAffinityRules } from '../api/pod.ts';

/** Affinity terms of all pods, scheduled or not. */
export interface AffinityTermIndexView {
  /** Changes when a set of terms gets its first pod or loses its last one. */
  readonly revision: number;
  readonly isEmpty: boolean;
  /** Visits each set of rules once per namespace. */
  each(visit: (rules: PodAffinityRules, namespace: string) => void): void;
}

/** Counts pods by their rules. Pods without rules cost nothing. */
export class AffinityTermIndex implements AffinityTermIndexView {
  revision = 0;
  /** rules -> namespace -> number of pods */
  readonly #counts = new Map<PodAffinityRules, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  each(visit: (rules: PodAffinityRules, namespace: string) => void): void {
    for (const [rules, counts] of this.#counts) for (const namespace of counts.keys()) visit(rules, namespace);
  }

  /** Records a change of a pod; undefined: the pod was added or deleted. */
  changed(before: Pod | undefined, now: Pod | undefined): void {
    const [old, rules] = [rulesOf(before), rulesOf(now)];
    if (old === rules) return;
    if (rules !== undefined) this.#change(rules, now!.namespace, 1);
    if (old !== undefined) this.#change(old, before!.namespace, -1);
  }

  #change(rules: PodAffinityRules, namespace: string, change: number): void {
    let counts = this.#counts.get(rules);
    if (counts === undefined) this.#counts.set(rules, (counts = new Map<string, number>()));
    const before = counts.get(namespace) ?? 0;
    const count = before + change;
    if (count > 0) counts.set(namespace, count);
    else counts.delete(namespace);
    if (counts.size === 0) this.#counts.delete(rules);
    if (before === 0 || count === 0) this.revision++;
  }
}

function rulesOf(pod: Pod | undefined): PodAffinityRules | undefined {
  return pod === undefined || isTerminal(pod) ? undefined : pod.template.podAffinity;
}
