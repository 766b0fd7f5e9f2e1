import { placeExactly } from './exact-placement.ts';
import type { Placement } from './exact-placement.ts';
import { hasEnded } from './plain-objects.ts';
import type { PlainNode, PlainPod, PlainTerm } from './plain-objects.ts';

/** Returns the form of a pod. All pods of one form fit on the same nodes. */
export function formOf(pod: PlainPod): string {
  return `${templateOf(pod)} ${pod.claim} ${pod.isManaged}`;
}

/** Returns the part of the form that decides whether a node that rejected one pod is closed to another. */
export function templateOf(pod: PlainPod): string {
  const { milliCpu, mebibytes, gpus, hostPorts, zone, toleratesReserved, terms } = pod;
  return `${milliCpu} ${mebibytes} ${gpus} ${hostPorts.join()} ${zone} ${toleratesReserved} ${termsText(terms)}`;
}

/** What decides besides nodes and pods where a pod fits. */
export interface PlainSurroundings {
  /** name of a claim -> zone of its volume; undefined: the volume will be created wherever the pod goes. Missing claims are absent. */
  readonly claims?: ReadonlyMap<string, string | undefined>;
  /** Names of the nodes that the extender refuses to the pods that it handles. */
  readonly refused?: readonly string[];
}

/** Whether pods fit together: `unknown` when the exact search gave up. */
export type Arrangement = 'fits' | 'none' | 'unknown';

const maxSteps = 20_000;

interface Occupied {
  readonly node: PlainNode;
  readonly pods: PlainPod[];
}

/** The capacity of nodes and the pods that use it. A second, independent implementation of "does it fit": plain and slow. */
export class PlainCapacity {
  /** node name -> the node and the pods on it */
  readonly #nodes = new Map<string, Occupied>();
  readonly #surroundings: PlainSurroundings;
  /** Pods that use capacity but are not bound yet. No pod may rely on them to be together with them. */
  readonly #nominated = new Set<PlainPod>();

  constructor(
    nodes: Iterable<PlainNode>,
    placed: Iterable<readonly [PlainPod, string]>,
    surroundings: PlainSurroundings = {},
  ) {
    for (const node of nodes) this.#nodes.set(node.name, { node, pods: [] });
    for (const [pod, name] of placed) {
      this.#nodes.get(name)?.pods.push(pod);
      if (pod.node === '') this.#nominated.add(pod);
    }
    this.#surroundings = surroundings;
  }

  /** Returns which resource of the node is over-committed; undefined: none, or the node does not exist. */
  excess(name: string): string | undefined {
    const known = this.#nodes.get(name);
    if (known === undefined) return undefined;
    const { node, pods } = known;
    const milliCpu = sum(pods, (pod) => pod.milliCpu);
    const mebibytes = sum(pods, (pod) => pod.mebibytes);
    if (milliCpu > node.milliCpu) return `${milliCpu} of ${node.milliCpu} millicores`;
    if (mebibytes > node.mebibytes) return `${mebibytes} of ${node.mebibytes} MiB`;
    const gpus = sum(pods, (pod) => pod.gpus);
    if (gpus > node.gpus) return `${gpus} of ${node.gpus} GPUs`;
    if (pods.length > node.pods) return `${pods.length} of ${node.pods} pods`;
    const ports = pods.flatMap(({ hostPorts }) => hostPorts);
    const twice = ports.find((port, i) => ports.indexOf(port) !== i);
    return twice === undefined ? undefined : `host port ${twice} twice`;
  }

  /** Reports whether the pod fits on the node now. */
  takes(pod: PlainPod, name: string): boolean {
    const known = this.#nodes.get(name);
    if (known === undefined || !this.#isOpenTo(pod, known)) return false;
    if (!pod.terms.every((term) => this.#meets(term, pod, known.node))) return false;
    known.pods.push(pod);
    const fits = this.excess(name) === undefined;
    known.pods.pop();
    return fits;
  }

  /** Returns whether any `needed` of the pods fit together in some arrangement. */
  arrangement(pods: readonly PlainPod[], needed: number): Arrangement {
    if (needed <= 0) return 'fits';
    const [first] = pods;
    if (first !== undefined && pods.length === 1 && needed === 1) {
      return [...this.#nodes.keys()].some((name) => this.takes(first, name)) ? 'fits' : 'none';
    }
    const kinds = [...Map.groupBy(pods, formOf).values()];
    const [{ terms, zone, group }] = pods as [PlainPod];
    // These depend on the order in which the pods are placed.
    const isOrdered = pods.some((pod) => {
      if (pod.terms.some((term) => term.group !== pod.group)) return true;
      const isOther = termsText(pod.terms) !== termsText(terms) || pod.group !== group;
      return isOther || (pod.zone !== zone && terms.some(({ kind }) => kind === 'spread'));
    });
    if (isOrdered) return 'unknown';
    const nodes = [...this.#nodes.values()];
    const ports = [...new Set(pods.flatMap(({ hostPorts }) => hostPorts))];
    const result = placeExactly({
      kinds: kinds.map((ofKind) => {
        const [pod] = ofKind as [PlainPod];
        const ofPorts = ports.map((port) => Number(pod.hostPorts.includes(port)));
        return {
          count: ofKind.length,
          amounts: [pod.milliCpu, pod.mebibytes, pod.gpus, 1, ...ofPorts],
          mayUse: nodes.map((known) => this.#isOpenTo(pod, known) && this.#mayMeet(pod, known.node)),
        };
      }),
      free: nodes.map(({ node, pods: there }) => [
        node.milliCpu - sum(there, (pod) => pod.milliCpu),
        node.mebibytes - sum(there, (pod) => pod.mebibytes),
        node.gpus - sum(there, (pod) => pod.gpus),
        node.pods - there.length,
        ...ports.map((port) => 1 - sum(there, ({ hostPorts }) => Number(hostPorts.includes(port)))),
      ]),
      needed,
      ...(terms.length > 0 && {
        accepts: (placement: Placement) => this.#meetsAll(pods[0]!, placement, nodes),
        classes: nodes.map(({ node }) => node.zone ?? node.name),
      }),
      maxSteps,
    });
    return result.kind === 'placed' ? 'fits' : result.kind;
  }

  /**
   * Reports whether the planner finds nodes for `needed` of the pods. It finds each arrangement of pods without terms. For others, reports
   * whether the order that docs/concepts.md promises is enough, whichever fitting node it takes for each: the forms that fit on the fewest
   * nodes come first, then the largest. If not all pods are needed, the planner also tries the opposite order. For pods that must be
   * together, it tries each zone. Undefined: too many cases.
   */
  isFound(pods: readonly PlainPod[], needed: number): boolean | undefined {
    if (new Set(pods.map(formOf)).size <= 1 || pods.every(({ terms }) => terms.length === 0)) {
      const arrangement = this.arrangement(pods, needed);
      return arrangement === 'unknown' ? undefined : arrangement === 'fits';
    }
    const budget = { left: 20_000 };
    const orders = this.#orders(pods, pods.length > needed);
    const domains = pods.some(({ terms }) => terms.some(({ kind }) => kind === 'together'))
      ? [undefined, ...new Set([...this.#nodes.values()].map(({ node }) => node.zone))]
      : [undefined];
    const isFound = orders.some((alike) =>
      alike.every((order) => domains.some((zone) => this.#takesAll(order, 0, needed, zone, budget))),
    );
    return budget.left <= 0 && !isFound ? undefined : isFound;
  }

  /** Places the pods from `from` on, in order, on any nodes that fit. A pod without one is left out. */
  #takesAll(
    pods: readonly PlainPod[],
    from: number,
    needed: number,
    zone: string | undefined,
    budget: { left: number },
  ): boolean {
    if (needed <= 0) return true;
    if (pods.length - from < needed || budget.left-- <= 0) return false;
    const pod = pods[from]!;
    let isPlaced = false;
    for (const [name, { node, pods: there }] of this.#nodes) {
      if ((zone !== undefined && node.zone !== zone) || !this.takes(pod, name)) continue;
      isPlaced = true;
      there.push(pod);
      const succeeds = this.#takesAll(pods, from + 1, needed - 1, zone, budget);
      there.pop();
      if (!succeeds) return false;
    }
    return isPlaced || this.#takesAll(pods, from + 1, needed, zone, budget);
  }

  /** Returns the orders that the planner tries, each as all orders that may be meant: equally hard forms have no fixed order. */
  #orders(pods: readonly PlainPod[], isElastic: boolean): (readonly (readonly PlainPod[])[])[] {
    const forms = [...Map.groupBy(pods, formOf).values()].map((ofForm) => {
      const [pod] = ofForm as [PlainPod];
      const nodes = [...this.#nodes.keys()].filter((name) => this.takes(pod, name)).length;
      return { ofForm, rank: [nodes, -pod.milliCpu, -pod.mebibytes] as const };
    });
    const compare = (a: (typeof forms)[number], b: (typeof forms)[number]): number =>
      a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || a.rank[2] - b.rank[2];
    const ties = [...Map.groupBy(forms.sort(compare), ({ rank }) => rank.join()).values()];
    const hardestFirst = ties.reduce<PlainPod[][]>(
      (orders, tied) => {
        const alike = permutations(tied).map((permutation) => permutation.flatMap(({ ofForm }) => ofForm));
        return orders.flatMap((order) => alike.map((next) => [...order, ...next]));
      },
      [[]],
    );
    const easiestFirst = hardestFirst.map((order) => order.toReversed());
    return isElastic ? [hardestFirst, easiestFirst] : [hardestFirst];
  }

  /** Reports whether the node's state, the pod's volume, the extender and the terms of other pods let the pod be there. */
  #isOpenTo(pod: PlainPod, { node, pods }: Occupied): boolean {
    if (node.isClosed) return false;
    if (pod.zone !== undefined && pod.zone !== node.zone) return false;
    if (node.isReserved && !pod.toleratesReserved) return false;
    const { claims, refused } = this.#surroundings;
    if (pod.isManaged && refused?.includes(node.name) === true) return false;
    if (pod.claim !== undefined && claims !== undefined) {
      const zone = claims.get(pod.claim);
      if (!claims.has(pod.claim) || (zone !== undefined && zone !== node.zone)) return false;
    }
    if (pod.labeledAs.length === 0) return true;
    const isShunned = ({ terms, uid }: PlainPod, domain: PlainTerm['domain']): boolean =>
      uid !== pod.uid &&
      terms.some((term) => term.kind === 'apart' && term.domain === domain && pod.labeledAs.includes(term.group));
    if (pods.some((other) => isShunned(other, 'node'))) return false;
    return !this.#onNodes('zone', node).some((other) => isShunned(other, 'zone'));
  }

  /** Returns the pods in the same domain as the node. */
  #onNodes(domain: PlainTerm['domain'], of: PlainNode): PlainPod[] {
    return [...this.#nodes.values()].flatMap(({ node, pods }) => (isSame(domain, node, of) ? pods : []));
  }

  /** Reports whether a pod on the node meets its term now. */
  #meets({ kind, domain, group }: PlainTerm, pod: PlainPod, node: PlainNode): boolean {
    const here = this.#onNodes(domain, node).filter(
      (other) => other.labeledAs.includes(group) && other.uid !== pod.uid,
    );
    switch (kind) {
      case 'apart':
        return here.length === 0;
      case 'together': {
        if (here.some((other) => !this.#nominated.has(other))) return true;
        const isFirst = ![...this.#nodes.values()].some(({ pods }) =>
          pods.some((other) => other.labeledAs.includes(group)),
        );
        return isFirst && pod.labeledAs.includes(group);
      }
      case 'spread': {
        const own = pod.labeledAs.includes(group) ? 1 : 0;
        return counted(here) + own - this.#emptiest(pod, domain, group) <= 1;
      }
    }
  }

  /** Returns the number of the group's pods in the domain that has the fewest, among the domains that the pod's node selector allows. */
  #emptiest({ zone, uid }: PlainPod, domain: PlainTerm['domain'], group: string): number {
    const allowed = [...this.#nodes.values()].filter(({ node }) => zone === undefined || node.zone === zone);
    const counts = allowed.map(({ node }) =>
      counted(this.#onNodes(domain, node).filter((other) => other.labeledAs.includes(group) && other.uid !== uid)),
    );
    return Math.min(...counts);
  }

  /** Reports whether the pods that are already placed leave the pod a chance to meet its terms on the node. */
  #mayMeet({ terms }: PlainPod, node: PlainNode): boolean {
    return terms.every(({ kind, domain, group }) => {
      if (kind !== 'apart') return true;
      return !this.#onNodes(domain, node).some((other) => other.labeledAs.includes(group));
    });
  }

  /** Reports whether pods with the terms of `pod` can be placed like this, in some order. They all have the label that the terms name. */
  #meetsAll(pod: PlainPod, placement: Placement, nodes: readonly Occupied[]): boolean {
    const added = nodes.map((_, node) => placement.reduce((all, counts) => all + counts[node]!, 0));
    return pod.terms.every(({ kind, domain, group }) => {
      const inDomain = (of: PlainNode, count: (node: number) => number): number =>
        nodes.reduce((all, { node }, i) => all + (isSame(domain, node, of) ? count(i) : 0), 0);
      const used = nodes.filter((_, i) => added[i]! > 0).map(({ node }) => node);
      const there = (i: number): number =>
        nodes[i]!.pods.filter((other) => other.labeledAs.includes(group) && !this.#nominated.has(other)).length;
      switch (kind) {
        case 'apart':
          return used.every((node) => inDomain(node, (i) => added[i]!) <= 1);
        case 'together': {
          const isAnywhere = nodes.some((_, i) => there(i) > 0);
          if (isAnywhere) return used.every((node) => inDomain(node, there) > 0);
          return used.every((node) => isSame(domain, node, used[0]!));
        }
        case 'spread': {
          const after = (node: PlainNode): number =>
            inDomain(
              node,
              (i) => added[i]! + counted(nodes[i]!.pods.filter((other) => other.labeledAs.includes(group))),
            );
          const allowed = nodes
            .map(({ node }) => node)
            .filter(({ zone }) => pod.zone === undefined || zone === pod.zone);
          const fewest = Math.min(...allowed.map(after));
          return used.every((node) => after(node) - fewest <= 1);
        }
      }
    });
  }
}

function isSame(domain: PlainTerm['domain'], a: PlainNode, b: PlainNode): boolean {
  return domain === 'node' ? a.name === b.name : a.zone === b.zone;
}

/** Pods that are terminating do not count for a spread. */
function counted(pods: readonly PlainPod[]): number {
  return pods.filter((pod) => !pod.isLeaving && !hasEnded(pod)).length;
}

function termsText(terms: readonly PlainTerm[]): string {
  return terms.map(({ kind, domain, group }) => `${kind} ${domain} ${group}`).join();
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

function sum(pods: readonly PlainPod[], amount: (pod: PlainPod) => number): number {
  return pods.reduce((total, pod) => total + amount(pod), 0);
}
