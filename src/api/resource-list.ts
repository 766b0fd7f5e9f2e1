import { parseQuantity, quantityToInteger, quantityToMilli } from './quantity.ts';
import { cpuId } from './resource-names.ts';
import type { ResourceId, ResourceNames } from './resource-names.ts';

/** A sparse list of amounts, ids ascending, zero amounts left out. Units as `ResourceNames` states. */
export interface ResourceList {
  readonly ids: readonly ResourceId[];
  readonly amounts: readonly number[];
}

/** A mutable sum of resource amounts, used while a pod or node is projected. id -> amount */
export type ResourceSum = Map<ResourceId, number>;

/** Kubernetes' JSON form of amounts: resource name -> quantity. */
export type RawResources = Readonly<Record<string, string | number>>;

/** Reads a Kubernetes resource map, rounding up as Kubernetes does. Throws QuantityError for what is not a quantity. */
export function readResources(raw: RawResources | undefined, names: ResourceNames): ResourceSum {
  const sum: ResourceSum = new Map();
  if (raw === undefined) return sum;
  for (const name in raw) {
    const id = names.idOf(name);
    const quantity = parseQuantity(raw[name]!);
    sum.set(id, id === cpuId ? quantityToMilli(quantity) : quantityToInteger(quantity));
  }
  return sum;
}

/**
 * As `readResources`, but everything in thousandths of its unit, cpu in millicores as ever: what an API server stores is not finer. For
 * sums, which Kubernetes rounds up only as a whole: see `inUnits`. Exact below 2^46 units.
 */
export function readThousandths(raw: RawResources | undefined, names: ResourceNames): ResourceSum {
  const sum: ResourceSum = new Map();
  if (raw === undefined) return sum;
  for (const name in raw) sum.set(names.idOf(name), quantityToMilli(parseQuantity(raw[name]!)));
  return sum;
}

/** One amount of a sum of thousandths, rounded up to the units that `readResources` counts in. */
export function inUnits(id: ResourceId, thousandths: number): number {
  return id === cpuId ? thousandths : Math.ceil(thousandths / 1000);
}

export function addInto(target: ResourceSum, more: ResourceSum): void {
  for (const [id, amount] of more) target.set(id, (target.get(id) ?? 0) + amount);
}

/** Raises each amount of `target` to that of `other` where `other` has more, or is the only one to name it. */
export function maxInto(target: ResourceSum, other: ResourceSum): void {
  for (const [id, amount] of other) target.set(id, Math.max(amount, target.get(id) ?? 0));
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

export function toResourceList(sum: ResourceSum): ResourceList {
  const ids = [...sum.keys()].filter((id) => sum.get(id) !== 0).sort((a, b) => a - b);
  return { ids, amounts: ids.map((id) => sum.get(id)!) };
}
