import type { Pod } from '../../../api/pod.ts';
import type { ResourceId } from '../../../api/resource-names.ts';
import type { EvictionUnit, PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import { BudgetUse } from './budget-use.ts';
import type { CandidateNode } from './candidate-node.ts';
import { comparePrices, free as nothingGoes, priceOf, totalOf } from './eviction-price.ts';
import type { EvictionPrice } from './eviction-price.ts';
import type { EvictablePod } from './evictable-pod.ts';
import type { EvictionUnits } from './eviction-units.ts';
import { Victims } from './victims.ts';

/** A node with the victims that it takes to place one more member there. */
export interface Offer {
  readonly candidate: CandidateNode;
  readonly version: number;
  readonly out: readonly EvictablePod[];
  /** Number of evictions before. */
  readonly evictions: number;
  /** gang among them -> how many of its pods could go without the others */
  readonly surplus: ReadonlyMap<EvictionUnit, number>;
  readonly price: EvictionPrice;
}

export interface OffersOptions {
  readonly units: EvictionUnits;
  readonly policy: PreemptionPolicy;
  /** The resources of requests and of what is free. */
  readonly ids: readonly ResourceId[];
  /** Pods of this priority or a higher one are no victims. */
  readonly below: number;
}

const noGangs: ReadonlyMap<EvictionUnit, number> = new Map();

/** What the next member costs on a node, beside the victims so far. */
export class Offers {
  /** The victims so far. */
  readonly victims = new Victims();
  /** Their evictions. */
  readonly used: BudgetUse;
  readonly #options: OffersOptions;
  /** unit -> price of its pods that are no victims yet, and how many of them could go without the others */
  readonly #restPrices = new Map<EvictionUnit, { readonly surplus: number; readonly price: EvictionPrice }>();
  /** By resource: what the node of the present offer would have free. */
  readonly #available: number[] = [];

  constructor(options: OffersOptions) {
    this.#options = options;
    this.used = new BudgetUse(options.policy);
  }

  /** Returns false if a member would not fit even if all pods of lower priority were gone from the node. Does not read the pods. */
  mayExist({ node, free }: CandidateNode, request: readonly number[]): boolean {
    const { units, ids } = this.#options;
    for (let i = 0; i < request.length; i++) {
      const isShort = request[i]! > 0 && free[i]! < request[i]!;
      if (isShort && free[i]! + units.mostRequestedOn(node, ids[i]!) < request[i]!) return false;
    }
    return true;
  }

  /** Returns the offer of the node; undefined: no pods that may go make enough capacity free. */
  of(candidate: CandidateNode, request: readonly number[]): Offer | undefined {
    const { units, policy, below } = this.#options;
    const { version } = candidate;
    const { victims, used } = this;
    if (fits(candidate.free, request))
      return { candidate, version, out: [], evictions: 0, surplus: noGangs, price: nothingGoes };
    const pods = units.on(candidate.node);
    const mayAllGo = victims.isEmpty && below === Infinity;
    const left = mayAllGo ? pods : pods.filter((each) => this.#mayGo(each));
    if (left.length === 0) return undefined;
    const available = this.#available;
    for (let i = 0; i < request.length; i++) available[i] = candidate.free[i]!;
    for (const { pod } of left) candidate.add(available, pod, 1);
    if (!fits(available, request)) return undefined;
    const out: EvictablePod[] = [];
    for (const each of used.putBackOrder(left)) {
      candidate.add(available, each.pod, -1);
      if (fits(available, request)) continue;
      candidate.add(available, each.pod, 1);
      out.push(each);
    }
    const areAlone = out.every(({ unit }) => unit.gang === undefined);
    if (areAlone && !policy.hasBudgets)
      return { candidate, version, out, evictions: 0, surplus: noGangs, price: priceOf(out.map(({ pod }) => pod)) };
    const gangs = out.flatMap(({ unit }) => (unit.gang === undefined ? [] : unit));
    const surplus = new Map(gangs.map((unit) => [unit, victims.surplus(unit)]));
    const price = this.#priceOf(out);
    if (price === undefined) return undefined;
    return { candidate, version, out, evictions: used.evictions, surplus, price };
  }

  /** Returns whether the node's offer may be another one now. */
  isOutdated({ candidate, version, out, evictions, surplus }: Offer): boolean {
    if (version !== candidate.version) return true;
    if (out.length > 0 && this.#options.units.keepBudgets && evictions !== this.used.evictions) return true;
    for (const [unit, before] of surplus) if (this.victims.surplus(unit) !== before) return true;
    return false;
  }

  /** Returns whether the pod, and those that have to go with it, are no victims yet but may be. */
  #mayGo({ pod, unit }: EvictablePod): boolean {
    if (this.victims.has(pod, unit)) return false;
    return (this.victims.surplus(unit) > 0 ? pod : unit).priority < this.#options.below;
  }

  /** Returns undefined if these evictions would exceed a budget that must be kept. */
  #priceOf(out: readonly EvictablePod[]): EvictionPrice | undefined {
    const { victims, used } = this;
    /** unit -> its pods that would go alone; undefined: all that are no victims yet */
    const ofUnit = new Map<EvictionUnit, Pod[] | undefined>();
    for (const { pod, unit } of out.toReversed()) {
      const alone = ofUnit.has(unit) ? ofUnit.get(unit) : [];
      if (alone === undefined) continue;
      const isAlone = alone.length < victims.surplus(unit);
      if (isAlone) alone.push(pod);
      ofUnit.set(unit, isAlone ? alone : undefined);
    }
    const { units, policy } = this.#options;
    if (!policy.hasBudgets) {
      const prices = [...ofUnit].map(([unit, alone]) => (alone ? priceOf(alone) : this.#restPriceOf(unit)));
      return prices.reduce(totalOf, nothingGoes);
    }
    const pods = [...ofUnit].flatMap(([unit, alone]) => alone ?? unit.pods.filter((pod) => !victims.has(pod, unit)));
    if (units.exceedBudgets(pods, used)) return undefined;
    return priceOf(pods, used.copy().addAll(pods));
  }

  /** Returns the price of the pods of a unit that are no victims yet, without budgets. */
  #restPriceOf(unit: EvictionUnit): EvictionPrice {
    const surplus = this.victims.surplus(unit);
    const known = this.#restPrices.get(unit);
    if (known?.surplus === surplus) return known.price;
    const price = priceOf(unit.pods.filter((pod) => !this.victims.has(pod, unit)));
    this.#restPrices.set(unit, { surplus, price });
    return price;
  }
}

function fits(free: readonly number[], request: readonly number[]): boolean {
  for (let i = 0; i < request.length; i++) if (request[i]! > 0 && free[i]! < request[i]!) return false;
  return true;
}

/** Among equal prices, nodes without reservations of others come first. */
export function compareOffers(a: Offer, b: Offer): number {
  const prices = comparePrices(a.price, b.price);
  if (prices !== 0) return prices;
  const [nodeA, nodeB] = [a.candidate.node, b.candidate.node];
  const reservations = nodeA.reservations.size - nodeB.reservations.size;
  if (reservations !== 0) return reservations;
  if (nodeA.nameRank !== nodeB.nameRank) return nodeA.nameRank - nodeB.nameRank;
  return nodeA.name < nodeB.name ? -1 : nodeA.name === nodeB.name ? 0 : 1;
}
