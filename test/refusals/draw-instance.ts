import { hashText } from '../../src/base/hash-text.ts';
import { Dice } from '../simulation/dice.ts';
import { mix } from '../simulation/world/mix.ts';
import type { Family } from './families.ts';
import { gangPriority, resourceIndexes, respectedReservations } from './instance.ts';
import type { Instance, InstanceKind, InstanceNode, InstanceReservation, ResourceAmounts } from './instance.ts';

/** 500 millicores, 1 GiB, one GPU */
const unit: ResourceAmounts = [500, 1024, 1];
/** Usual requests, in units. */
const sizes = [1, 2, 4, 8];
const zones = ['a', 'b'];
const none: ResourceAmounts = [0, 0, 0];

/**
 * Returns an instance of the family; the same family and seed give the same instance. The sums of all resources suffice, but the members
 * may still not fit: only an exact search decides that.
 */
export function drawInstance(family: Family, seed: number): Instance {
  return new InstanceDraw(family, seed).draw();
}

class InstanceDraw {
  readonly #family: Family;
  readonly #seed: number;
  readonly #dice: Dice;
  readonly #hasGpus: boolean;

  constructor(family: Family, seed: number) {
    this.#family = family;
    this.#seed = seed;
    this.#dice = new Dice(mix(hashText(family.name), seed));
    this.#hasGpus = family.isOpposite !== true && this.#dice.chance(0.5);
  }

  draw(): Instance {
    const { name, isElastic = false, bound: mostBound = 0, reservations: mostReservations = 0 } = this.#family;
    const dice = this.#dice;
    const count = dice.int(...this.#family.nodes);
    const kinds = Array.from({ length: dice.int(...this.#family.kinds) }, (_, i) => this.#kind(i));
    const members = this.#members(kinds.length);
    const needed = isElastic ? dice.int(Math.ceil(members.length / 2), members.length - 1) : members.length;
    const free = this.#free(count, this.#leastDemand(kinds, members, needed));
    const bound = dice.some(0, mostBound, () => ({
      kind: dice.int(0, kinds.length - 1),
      node: dice.int(0, count - 1),
    }));
    const reservations = dice.some(0, mostReservations, () => this.#reservation(count));
    const nodes = free.map((amounts) => this.#node(amounts));
    const instance = { family: name, seed: this.#seed, nodes, kinds, members, needed, bound, reservations };
    // The free amounts are what the gang can use.
    return { ...instance, nodes: nodes.map((node, i) => ({ ...node, allocatable: withTaken(instance, node, i) })) };
  }

  #kind(index: number): InstanceKind {
    const { hostPorts = 0, nodeSelectors = 0, antiAffinity = 0, tolerations = 0 } = this.#family;
    const dice = this.#dice;
    return {
      amounts: this.#amounts(index),
      hostPort: dice.chance(hostPorts) ? dice.pick([8080, 9090]) : undefined,
      zone: dice.chance(nodeSelectors) ? dice.pick(zones) : undefined,
      toleratesTaint: dice.chance(tolerations),
      apartFrom: dice.chance(antiAffinity) ? dice.pick(['kind', 'kind', 'kind', 'gang']) : undefined,
    };
  }

  #amounts(index: number): ResourceAmounts {
    const dice = this.#dice;
    if (this.#family.isOpposite === true) {
      const [much, little] = [dice.int(4, 8), dice.int(1, 2)];
      return index % 2 === 0 ? inUnits(much, little, 0) : inUnits(little, much, 0);
    }
    return inUnits(dice.pick(sizes), dice.pick(sizes), this.#hasGpus ? dice.pick([0, 0, 1, 2, 4]) : 0);
  }

  /** Returns the kinds of the members, at least one of each, in random order. */
  #members(kinds: number): number[] {
    const dice = this.#dice;
    const [least, most] = this.#family.members;
    const count = dice.int(Math.max(least, kinds), most);
    const members = Array.from({ length: count }, (_, i) => (i < kinds ? i : dice.int(0, kinds - 1)));
    for (let i = count - 1; i > 0; i--) {
      const other = dice.int(0, i);
      [members[i], members[other]] = [members[other]!, members[i]!];
    }
    return members;
  }

  /** Returns the sum of the smallest members that are enough. */
  #leastDemand(kinds: readonly InstanceKind[], members: readonly number[], needed: number): ResourceAmounts {
    const requests = members.map((kind) => kinds[kind]!.amounts);
    const total = sumOf(requests);
    const size = (amounts: ResourceAmounts): number =>
      resourceIndexes.reduce<number>((sum, i) => sum + amounts[i] / Math.max(1, total[i]), 0);
    return sumOf(requests.sort((a, b) => size(a) - size(b)).slice(0, needed));
  }

  /** Returns what is free on each node. The scarcest resource has the slack of the family, the others at least as much. */
  #free(count: number, demand: ResourceAmounts): ResourceAmounts[] {
    const dice = this.#dice;
    const {
      slack: [least, most],
      isOpposite = false,
    } = this.#family;
    const scarcest = dice.pick(resourceIndexes.filter((i) => demand[i] > 0));
    const slack = least + (most - least) * this.#share();
    const shares = this.#nodeShares(count);
    // On some clusters, nodes differ in their proportions as well.
    const isSkewed = dice.chance(0.3);
    const byResource = resourceIndexes.map((i) => {
      const units = demand[i] / unit[i];
      const more = i === scarcest || isOpposite ? 0 : this.#share();
      const total = i === scarcest ? Math.floor(units * (1 + slack)) : Math.ceil(units * (1 + slack + more));
      return apportion(total, isSkewed ? this.#nodeShares(count) : shares);
    });
    return Array.from({ length: count }, (_, node) => {
      const [cpu, memory, gpus] = byResource.map((units) => units[node]!) as [number, number, number];
      return inUnits(cpu, memory, gpus);
    });
  }

  #nodeShares(count: number): number[] {
    const most = this.#dice.pick([1, 4]);
    return Array.from({ length: count }, () => this.#dice.int(1, most));
  }

  #node(free: ResourceAmounts): InstanceNode {
    const { nodeSelectors = 0, tolerations = 0 } = this.#family;
    const dice = this.#dice;
    return {
      allocatable: free,
      used: dice.chance(0.5) ? inUnits(dice.int(0, 8), dice.int(0, 8), this.#hasGpus ? dice.int(0, 4) : 0) : none,
      zone: nodeSelectors > 0 ? dice.pick(zones) : undefined,
      isTainted: tolerations > 0 && dice.chance(0.4),
    };
  }

  #reservation(nodes: number): InstanceReservation {
    const dice = this.#dice;
    return {
      node: dice.int(0, nodes - 1),
      amounts: inUnits(dice.int(1, 4), dice.int(1, 4), this.#hasGpus ? dice.int(0, 1) : 0),
      priority: dice.pick([gangPriority - 1, gangPriority, gangPriority + 1]),
    };
  }

  #share(): number {
    return this.#dice.int(0, 1_000) / 1_000;
  }
}

/** Returns what is free on the node together with everything that uses it or that the gang must leave free. */
function withTaken(instance: Instance, { allocatable, used }: InstanceNode, node: number): ResourceAmounts {
  const isHere = (other: { readonly node: number }): boolean => other.node === node;
  const bound = instance.bound.filter(isHere).map(({ kind }) => instance.kinds[kind]!.amounts);
  const reserved = respectedReservations(instance).filter(isHere);
  return sumOf([allocatable, used, ...bound, ...reserved.map(({ amounts }) => amounts)]);
}

/** Divides the total in proportion to the shares, the rest in order. */
function apportion(total: number, shares: readonly number[]): number[] {
  const all = shares.reduce((sum, share) => sum + share, 0);
  const parts = shares.map((share) => Math.floor((total * share) / all));
  let rest = total - parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => (rest-- > 0 ? part + 1 : part));
}

function sumOf(amounts: readonly ResourceAmounts[]): ResourceAmounts {
  return amounts.reduce((a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]], none);
}

function inUnits(cpu: number, memory: number, gpus: number): ResourceAmounts {
  return [cpu * unit[0], memory * unit[1], gpus * unit[2]];
}
