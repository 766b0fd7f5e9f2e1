import type { Pod } from '../../../api/pod.ts';
import type { EvictionUnit } from '../../../framework/preemption-policy.ts';
import type { EvictablePod } from './evictable-pod.ts';

/** A set of victims: units that go whole, and single pods of others. */
export class Victims {
  readonly #whole = new Set<EvictionUnit>();
  /** unit -> its pods that go without the others */
  readonly #single = new Map<EvictionUnit, Set<Pod>>();

  has(pod: Pod, unit: EvictionUnit): boolean {
    return this.#whole.has(unit) || this.#single.get(unit)?.has(pod) === true;
  }

  /** Returns how many more pods of the unit may go without the others. */
  surplus(unit: EvictionUnit): number {
    return unit.surplus - (this.#single.get(unit)?.size ?? 0);
  }

  /** Adds a pod of the unit: alone if its group can spare it, otherwise the whole unit. Returns the pods that are new victims. */
  add(pod: Pod, unit: EvictionUnit): readonly Pod[] {
    if (this.has(pod, unit)) return [];
    if (this.surplus(unit) <= 0) return this.addWhole(unit);
    const single = this.#single.get(unit);
    if (single === undefined) this.#single.set(unit, new Set([pod]));
    else single.add(pod);
    return [pod];
  }

  /** Adds the whole unit. Returns the pods that are new victims. */
  addWhole(unit: EvictionUnit): readonly Pod[] {
    const added = unit.pods.filter((pod) => !this.has(pod, unit));
    this.#whole.add(unit);
    this.#single.delete(unit);
    return added;
  }

  /** Returns the victims without these pods. Of a unit that went whole, the others go alone. */
  without(pods: ReadonlySet<Pod>): Victims {
    const copy = new Victims();
    for (const unit of this.#whole) {
      const left = unit.pods.filter((pod) => !pods.has(pod));
      if (left.length === unit.pods.length) copy.#whole.add(unit);
      else if (left.length > 0) copy.#single.set(unit, new Set(left));
    }
    for (const [unit, single] of this.#single) {
      const left = [...single].filter((pod) => !pods.has(pod));
      if (left.length > 0) copy.#single.set(unit, new Set(left));
    }
    return copy;
  }

  /** Returns the pods that go alone, and one of each unit that goes whole. */
  choices(): EvictablePod[] {
    const whole = [...this.#whole].map((unit) => ({ pod: unit.pods.at(-1)!, unit, isSpare: false }));
    const single = [...this.#single].flatMap(([unit, pods]) => [...pods].map((pod) => ({ pod, unit, isSpare: true })));
    return [...whole, ...single];
  }

  *[Symbol.iterator](): Iterator<EvictablePod> {
    for (const unit of this.#whole) for (const pod of unit.pods) yield { pod, unit, isSpare: false };
    for (const [unit, pods] of this.#single) for (const pod of pods) yield { pod, unit, isSpare: true };
  }

  get isEmpty(): boolean {
    return this.#whole.size === 0 && this.#single.size === 0;
  }

  get size(): number {
    let size = 0;
    for (const { pods } of this.#whole) size += pods.length;
    for (const pods of this.#single.values()) size += pods.size;
    return size;
  }
}
