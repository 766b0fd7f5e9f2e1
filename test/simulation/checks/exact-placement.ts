/** Members that are alike: each needs the same amounts and may use the same nodes. */
export interface MemberKind {
  readonly count: number;
  /** resource -> what one member needs; not negative */
  readonly amounts: readonly number[];
  /** node -> whether a member may be there */
  readonly mayUse: readonly boolean[];
}

/** kind -> node -> number of members */
export type Placement = readonly (readonly number[])[];

export interface PlacementProblem {
  readonly kinds: readonly MemberKind[];
  /** node -> resource -> free amount; negative if the node is over-committed */
  readonly free: readonly (readonly number[])[];
  /** How many of the members need a node. */
  readonly needed: number;
  /**
   * A further condition on a placement of all needed members, such as a spread over zones. Default: none. The search tries all
   * placements until it accepts one.
   */
  readonly accepts?: (placement: Placement) => boolean;
  /** node -> class. Nodes of one class are alike to `accepts`. Default: all are. */
  readonly classes?: readonly string[];
  /** Maximum number of search steps. */
  readonly maxSteps: number;
}

/** `none` is a proof. `unknown`: the steps were used up before a placement or a proof was found. */
export type PlacementResult =
  { readonly kind: 'placed'; readonly placement: Placement } | { readonly kind: 'none' } | { readonly kind: 'unknown' };

/**
 * Finds nodes for the members, or proves that there are none: branch and bound over how many members of each kind each node gets. Meant for
 * small problems, such as 12 members, 8 nodes and 3 resources. Deterministic.
 */
export function placeExactly(problem: PlacementProblem): PlacementResult {
  return new ExactSearch(problem).run();
}

class OutOfSteps extends Error {
  override readonly name = 'OutOfSteps';
}

class ExactSearch {
  readonly #problem: PlacementProblem;
  /** Kinds in the order of the search, with their places in the problem. The hardest come first. */
  readonly #kinds: readonly { readonly kind: MemberKind; readonly at: number }[];
  /** node -> resource -> what is left */
  readonly #left: number[][];
  readonly #placement: number[][];
  /** Members that need no node. */
  readonly #spare: number;
  /** States of the nodes before a kind from which nothing was found. */
  readonly #dead = new Set<string>();
  #steps = 0;

  constructor(problem: PlacementProblem) {
    const { kinds, free, needed } = problem;
    this.#problem = problem;
    this.#left = free.map((amounts) => [...amounts]);
    this.#placement = kinds.map(() => free.map(() => 0));
    this.#spare = kinds.reduce((sum, { count }) => sum + count, 0) - needed;
    const total = (resource: number): number => free.reduce((sum, node) => sum + Math.max(0, node[resource]!), 0);
    const hardness = ({ amounts }: MemberKind): number =>
      Math.max(0, ...amounts.map((amount, resource) => (amount === 0 ? 0 : amount / Math.max(1, total(resource)))));
    this.#kinds = kinds.map((kind, at) => ({ kind, at })).sort((a, b) => hardness(b.kind) - hardness(a.kind));
  }

  run(): PlacementResult {
    if (this.#problem.needed <= 0) return { kind: 'placed', placement: this.#placement };
    if (this.#spare < 0) return { kind: 'none' };
    try {
      return this.#place(0, this.#spare)
        ? { kind: 'placed', placement: this.#placement.map((nodes) => [...nodes]) }
        : { kind: 'none' };
    } catch (error) {
      if (error instanceof OutOfSteps) return { kind: 'unknown' };
      throw error;
    }
  }

  /** Places the kinds from `from` on. `spare`: how many of their members may stay without a node. */
  #place(from: number, spare: number): boolean {
    const next = this.#kinds[from];
    if (next === undefined) return this.#problem.accepts?.(this.#placement) ?? true;
    if (!this.#mayFit(from, spare)) return false;
    const before = this.#states();
    const state = `${from} ${spare} ${before.join(';')}`;
    if (this.#dead.has(state)) return false;
    if (this.#spread(from, 0, next.kind.count, spare, before)) return true;
    this.#dead.add(state);
    return false;
  }

  /** Places the members of one kind on the nodes from `node` on. `before`: what was left on each node before this kind. */
  #spread(from: number, node: number, members: number, spare: number, before: readonly string[]): boolean {
    if (++this.#steps > this.#problem.maxSteps) throw new OutOfSteps();
    const { kind, at } = this.#kinds[from]!;
    if (node === this.#left.length || members === 0) {
      return members <= spare && this.#place(from + 1, spare - members);
    }
    if (members - spare > this.#capacityFor(kind, node)) return false;
    const counts = this.#placement[at]!;
    // Nodes that are alike get members in descending number: all other orders are the same placement.
    const twin = this.#twinOf(node, before);
    const most = Math.min(members, this.#fitting(kind, node), twin === undefined ? Infinity : counts[twin]!);
    for (let count = most; count >= 0; count--) {
      this.#add(kind, node, count);
      counts[node] = count;
      if (this.#spread(from, node + 1, members - count, spare, before)) return true;
      counts[node] = 0;
      this.#add(kind, node, -count);
    }
    return false;
  }

  /** Returns how many members of the kind fit on the node. */
  #fitting({ amounts, mayUse, count }: MemberKind, node: number): number {
    if (mayUse[node] !== true) return 0;
    let most = count;
    const left = this.#left[node]!;
    for (let resource = 0; resource < amounts.length; resource++) {
      const amount = amounts[resource]!;
      // What a member does not need may be over-committed.
      if (amount > 0) most = Math.min(most, Math.max(0, Math.floor(left[resource]! / amount)));
    }
    return most;
  }

  #capacityFor(kind: MemberKind, from: number): number {
    let sum = 0;
    for (let node = from; node < this.#left.length; node++) sum += this.#fitting(kind, node);
    return sum;
  }

  /** Necessary conditions: each kind fits without the others, and the sums of what is left suffice. */
  #mayFit(from: number, spare: number): boolean {
    const rest = this.#kinds.slice(from).map(({ kind }) => kind);
    let missing = 0;
    for (const kind of rest) missing += Math.max(0, kind.count - this.#capacityFor(kind, 0));
    if (missing > spare) return false;
    const resources = this.#left[0]?.length ?? 0;
    for (let resource = 0; resource < resources; resource++) {
      const free = this.#left.reduce((sum, node) => sum + Math.max(0, node[resource]!), 0);
      // The members that ask for most of the resource are the ones that stay without a node.
      const amounts = rest.flatMap(({ count, amounts: of }) => Array.from({ length: count }, () => of[resource]!));
      const least = amounts.sort((a, b) => a - b).slice(0, Math.max(0, amounts.length - spare));
      if (least.reduce((sum, amount) => sum + amount, 0) > free) return false;
    }
    return true;
  }

  /** Returns the nearest earlier node that was like this one before the current kind; undefined: none. */
  #twinOf(node: number, before: readonly string[]): number | undefined {
    const { kinds } = this.#problem;
    for (let other = node - 1; other >= 0; other--) {
      if (before[other] === before[node] && kinds.every(({ mayUse }) => mayUse[other] === mayUse[node])) return other;
    }
    return undefined;
  }

  /** Returns for each node what is left; for `accepts` also its class and the members that it got. */
  #states(): string[] {
    const { accepts, classes } = this.#problem;
    return this.#left.map((amounts, node) => {
      if (accepts === undefined) return amounts.join();
      return `${amounts.join()} ${classes?.[node]} ${this.#placement.map((counts) => counts[node]).join()}`;
    });
  }

  #add({ amounts }: MemberKind, node: number, count: number): void {
    const left = this.#left[node]!;
    for (let resource = 0; resource < amounts.length; resource++) left[resource]! -= count * amounts[resource]!;
  }
}
