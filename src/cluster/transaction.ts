import type { Pod } from '../api/pod.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import type { Gang, GangOrder, MemberState } from './gang.ts';
import type { NodeInfo, OwnContents } from './node-info.ts';

/** What a transaction may do to the picture; the cluster implements it. */
export interface TransactionTarget {
  assume(pod: Pod, node: NodeInfo): void;
  forget(pod: Pod): void;
  /** The node that holds the pod, bound or assumed; undefined when none does. */
  nodeOf(pod: Pod): NodeInfo | undefined;
  gangOf(pod: Pod): Gang | undefined;
  closed(): void;
}

interface Assumed {
  readonly kind: 'assumed';
  readonly pod: Pod;
  readonly node: NodeInfo;
  readonly generation: number;
  readonly memberState: MemberState | undefined;
}

/** Pods of one node that were taken off it together. */
interface TakenOut {
  readonly kind: 'takenOut';
  readonly node: NodeInfo;
  readonly generation: number;
  /** What it held before. */
  readonly contents: OwnContents;
  readonly pods: readonly Pod[];
  /** The members of gangs among them, with the state that each was in. */
  readonly members: readonly { readonly gang: Gang; readonly uid: string; readonly state: MemberState }[];
}

type Step = Assumed | TakenOut;

/** What it takes to do again what was undone for a while. */
interface Suspended {
  /** Of the whole picture. */
  readonly generation: number;
  /** By step: the node's generation after it. */
  readonly generations: readonly number[];
  /** By step: what the node held after it, where pods were taken out. */
  readonly contents: readonly (OwnContents | undefined)[];
  /** gang -> its order */
  readonly orders: ReadonlyMap<Gang, GangOrder>;
}

/** A place in the undo list to roll back to. */
export type Savepoint = number;

/**
 * The undo list of one scheduling cycle or trial. `rollback` restores the picture exactly, generations and orders included, so
 * that verdicts reused for a generation stay right; `commit` keeps everything. Both close it; closing twice is an error.
 */
export class Transaction {
  readonly #nodes: ClusterNodes;
  readonly #target: TransactionTarget;
  readonly #steps: Step[] = [];
  /** gang -> its order when it was first touched */
  readonly #orders = new Map<Gang, GangOrder>();
  /** Of the whole picture, when this was opened. */
  readonly #begunAt: number;
  #suspended: Suspended | undefined;
  #open = true;

  constructor(nodes: ClusterNodes, target: TransactionTarget) {
    this.#nodes = nodes;
    this.#target = target;
    this.#begunAt = nodes.generation;
  }

  /** Throws, and changes nothing, when the pod is assumed already. */
  assume(pod: Pod, node: NodeInfo): void {
    this.#mustBeOpen();
    const { generation } = node;
    const gang = this.#target.gangOf(pod);
    if (gang !== undefined && !this.#orders.has(gang)) this.#orders.set(gang, gang.order);
    const memberState = gang?.stateOf(pod.uid);
    this.#target.assume(pod, node);
    this.#steps.push({ kind: 'assumed', pod, node, generation, memberState });
  }

  /**
   * Takes pods, whole gangs too, off the nodes that hold them, as if they had been evicted and were on their way out: their
   * room is free, and their groups count them as leaving. One that is on no node (any more) is passed over.
   */
  takeOut(pods: Iterable<Pod>): void {
    this.#mustBeOpen();
    /** node -> uid -> pod to take off it */
    const byNode = new Map<NodeInfo, Map<string, Pod>>();
    for (const pod of pods) {
      const node = this.#target.nodeOf(pod);
      if (node === undefined) continue;
      const here = byNode.get(node);
      if (here === undefined) byNode.set(node, new Map([[pod.uid, pod]]));
      else here.set(pod.uid, pod);
    }
    for (const [node, here] of byNode) this.#takeOff(node, [...here.values()]);
  }

  /** Takes out every pod but these. Faster than naming all the others. */
  takeOutAllBut(kept: ReadonlyMap<string, Pod>): void {
    this.#mustBeOpen();
    for (const node of this.#nodes.all()) {
      if (node.pods.size === 0) continue;
      const here = [...node.pods.values()].filter((pod) => !kept.has(pod.uid));
      if (here.length > 0) this.#takeOff(node, here);
    }
  }

  savepoint(): Savepoint {
    this.#mustBeOpen();
    return this.#steps.length;
  }

  /** Undoes everything after the savepoint; the transaction stays open. */
  rollbackTo(savepoint: Savepoint): void {
    this.#mustBeOpen();
    while (this.#steps.length > savepoint) this.#undo(this.#steps.pop()!);
    // What was touched before the savepoint has the order of then only if nothing was done since; order is exact at the end.
    if (savepoint === 0) this.#restoreOrders();
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

  /** What it has done is not to be seen for now. */
  get isSuspended(): boolean {
    return this.#suspended !== undefined;
  }

  /**
   * Puts the picture back as it was before, generations and orders included, until `resume`. Meanwhile it may be read, and nothing
   * may change it. Costs what a rollback does.
   */
  suspend(): void {
    this.#mustBeOpen();
    const { generation } = this.#nodes;
    const generations: number[] = [];
    const contents: (OwnContents | undefined)[] = [];
    const orders = new Map([...this.#orders.keys()].map((gang) => [gang, gang.order]));
    for (let i = this.#steps.length - 1; i >= 0; i--) {
      const step = this.#steps[i]!;
      generations[i] = step.node.generation;
      if (step.kind === 'takenOut') contents[i] = step.node.contents;
      this.#undo(step);
    }
    for (const [gang, order] of this.#orders) gang.restoreOrder(order);
    this.#nodes.restoreGeneration(this.#begunAt);
    this.#suspended = { generation, generations, contents, orders };
  }

  /** Does all of it again, exactly. Only after `suspend`. */
  resume(): void {
    const { generation, generations, contents, orders } = this.#suspended!;
    this.#suspended = undefined;
    this.#steps.forEach((step, i) => {
      if (step.kind === 'assumed') {
        this.#target.assume(step.pod, step.node);
        this.#nodes.setGeneration(step.node, generations[i]!);
      } else {
        step.node.restore(contents[i]!, { left: step.pods });
        for (const { gang, uid } of step.members) gang.putInState(uid, 'leaving');
        this.#restore(step.node, generations[i]!);
      }
    });
    for (const [gang, order] of orders) gang.restoreOrder(order);
    this.#nodes.restoreGeneration(generation);
  }

  #takeOff(node: NodeInfo, named: readonly Pod[]): void {
    const { generation } = node;
    const { pods, before } = node.takeOff(named);
    this.#nodes.touch(node);
    this.#steps.push({ kind: 'takenOut', node, generation, contents: before, pods, members: this.#seeOff(pods) });
  }

  /** Members of gangs leave; answers how to take that back. */
  #seeOff(pods: readonly Pod[]): TakenOut['members'] {
    const members: { gang: Gang; uid: string; state: MemberState }[] = [];
    for (const pod of pods) {
      const gang = this.#target.gangOf(pod);
      const state = gang?.stateOf(pod.uid);
      if (gang === undefined || state === undefined) continue;
      members.push({ gang, uid: pod.uid, state });
      gang.putInState(pod.uid, 'leaving');
    }
    return members;
  }

  #undo(step: Step): void {
    switch (step.kind) {
      case 'assumed': {
        this.#target.forget(step.pod);
        if (step.memberState === 'leaving') this.#target.gangOf(step.pod)?.putInState(step.pod.uid, 'leaving');
        this.#nodes.setGeneration(step.node, step.generation);
        break;
      }
      case 'takenOut':
        step.node.restore(step.contents, { came: step.pods });
        for (const { gang, uid, state } of step.members) gang.putInState(uid, state);
        this.#restore(step.node, step.generation);
        break;
    }
  }

  /** The node is again what it was in this generation. */
  #restore(node: NodeInfo, generation: number): void {
    this.#nodes.touch(node);
    this.#nodes.setGeneration(node, generation);
  }

  #restoreOrders(): void {
    for (const [gang, order] of this.#orders) gang.restoreOrder(order);
    this.#orders.clear();
  }

  #close(): void {
    this.#open = false;
    this.#target.closed();
  }

  #mustBeOpen(): void {
    if (!this.#open) throw new Error('the transaction is closed');
    if (this.isSuspended) throw new Error('the transaction is suspended');
  }
}
