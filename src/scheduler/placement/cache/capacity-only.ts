import type { RejectionCode } from '../../../api/rejection-code.ts';
import type { Status } from '../../../framework/status.ts';

const codes: ReadonlySet<RejectionCode> = new Set(['InsufficientResource', 'TakenBySiblings', 'ReservedForOther']);
const isFull = 1;
const isTooSmall = 2;

/**
 * The nodes that reject a pod for no other reason than that too little is free: those that are full, or, if there are none, those that are
 * too small even without other pods.
 */
export class CapacityOnly {
  /** node index -> `isFull`, `isTooSmall` or 0 */
  readonly #kinds: Uint8Array;
  #wanted = isTooSmall;
  #latest: Status | undefined;
  #latestKind = 0;

  constructor(nodeCount: number) {
    this.#kinds = new Uint8Array(nodeCount);
  }

  /** Records why the node rejects the pod. */
  add(index: number, status: Status): void {
    // Most nodes share one of a few constant statuses.
    if (status !== this.#latest) {
      this.#latest = status;
      this.#latestKind = kindOf(status);
    }
    this.#kinds[index] = this.#latestKind;
    if (this.#latestKind === isFull) this.#wanted = isFull;
  }

  has(index: number): boolean {
    return this.#kinds[index] === this.#wanted;
  }
}

function kindOf({ code, details }: Status): number {
  if (!details.every((reason) => codes.has(reason.code))) return 0;
  return code === 'UnschedulableAndUnresolvable' ? isTooSmall : isFull;
}
