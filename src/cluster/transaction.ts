import type { Pod } from '../api/pod.ts';
import type { NodeInfo } from './node-info.ts';

/** What a transaction may do to the picture; the cluster implements it. */
export interface TransactionTarget {
  assume(pod: Pod, node: NodeInfo): void;
  forget(pod: Pod): void;
  takeOut(pod: Pod): void;
  putBack(pod: Pod, node: NodeInfo): void;
  closed(): void;
}

interface Step {
  readonly kind: 'assumed' | 'takenOut';
  readonly pod: Pod;
  readonly node: NodeInfo;
  readonly generationBefore: number;
  /** For a pod taken out: the pods of its node in order, so that putting it back restores the order too. */
  readonly podsBefore?: readonly Pod[];
}

/** A place in the undo list to roll back to. */
export type Savepoint = number;

/**
 * The undo list of one scheduling cycle. `rollback` restores the picture exactly, generations included, so that verdicts
 * reused for a generation stay right; `commit` keeps everything. Both close it; closing twice is an error.
 */
export class Transaction {
  readonly #target: TransactionTarget;
  readonly #steps: Step[] = [];
  #open = true;

  constructor(target: TransactionTarget) {
    this.#target = target;
  }

  /** Throws, and changes nothing, when the pod is assumed already. */
  assume(pod: Pod, node: NodeInfo): void {
    this.#mustBeOpen();
    const generationBefore = node.generation;
    this.#target.assume(pod, node);
    this.#steps.push({ kind: 'assumed', pod, node, generationBefore });
  }

  /** Takes a pod out of the node it is on, as if it had been evicted. Does nothing when it is not there (any more). */
  takeOut(pod: Pod, node: NodeInfo): void {
    this.#mustBeOpen();
    if (!node.pods.has(pod.uid)) return;
    const podsBefore = [...node.pods.values()];
    this.#steps.push({ kind: 'takenOut', pod, node, generationBefore: node.generation, podsBefore });
    this.#target.takeOut(pod);
  }

  savepoint(): Savepoint {
    this.#mustBeOpen();
    return this.#steps.length;
  }

  /** Undoes everything after the savepoint; the transaction stays open. */
  rollbackTo(savepoint: Savepoint): void {
    this.#mustBeOpen();
    while (this.#steps.length > savepoint) this.#undo(this.#steps.pop()!);
  }

  rollback(): void {
    this.rollbackTo(0);
    this.#close();
  }

  commit(): void {
    this.#mustBeOpen();
    this.#close();
  }

  /** Rolls back if it is still open: for the way out after an error. */
  abandon(): void {
    if (this.#open) this.rollback();
  }

  #undo(step: Step): void {
    if (step.kind === 'assumed') this.#target.forget(step.pod);
    else this.#target.putBack(step.pod, step.node);
    if (step.podsBefore !== undefined) {
      step.node.pods.clear();
      for (const pod of step.podsBefore) step.node.pods.set(pod.uid, pod);
    }
    step.node.generation = step.generationBefore;
  }

  #close(): void {
    this.#open = false;
    this.#target.closed();
  }

  #mustBeOpen(): void {
    if (!this.#open) throw new Error('the transaction is closed');
  }
}
