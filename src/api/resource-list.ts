import { parseQuantity, quantityToInteger, quantityToMilli } from './quantity.ts';
import type { Quantity } from './quantity.ts';
import type { ResourceId, ResourceNames } from './resource-names.ts';

/**
 * A sparse list of amounts, ids ascending, zero amounts left out. Units as `ResourceNames` states. Names are known by their ids for
 * as long as the list itself lives; its parts alone do not see to that.
 */
export interface ResourceList {
  readonly ids: readonly ResourceId[];
  readonly amounts: readonly number[];
}

/** A mutable sum of resource amounts, used while a pod or node is projected. resource name -> amount */
export type ResourceSum = Map<string, number>;

/** Kubernetes' JSON form of amounts: resource name -> quantity. */
export type RawResources = Readonly<Record<string, string | number>>;

/** Reads a Kubernetes resource map, rounding up as Kubernetes does. Throws QuantityError for what is not a quantity. */
export function readResources(raw: RawResources | undefined): ResourceSum {
  const sum: ResourceSum = new Map();
  if (raw === undefined) return sum;
  for (const name in raw) sum.set(name, amountIn(name, parseQuantity(raw[name]!)));
  return sum;
}

/** The amount in the units that lists of this resource count in, rounded up. */
export function amountIn(name: string, quantity: Quantity): number {
  return name === 'cpu' ? quantityToMilli(quantity) : quantityToInteger(quantity);
}

/**
 * As `readResources`, but everything in thousandths of its unit, cpu in millicores as ever: what an API server stores is not finer. For
 * sums, which Kubernetes rounds up only as a whole: see `inUnits`. Exact below 2^46 units.
 */
export function readThousandths(raw: RawResources | undefined): ResourceSum {
  const sum: ResourceSum = new Map();
  if (raw === undefined) return sum;
  for (const name in raw) sum.set(name, quantityToMilli(parseQuantity(raw[name]!)));
  return sum;
}

/** One amount of a sum of thousandths, rounded up to the units that `readResources` counts in. */
export function inUnits(name: string, thousandths: number): number {
  return name === 'cpu' ? thousandths : Math.ceil(thousandths / 1000);
}

export function addInto(target: ResourceSum, more: ResourceSum): void {
  for (const [name, amount] of more) target.set(name, (target.get(name) ?? 0) + amount);
}

/** Raises each amount of `target` to that of `other` where `other` has more, or is the only one to name it. */
export function maxInto(target: ResourceSum, other: ResourceSum): void {
  for (const [name, amount] of other) target.set(name, Math.max(amount, target.get(name) ?? 0));
}

/** 0 where it is not in the list. */
export function amountOf({ ids, amounts }: ResourceList, id: ResourceId): number {
  const index = ids.indexOf(id);
  return index < 0 ? 0 : amounts[index]!;
}

export function sameResources(a: ResourceList | undefined, b: ResourceList | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.ids.length === b.ids.length &&
    a.ids.every((id, i) => id === b.ids[i]) &&
    a.amounts.every((amount, i) => amount === b.amounts[i])
  );
}

export function toResourceList(sum: ResourceSum, names: ResourceNames): ResourceList {
  const named = [...sum.keys()].filter((name) => sum.get(name) !== 0);
  return names.hold(named, (ids) => {
    const amounts = new Map(ids.map((id, i) => [id, sum.get(named[i]!)!]));
    const ascending = ids.toSorted((a, b) => a - b);
    return { ids: ascending, amounts: ascending.map((id) => amounts.get(id)!) };
  });
}
