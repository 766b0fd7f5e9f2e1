import type { ResourceList } from '../api/resource-list.ts';
import type { ResourceId } from '../api/resource-names.ts';
import { commonResources } from '../api/resource-names.ts';

/** Amounts of any number of resources. */
export interface AmountsView {
  /** 0 where there is none. */
  of(id: ResourceId): number;
  /** Those that are not 0, ids ascending. */
  entries(): readonly (readonly [id: ResourceId, amount: number])[];
}

/** Of a rare resource. */
interface RareAmount {
  amount: number;
  /** Lists that were added and name it: without one there is nothing to keep, whatever sums of great numbers leave over. */
  lists: number;
}

/** A sum of lists: dense over the common resources, sparse over the others, so that a list with many names costs what it weighs. */
export class Amounts implements AmountsView {
  readonly #common: number[] = [];
  /** id -> a rare resource's amount; made with the first */
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

  /** Takes off what was added. */
  subtract({ ids, amounts }: ResourceList): void {
    const common = this.#common;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id < common.length) common[id]! -= amounts[i]!;
      else this.#change(id, -amounts[i]!, -1);
    }
  }

  /** Of a resource that is rare, or beyond the end. */
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
