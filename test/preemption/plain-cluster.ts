import { resourceIndexes } from './instance.ts';
import type { Instance, PodShape } from './instance.ts';

/** member of the preemptor -> node */
export type MemberNodes = ReadonlyMap<number, number>;

/**
 * The nodes of an instance without some of the running pods. Plain and slow: it knows neither the planner nor the search. Terminating pods do
 * not count. Evicting more pods never makes a member unschedulable here.
 */
export class PlainCluster {
  readonly #instance: Instance;
  /** node -> pods on it */
  readonly #pods: PodShape[][];

  constructor(instance: Instance, isVictim: (pod: number) => boolean) {
    this.#instance = instance;
    this.#pods = instance.nodes.map((_, node) =>
      instance.running.filter((pod, i) => pod.node === node && !pod.isLeaving && !isVictim(i)),
    );
  }

  /** Returns whether as many members as needed fit on some nodes. Tries everything. */
  fits(): boolean {
    const { members, needed } = this.#instance;
    // Members of one kind together: they can take the nodes in order.
    const sorted = members.toSorted((a, b) => a - b);
    return this.#fitsFrom(sorted, 0, 0, needed);
  }

  /** Returns whether these members fit on these nodes. */
  takes(plan: MemberNodes): boolean {
    const placed = [...plan].map(([member, node]) => ({ kind: this.#instance.members[member]!, node }));
    const count = placed.findIndex(({ kind, node }) => !this.#place(kind, node));
    for (const { node } of placed.slice(0, count === -1 ? placed.length : count)) this.#pods[node]!.pop();
    return count === -1;
  }

  /** `from`: the first node to try for `kinds[next]`. */
  #fitsFrom(kinds: readonly number[], next: number, from: number, needed: number): boolean {
    if (needed <= 0) return true;
    if (kinds.length - next < needed) return false;
    const kind = kinds[next]!;
    for (let node = from; node < this.#pods.length; node++) {
      if (!this.#place(kind, node)) continue;
      const isEnough = this.#fitsFrom(kinds, next + 1, kinds[next + 1] === kind ? node : 0, needed - 1);
      this.#pods[node]!.pop();
      if (isEnough) return true;
    }
    // Without a node for it, the others of its kind need none either.
    const other = kinds.findIndex((each, i) => i > next && each !== kind);
    return other !== -1 && this.#fitsFrom(kinds, other, 0, needed);
  }

  #place(kind: number, node: number): boolean {
    const { kinds, nodes, reservations } = this.#instance;
    const member = kinds[kind]!;
    const { allocatable, isTainted } = nodes[node]!;
    const here = this.#pods[node]!;
    if (isTainted && !member.toleratesTaint) return false;
    if (member.hostPort !== undefined && here.some(({ hostPort }) => hostPort === member.hostPort)) return false;
    if (here.some(({ color, shuns }) => member.shuns.includes(color) || shuns.includes(member.color))) return false;
    const reserved = reservations.filter((each) => each.node === node && each.priority >= member.priority);
    for (const i of resourceIndexes) {
      const used = [...here, ...reserved].reduce((sum, { amounts }) => sum + amounts[i], member.amounts[i]);
      // A reservation may exceed what the node has. That only matters to pods that request the resource.
      if (member.amounts[i] > 0 && used > allocatable[i]) return false;
    }
    here.push(member);
    return true;
  }
}
