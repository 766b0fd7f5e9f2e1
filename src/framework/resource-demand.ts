import type { Pod } from '../api/pod.ts';

/** Pods to place: at least `needed` of these, in any combination. */
export interface ResourceDemand {
  /** One pod per pod class, with the number of pods in the class. */
  readonly podClasses: readonly { readonly pod: Pod; readonly count: number }[];
  readonly needed: number;
  /** Lowest priority of the pods, which bounds whom a preemption for them may evict. */
  readonly priority: number;
}

/** Returns the demand of `needed` members. Pods of one template are one pod class. */
export function resourceDemandOf(members: readonly Pod[], needed: number): ResourceDemand {
  /** template -> pods */
  const podClasses = new Map<Pod['template'], { readonly pod: Pod; count: number }>();
  let priority = Infinity;
  for (const pod of members) {
    priority = Math.min(priority, pod.priority);
    const podClass = podClasses.get(pod.template);
    if (podClass === undefined) podClasses.set(pod.template, { pod, count: 1 });
    else podClass.count++;
  }
  return { podClasses: [...podClasses.values()], needed, priority };
}

/** Returns the sum and the maximum of the `needed` smallest amounts. */
export function smallestAmounts(
  amounts: readonly (readonly [amount: number, count: number])[],
  needed: number,
): { readonly sum: number; readonly maximum: number } {
  let [left, sum, maximum] = [needed, 0, 0];
  for (const [amount, count] of amounts.toSorted(([a], [b]) => a - b)) {
    if (left <= 0) break;
    const number = Math.min(left, count);
    sum += number * amount;
    maximum = amount;
    left -= number;
  }
  return { sum, maximum };
}
