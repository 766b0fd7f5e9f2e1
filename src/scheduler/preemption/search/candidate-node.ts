import type { Pod } from '../../../api/pod.ts';
import { amountOf } from '../../../api/resource-list.ts';
import type { ResourceId } from '../../../api/resource-names.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';

/** A node in an estimate. */
export class CandidateNode {
  readonly node: NodeInfo;
  /** By resource: what members could use without further victims. */
  readonly free: number[];
  readonly #ids: readonly ResourceId[];
  #version = 0;
  /** What was free before the first change. */
  #freeBefore: readonly number[] | undefined;

  constructor(node: NodeInfo, ids: readonly ResourceId[]) {
    this.node = node;
    this.#ids = ids;
    this.free = ids.map((id) => node.free(id));
  }

  /** Increased by every change of what is free. */
  get version(): number {
    return this.#version;
  }

  /** Adds the pod's requests to what is free, or subtracts them. */
  change(pod: Pod, sign: 1 | -1): void {
    this.#freeBefore ??= [...this.free];
    this.add(this.free, pod, sign);
    this.#version++;
  }

  /** Takes all changes back. */
  reset(): void {
    for (const [i, amount] of this.#freeBefore?.entries() ?? []) this.free[i] = amount;
    this.#freeBefore = undefined;
    this.#version = 0;
  }

  /** Adds the pod's requests to these amounts, or subtracts them. */
  add(amounts: number[], { template }: Pod, sign: 1 | -1): void {
    const { requests } = template;
    for (let i = 0; i < this.#ids.length; i++) amounts[i]! += sign * amountOf(requests, this.#ids[i]!);
  }
}

/** Returns the sum of what `count` returns for these nodes. */
export function sumOver(nodes: Iterable<CandidateNode>, count: (node: CandidateNode) => number): number {
  let total = 0;
  for (const node of nodes) total += count(node);
  return total;
}
