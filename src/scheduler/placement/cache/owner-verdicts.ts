import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Status } from '../../../framework/status.ts';

interface OwnerVerdict {
  readonly generation: number;
  readonly owners: readonly Pod[];
  /** Undefined: the node fits. */
  readonly status: Status | undefined;
}

/**
 * Verdicts of all node-local filters about nodes with reservations, as if the owners of these reservations ran there, for pods with one
 * signature. A verdict is valid while the node's generation and the owners stay the same.
 */
export class OwnerVerdicts {
  /** node index -> latest verdict */
  readonly #verdicts: (OwnerVerdict | undefined)[] = [];
  /** Number of verdicts. */
  #size = 0;

  /** Returns the verdict on the node; undefined if none is valid. */
  on({ index, generation }: NodeInfo, owners: readonly Pod[]): OwnerVerdict | undefined {
    const verdict = this.#verdicts[index];
    return verdict?.generation === generation && areSame(verdict.owners, owners) ? verdict : undefined;
  }

  set({ index, generation }: NodeInfo, owners: readonly Pod[], status: Status | undefined): void {
    while (this.#verdicts.length <= index) this.#verdicts.push(undefined);
    if (this.#verdicts[index] === undefined) this.#size++;
    this.#verdicts[index] = { generation, owners, status };
  }

  /** Drops everything if most verdicts are on nodes that are no longer reserved. */
  forgetOthers(reservedCount: number): void {
    if (this.#size > 2 * reservedCount + 16) this.clear();
  }

  clear(): void {
    this.#verdicts.length = 0;
    this.#size = 0;
  }
}

function areSame(some: readonly Pod[], others: readonly Pod[]): boolean {
  if (some === others) return true;
  if (some.length !== others.length) return false;
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false;
  return true;
}
