import { formatAmount } from '../api/format-amount.ts';

/**
 * How much of one resource is missing for identical pods that must still be placed, after their siblings have been placed. All amounts are
 * in internal units (see `ResourceNames`). They cover the nodes that the pods may use: those that reject them only because too little
 * is free. A node that is too small even without other pods does not count, unless all of them are. Capacity that is reserved for others,
 * and that the pods must respect, is not free.
 */
export interface CapacityShortage {
  readonly resource: string;
  /** At least this many of the pods must still be placed. */
  readonly count: number;
  /** What each of them requests. */
  readonly request: number;
  /** Sum of what the nodes offer. */
  readonly total: number;
  /** Sum of what is free, before the siblings are placed. */
  readonly free: number;
  /** Sum of what the siblings leave. */
  readonly left: number;
  /** Most of what they leave on one node; less than `request`. */
  readonly largest: number;
  /** Members with other requests lack a node too, so that the entity needs more than these pods do. */
  readonly isPartial: boolean;
}

/** Returns whether the free amounts together do not suffice. Otherwise there is enough, but too little on each node. */
export function isShortInTotal({ count, request, left }: CapacityShortage): boolean {
  return count * request > left;
}

/** What must become free, in internal units. */
export interface MissingAmount {
  readonly amount: number;
  /** More may be needed. */
  readonly isAtLeast: boolean;
  /** The amount follows from what single nodes have free, not from the total. */
  readonly isByNode: boolean;
}

/** Returns how much more is needed; undefined if enough is free in total. */
export function missingAmountOf(shortage: CapacityShortage): MissingAmount | undefined {
  if (!isShortInTotal(shortage)) return undefined;
  const { count, request, free, left, largest, isPartial } = shortage;
  // No pod gets more than the largest remainder without an addition.
  const byTotal = count * request - left;
  const byNode = count * (request - largest);
  const isByNode = byNode > byTotal && left === free;
  return { amount: Math.max(byTotal, byNode), isAtLeast: isByNode || left > 0 || isPartial, isByNode };
}

/**
 * Returns one sentence. It says how much more is needed only if the total does not suffice:
 *
 * - `It needs 24 more nvidia.com/gpu; 8 free, 40 in total.`
 * - `It needs at least 2 more cpu; 30 free, 40 in total.` if more may be needed: what is left on a node may be too little for a pod.
 * - `It needs at least 3 more cpu; 3 free, at most 1 on one node, 12 in total.` if the pod requests 4 on one node.
 * - `It finds 12 cpu free, at most 3 on one node.`
 * - `The members that would fit leave 8 cpu free, at most 3 on one node.`
 */
export function describeShortage(shortage: CapacityShortage): string {
  const { resource, total, free, left, largest } = shortage;
  const amount = (value: number): string => formatAmount(resource, value);
  const what = (value: number): string => nounOf(resource, value);
  const missing = missingAmountOf(shortage);
  if (missing === undefined) {
    const finds = left === free ? `It finds ${amount(free)}` : `The members that would fit leave ${amount(left)}`;
    return `${finds} ${what(left)} free, at most ${amount(largest)} on one node.`;
  }
  const more = `${amount(missing.amount)} more ${what(missing.amount)}; ${amount(free)} free`;
  const all = `${amount(total)} in total.`;
  if (missing.isByNode) return `It needs at least ${more}, at most ${amount(largest)} on one node, ${all}`;
  return missing.isAtLeast ? `It needs at least ${more}, ${all}` : `It needs ${more}, ${all}`;
}

/** `It is first in line for cpu.` */
export function describeFirstInLine({ resource }: CapacityShortage): string {
  return `It is first in line for ${nounOf(resource, Infinity)}.`;
}

function nounOf(resource: string, amount: number): string {
  if (resource !== 'pods') return resource;
  return amount === 1 ? 'pod slot' : 'pod slots';
}
