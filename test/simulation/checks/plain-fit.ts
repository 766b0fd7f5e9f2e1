import type { PlainNode, PlainPod } from './plain-objects.ts';

/** Returns the form of a pod. All pods of one form fit on the same nodes. */
export function formOf({ milliCpu, mebibytes, hostPorts, zone }: PlainPod): string {
  return `${milliCpu} ${mebibytes} ${hostPorts.join()} ${zone}`;
}

/** The capacity of nodes and the pods that use it. A second, independent implementation of "does it fit": plain and slow. */
export class PlainCapacity {
  /** node name -> the node and the pods on it */
  readonly #nodes = new Map<string, { readonly node: PlainNode; readonly pods: PlainPod[] }>();

  constructor(nodes: Iterable<PlainNode>, placed: Iterable<readonly [PlainPod, string]>) {
    for (const node of nodes) this.#nodes.set(node.name, { node, pods: [] });
    for (const [pod, name] of placed) this.#nodes.get(name)?.pods.push(pod);
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
    if (pods.length > node.pods) return `${pods.length} of ${node.pods} pods`;
    const ports = pods.flatMap(({ hostPorts }) => hostPorts);
    const twice = ports.find((port, i) => ports.indexOf(port) !== i);
    return twice === undefined ? undefined : `host port ${twice} twice`;
  }

  /** Reports whether the pod fits on the node now. */
  takes(pod: PlainPod, name: string): boolean {
    const known = this.#nodes.get(name);
    if (known === undefined || known.node.isClosed) return false;
    const isElsewhere = pod.zone !== known.node.zone;
    if (isElsewhere && (pod.zone !== undefined || known.node.isReserved)) return false;
    known.pods.push(pod);
    const fits = this.excess(name) === undefined;
    known.pods.pop();
    return fits;
  }

  /** Reports whether any `needed` of the pods fit together. Tries all arrangements up to a limit, then returns false. */
  takesTogether(pods: readonly PlainPod[], needed: number): boolean {
    const largestFirst = [...pods].sort((a, b) => b.milliCpu - a.milliCpu || b.mebibytes - a.mebibytes);
    const budget = { left: 20_000 };
    return this.#place(largestFirst, 0, needed, budget);
  }

  /**
   * Reports whether `needed` of the pods fit in whatever order and on whatever nodes they are placed: no choice is wrong, so a scheduler
   * that places them one by one cannot fail. For identical pods all arrangements are equal. Returns false beyond the work limit.
   */
  takesAnyhow(pods: readonly PlainPod[], needed: number): boolean {
    if (new Set(pods.map(formOf)).size <= 1) return this.takesTogether(pods, needed);
    return this.#placeAnyhow(pods, needed, { left: 20_000 });
  }

  #placeAnyhow(pods: readonly PlainPod[], needed: number, budget: { left: number }): boolean {
    if (needed <= 0) return true;
    if (budget.left-- <= 0) return false;
    let isPlaced = false;
    const oneOfEach = new Map(pods.map((pod) => [formOf(pod), pod])).values();
    for (const pod of oneOfEach) {
      const others = pods.filter((other) => other !== pod);
      for (const [name, { pods: there }] of this.#nodes) {
        if (!this.takes(pod, name)) continue;
        isPlaced = true;
        there.push(pod);
        const succeeds = this.#placeAnyhow(others, needed - 1, budget);
        there.pop();
        if (!succeeds) return false;
      }
    }
    return isPlaced;
  }

  #place(pods: readonly PlainPod[], from: number, needed: number, budget: { left: number }): boolean {
    if (needed <= 0) return true;
    if (pods.length - from < needed || budget.left-- <= 0) return false;
    const pod = pods[from]!;
    for (const [name, { pods: there }] of this.#nodes) {
      if (!this.takes(pod, name)) continue;
      there.push(pod);
      const placed = this.#place(pods, from + 1, needed - 1, budget);
      there.pop();
      if (placed) return true;
    }
    return this.#place(pods, from + 1, needed, budget);
  }
}

function sum(pods: readonly PlainPod[], amount: (pod: PlainPod) => number): number {
  return pods.reduce((total, pod) => total + amount(pod), 0);
}
