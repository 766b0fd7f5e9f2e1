import { hashText } from '../../src/base/hash-text.ts';
import { Dice } from '../simulation/dice.ts';
import { mix } from '../simulation/world/mix.ts';
import type { Family } from './families.ts';
import { preemptorPriority, resourceIndexes } from './instance.ts';
import type { Instance, InstanceNode, MemberKind, PodShape, ResourceAmounts, RunningPod } from './instance.ts';

/** 500 millicores, 1 GiB, one GPU */
const unit: ResourceAmounts = [500, 1024, 1];
const lowPriorities = [0, 0, 10, 20, 30];
const highPriorities = [preemptorPriority, preemptorPriority + 20];
const maxUnits = 6;
/** Limits how many victim sets an exhaustive search has to try. */
const maxRunning = 12;

/**
 * Returns an instance of the family; the same family and seed give the same instance. Nodes are about full. Preemption may be impossible, and
 * sometimes it is not needed.
 */
export function drawInstance(family: Family, seed: number): Instance {
  return new InstanceDraw(family, seed).draw();
}

class InstanceDraw {
  readonly #family: Family;
  readonly #seed: number;
  readonly #dice: Dice;
  readonly #nodes: number;
  /** Number of resources that pods request. */
  readonly #resources: number;
  readonly #budgets: readonly number[];

  constructor(family: Family, seed: number) {
    this.#family = family;
    this.#seed = seed;
    this.#dice = new Dice(mix(hashText(family.name), seed));
    this.#nodes = this.#dice.int(1, 4);
    this.#resources = this.#dice.int(1, 3);
    const { budgets = 0 } = family;
    this.#budgets = budgets === 0 ? [] : this.#dice.some(1, budgets, () => this.#dice.int(0, 2));
  }

  draw(): Instance {
    const { name, members: bounds, isElastic = false, bound = 0, ownTerminating = 0 } = this.#family;
    const dice = this.#dice;
    const kinds = this.#kinds();
    const members = this.#members(kinds.length);
    const needed = isElastic ? dice.int(1, members.length - 1) : members.length;
    const { groups, running } = this.#running();
    if (bounds !== undefined) {
      const own = (isLeaving: boolean): RunningPod => this.#own(dice.pick(kinds), isLeaving);
      running.push(...dice.some(0, bound, () => own(false)), ...dice.some(0, ownTerminating, () => own(true)));
    }
    const reservations = dice.some(0, this.#family.reservations ?? 0, () => ({
      node: dice.int(0, this.#nodes - 1),
      amounts: this.#amounts(),
      priority: dice.pick([preemptorPriority - 20, ...(this.#family.mixesPriorities ? [] : highPriorities)]),
    }));
    const nodes = Array.from({ length: this.#nodes }, (_, node) =>
      this.#node(running.filter((pod) => pod.node === node)),
    );
    const isGang = bounds !== undefined;
    const { budgets } = { budgets: this.#budgets };
    return {
      family: name,
      seed: this.#seed,
      nodes,
      groups,
      running,
      kinds,
      isGang,
      members,
      needed,
      reservations,
      budgets,
    };
  }

  #kinds(): MemberKind[] {
    const { kinds: [from, to] = [1, 1], mixesPriorities = false, taints = 0, antiAffinity = 0 } = this.#family;
    const dice = this.#dice;
    const count = dice.int(from, to);
    return Array.from({ length: count }, (_, kind) => {
      const others = ['running-0', 'running-1', ...Array.from({ length: count }, (__, other) => `member-${other}`)];
      return {
        ...this.#shape(`member-${kind}`, dice.chance(antiAffinity) ? dice.some(1, 2, () => dice.pick(others)) : []),
        priority: preemptorPriority + (mixesPriorities ? dice.pick([-10, 0, 10]) : 0),
        toleratesTaint: dice.chance(taints > 0 ? 0.5 : 0),
      };
    });
  }

  /** Returns the kinds of the members, at least one of each, in random order. */
  #members(kinds: number): number[] {
    const dice = this.#dice;
    const [least, most] = this.#family.members ?? [1, 1];
    const count = dice.int(Math.max(least, kinds), most);
    const members = Array.from({ length: count }, (_, i) => (i < kinds ? i : dice.int(0, kinds - 1)));
    for (let i = count - 1; i > 0; i--) {
      const other = dice.int(0, i);
      [members[i], members[other]] = [members[other]!, members[i]!];
    }
    return members;
  }

  /** Draws units: pods without a group, and groups with their members. */
  #running(): { readonly groups: Instance['groups'][number][]; readonly running: RunningPod[] } {
    const dice = this.#dice;
    const groups: Instance['groups'][number][] = [];
    const running: RunningPod[] = [];
    for (let left = dice.int(1, maxUnits); left > 0; left--) {
      if (dice.chance(0.6)) {
        running.push(this.#pod(running, undefined, this.#priority()));
        continue;
      }
      const size = dice.int(1, Math.min(4, maxRunning - running.length - left + 1));
      // With a surplus, without one, or below the quorum.
      const minMember = Math.max(1, size - dice.pick([-1, 0, 0, 1, 2]));
      const priority = this.#priority();
      const isMixed = dice.chance(this.#family.mixesPriorities === true ? 0.7 : 0.1);
      for (let i = 0; i < size; i++) {
        running.push(this.#pod(running, groups.length, isMixed ? this.#priority() : priority));
      }
      groups.push({ minMember });
    }
    return { groups, running };
  }

  #priority(): number {
    return this.#dice.pick(this.#dice.chance(0.15) ? highPriorities : lowPriorities);
  }

  #pod(others: readonly RunningPod[], group: number | undefined, priority: number): RunningPod {
    const { antiAffinity = 0, terminating = 0 } = this.#family;
    const dice = this.#dice;
    const node = dice.int(0, this.#nodes - 1);
    const shuns = dice.chance(antiAffinity / 2) ? [dice.pick(['member-0', 'member-1'])] : [];
    const shape = this.#shape(dice.pick(['running-0', 'running-1', 'running-2']), shuns);
    const isTaken = others.some((other) => other.node === node && other.hostPort === shape.hostPort);
    return {
      ...shape,
      hostPort: isTaken ? undefined : shape.hostPort,
      ...{ node, priority, group },
      isLeaving: dice.chance(terminating),
      startedAt: 32 * dice.int(0, 5) + others.length,
      budget: this.#budgets.length > 0 && dice.chance(0.6) ? dice.int(0, this.#budgets.length - 1) : undefined,
    };
  }

  /** Returns a member of the preemptor's group that is on a node. It uses no host port, which another pod might use. */
  #own({ amounts, color, priority }: MemberKind, isLeaving: boolean): RunningPod {
    const dice = this.#dice;
    const node = dice.int(0, this.#nodes - 1);
    const nothing = { hostPort: undefined, shuns: [], budget: undefined };
    return { ...nothing, amounts, color, priority, node, group: 'own', isLeaving, startedAt: dice.int(0, 5) };
  }

  #node(pods: readonly RunningPod[]): InstanceNode {
    const { hostPorts = 0, antiAffinity = 0, taints = 0 } = this.#family;
    const dice = this.#dice;
    // Then something else than capacity may be in the way.
    const isRoomy = dice.chance(hostPorts + antiAffinity);
    const free = resourceIndexes.map((i) =>
      i < this.#resources ? unit[i] * dice.pick(isRoomy ? [2, 4, 8] : [0, 0, 1, 2]) : 0,
    );
    const [cpu, memory, gpus] = resourceIndexes.map((i) =>
      pods.reduce((sum, { amounts }) => sum + amounts[i], free[i]!),
    );
    return { allocatable: [cpu!, memory!, gpus!], isTainted: dice.chance(taints) };
  }

  #shape(color: string, shuns: readonly string[]): PodShape {
    const dice = this.#dice;
    const hostPort = dice.chance(this.#family.hostPorts ?? 0) ? dice.pick([8080, 8080, 9090]) : undefined;
    return { amounts: this.#amounts(), hostPort, color, shuns };
  }

  #amounts(): ResourceAmounts {
    const dice = this.#dice;
    const [cpu, memory, gpus] = [dice.pick([1, 1, 2, 3, 4]), dice.pick([1, 1, 2, 3, 4]), dice.pick([0, 0, 1, 2])];
    const isUsed = (resource: number): number => Number(resource < this.#resources);
    return [cpu * unit[0], memory * unit[1] * isUsed(1), gpus * unit[2] * isUsed(2)];
  }
}
