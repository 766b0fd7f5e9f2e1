import { parseQuantity, quantityToInteger, quantityToMilli } from './quantity.ts';
import type { Quantity } from './quantity.ts';
import type { ResourceId, ResourceNames } from './resource-names.ts';

/**
 * A sparse list of nonzero amounts in ascending order of ids, in the units of `ResourceNames`. The list object keeps the names of its ids
 * alive; its arrays alone do not.
 */
export interface ResourceList {
  readonly ids: readonly ResourceId[];
  readonly amounts: readonly number[];
}

/** Mutable sum for the projection of a pod or node: resource name -> amount */
export type ResourceSum = Map<string, number>;

/** Amounts in the API: resource name -> quantity */
export type RawResources = Readonly<Record<string, string | number>>;

/** Parses a Kubernetes resource map and rounds up as Kubernetes does. Throws QuantityError. */
export function readResources(raw: RawResources | undefined): ResourceSum {
  const sum: ResourceSum = new Map();
  if (raw === undefined) return sum;
  for (const name in raw) sum.set(name, amountIn(name, parseQuantity(raw[name]!)));
  return sum;
}

/** Returns the amount in the unit of the resource, rounded up. */
export function amountIn(name: string, quantity: Quantity): number {
  return name === 'cpu' ? quantityToMilli(quantity) : quantityToInteger(quantity);
}

/**
 * Like `readResources`, but in thousandths of the unit; cpu stays in millicores. API servers store nothing finer. Use it for sums, because
 * Kubernetes rounds up only the sum: see `inUnits`. Exact below 2^46 units.
 */
export function readThousandths(raw: RawResources | undefined): ResourceSum {
  const sum: ResourceSum = new Map();
  if (raw === undefined) return sum;
  for (const name in raw) sum.set(name, quantityToMilli(parseQuantity(raw[name]!)));
  return sum;
}

/** Converts an amount in thousandths to the unit of `readResources`, rounded up. */
export function inUnits(name: string, thousandths: number): number {
  return name === 'cpu' ? thousandths : Math.ceil(thousandths / 1000);
}

export function addInto(target: ResourceSum, more: ResourceSum): void {
  for (const [name, amount] of more) target.set(name, (target.get(name) ?? 0) + amount);
}

/** Sets each amount of `target` to the maximum of both sums. */
export function maxInto(target: ResourceSum, other: ResourceSum): void {
  for (const [name, amount] of other) target.set(name, Math.max(amount, target.get(name) ?? 0));
}

/** Returns the amount of a resource, or 0 if it is not in the list. */
export function amountOf({ ids, amounts }: ResourceList, id: ResourceId): number {
  const index = ids.indexOf(id);
  return index < 0 ? 0 : amounts[index]!;
}

/**
 * Returns the minimum of both lists for each resource; `list` itself if nothing in `other` is less. A new list does not keep names alive, so
 * the caller must keep `list`.
 */
export function minResources(list: ResourceList, other: ResourceList): ResourceList {
  const { ids, amounts } = list;
  const min = amounts.map((amount, i) => Math.min(amount, amountOf(other, ids[i]!)));
  if (min.every((amount, i) => amount === amounts[i])) return list;
  return { ids: ids.filter((_, i) => min[i] !== 0), amounts: min.filter((amount) => amount !== 0) };
}

/** Returns whether no amount exceeds that of the other list. */
export function isAtMost({ ids, amounts }: ResourceList, other: ResourceList): boolean {
  return ids.every((id, i) => amounts[i]! <= amountOf(other, id));
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
