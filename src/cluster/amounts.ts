import type { ResourceList } from '../api/resource-list.ts';
import type { ResourceId } from '../api/resource-names.ts';
import { commonResources } from '../api/resource-names.ts';

/** Amounts of any number of resources. */
export interface AmountsView {
  /** Returns 0 for a resource without an amount. */
  of(id: ResourceId): number;
  /** Returns the amounts that are not 0, by ascending id. */
  entries(): readonly (readonly [id: ResourceId, amount: number])[];
}

/** Amount of a rare resource. */
interface RareAmount {
  amount: number;
  /** Number of added lists that name it. At 0 the entry is dropped, even if rounding of large sums leaves a remainder. */
  lists: number;
}

/** A sum of resource lists: dense for common resources, sparse for others, so that memory grows only with the names in use. */
export class Amounts implements AmountsView {
  readonly #common: number[] = [];
  /** id -> amount of a rare resource; created on first use */
  #rare: Map<ResourceId, RareAmount> | undefined;

  of(id: ResourceId): number {
    const common = this.#common;
    if (id < common.length) return common[id]!;
    return this.#rare === undefined ? 0 : (this.#rare.get(id)?.amount ?? 0);
  }

  entries(): readonly (readonly [id: ResourceId, amount: number])[] {
    const common = this.#common.map((amount, id) => [id, amount] as const);
    const rare = [...(this.#rare ?? [])].map(([id, { amount }]) => [id, amount] as const).sort(([a], [b]) => a - b);
    return [...common, ...rare].filter(([, amount]) => amount !== 0);
  }

  add({ ids, amounts }: ResourceList): void {
    const common = this.#common;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id < common.length) common[id]! += amounts[i]!;
      else this.#change(id, amounts[i]!, 1);
    }
  }

  /** Subtracts a list that was added. */
  subtract({ ids, amounts }: ResourceList): void {
    const common = this.#common;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id < common.length) common[id]! -= amounts[i]!;
      else this.#change(id, -amounts[i]!, -1);
    }
  }

  /** Changes a rare resource, or a common one beyond the end of the array. */
  #change(id: ResourceId, amount: number, lists: 1 | -1): void {
    if (id < commonResources) {
      const common = this.#common;
      while (common.length < id) common.push(0);
      common.push(amount);
      return;
    }
    const rare = (this.#rare ??= new Map<ResourceId, RareAmount>());
    const known = rare.get(id);
    if (known === undefined) {
      rare.set(id, { amount, lists });
    } else if (known.lists + lists === 0) {
      rare.delete(id);
      if (rare.size === 0) this.#rare = undefined;
    } else {
      known.amount += amount;
      known.lists += lists;
    }
  }
}
