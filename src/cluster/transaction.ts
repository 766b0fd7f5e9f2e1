import type { Pod } from '../api/pod.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import type { Gang, GangOrder } from './gang.ts';
import type { MemberState } from './gang-view.ts';
import type { NodeInfo, OwnContents } from './node-info.ts';

/** The changes that a transaction may make to the cluster cache, which implements them. */
export interface TransactionTarget {
  assume(pod: Pod, node: NodeInfo): void;
  forget(pod: Pod): void;
  /** Returns the node to which the pod is bound or on which it is assumed; undefined if there is none. */
  nodeOf(pod: Pod): NodeInfo | undefined;
  gangOf(pod: Pod): Gang | undefined;
  /** `isCommitted`: pods are assumed now that were not before. */
  closed(isCommitted: boolean): void;
}

interface Assumed {
  readonly kind: 'assumed';
  readonly pod: Pod;
  readonly node: NodeInfo;
  readonly generation: number;
  readonly memberState: MemberState | undefined;
}

/** Pods that were taken out of one node together. */
interface TakenOut {
  readonly kind: 'takenOut';
  readonly node: NodeInfo;
  readonly generation: number;
  /** The node's contents before. */
  readonly contents: OwnContents;
  readonly pods: readonly Pod[];
  /** The gang members among them, with their previous states. */
  readonly members: readonly { readonly gang: Gang; readonly uid: string; readonly state: MemberState }[];
}

/** Pods that were put back on the node from which they had been taken out. */
interface PutBack extends Omit<TakenOut, 'kind' | 'contents'> {
  readonly kind: 'putBack';
}

type Step = Assumed | TakenOut | PutBack;

/** Data for redoing the steps of a suspended transaction. */
interface Suspended {
  /** Generation of the whole cluster. */
  readonly generation: number;
  /** The latest generation. */
  readonly latest: number;
  /** By step: generation of the node after it; NaN if the step is still in effect. */
  readonly generations: Float64Array;
  /** step -> contents of the node after it, if it took pods out */
  readonly contents: Map<number, OwnContents>;
  /** gang -> its order; undefined while only steps on some nodes are undone */
  orders: ReadonlyMap<Gang, GangOrder> | undefined;
}

/** Position in the undo list for a rollback. */
export type Savepoint = number;

/**
 * The undo list of a scheduling cycle or dry run. `rollback` restores the cluster cache exactly, including generations and orders, so that
 * results cached by generation stay valid. `commit` keeps all changes. Both close the transaction; closing twice is an error.
 */
export class Transaction {
  readonly #nodes: ClusterNodes;
  readonly #target: TransactionTarget;
  readonly #steps: Step[] = [];
  /** gang -> its order before the first change */
  readonly #orders = new Map<Gang, GangOrder>();
  readonly #begunAt: number;
  #suspended: Suspended | undefined;
  /** node -> its steps, for the first `#indexed` steps */
  readonly #byNode = new Map<NodeInfo, number[]>();
  #indexed = 0;
  #hasTakenOut = false;
  /** uid -> the latest step that took the pod out */
  readonly #out = new Map<string, TakenOut>();
  #open = true;

  constructor(nodes: ClusterNodes, target: TransactionTarget) {
    this.#nodes = nodes;
    this.#target = target;
    this.#begunAt = nodes.generation;
  }

  /** Assumes the pod on the node. Throws, without effect, if the pod is already assumed. */
  assume(pod: Pod, node: NodeInfo): void {
    this.#assertOpen();
    const { generation } = node;
    const gang = this.#target.gangOf(pod);
    if (gang !== undefined && !this.#orders.has(gang)) this.#orders.set(gang, gang.order);
    const memberState = gang?.stateOf(pod.uid);
    this.#target.assume(pod, node);
    this.#steps.push({ kind: 'assumed', pod, node, generation, memberState });
  }

  /**
   * Removes pods, possibly whole gangs, from their nodes as if they had been evicted and were terminating: their capacity is free, and their
   * groups count them as leaving. Ignores a pod that is on no node.
   */
  takeOut(pods: Iterable<Pod>): void {
    this.#assertOpen();
    /** node -> uid -> pod to remove */
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

  /** Puts pods back that were taken out; their groups count them as before. Ignores a pod that is not out. */
  putBack(pods: Iterable<Pod>): void {
    this.#assertOpen();
    /** step that took pods out -> those of the pods that it took out */
    const byStep = new Map<TakenOut, Pod[]>();
    for (const { uid } of pods) {
      const step = this.#out.get(uid);
      if (step === undefined || step.node.pods.has(uid)) continue;
      // As the node had it, whatever version the caller has.
      const pod = step.contents.pods.get(uid)!;
      const known = byStep.get(step);
      if (known === undefined) byStep.set(step, [pod]);
      else known.push(pod);
    }
    for (const [{ node, members }, here] of byStep) {
      const uids = new Set(here.map(({ uid }) => uid));
      const back = members.filter(({ uid }) => uids.has(uid));
      this.#putOn({ kind: 'putBack', node, generation: node.generation, pods: here, members: back });
    }
  }

  #putOn(step: PutBack): void {
    const { node, pods, members } = step;
    this.#steps.push(step);
    for (const pod of pods) node.addPod(pod);
    for (const { gang, uid, state } of members) gang.putInState(uid, state);
    this.#nodes.touch(node);
  }

  savepoint(): Savepoint {
    this.#assertOpen();
    return this.#steps.length;
  }

  /** Undoes everything after the savepoint. The transaction stays open. */
  rollbackTo(savepoint: Savepoint): void {
    this.#assertOpen();
    while (this.#steps.length > savepoint) this.#undo(this.#steps.pop()!);
    if (this.#indexed > savepoint) {
      this.#byNode.clear();
      this.#indexed = 0;
    }
    // Orders are exact only after a rollback of all steps, or if nothing happened after the savepoint.
    if (savepoint === 0) this.#restoreOrders();
  }

  rollback(): void {
    this.rollbackTo(0);
    this.#close(false);
  }

  commit(): void {
    this.#assertOpen();
    this.#close(this.#steps.length > 0);
  }

  /** Rolls back if the transaction is still open, for cleanup after an error. */
  abandon(): void {
    if (this.#open) this.rollback();
  }

  /** Generation of the whole cluster before the transaction. */
  get begunAt(): number {
    return this.#begunAt;
  }

  /** True while changes are hidden. */
  get isSuspended(): boolean {
    return this.#suspended !== undefined;
  }

  /**
   * Restores the state from before the transaction, including generations and orders, until `resume`. Meanwhile the cluster cache may be read
   * but not changed. Costs as much as a rollback.
   */
  suspend(): void {
    const suspended = this.#beginSuspension();
    suspended.orders = new Map([...this.#orders.keys()].map((gang) => [gang, gang.order]));
    for (let i = this.#steps.length - 1; i >= 0; i--) this.#suspendStep(i, suspended);
    for (const [gang, order] of this.#orders) gang.restoreOrder(order);
    this.#nodes.restoreGeneration(this.#begunAt);
  }

  /**
   * Like `suspend`, but only for readers of this node, which costs as much as the steps on it. Returns whether everything is suspended: pods
   * that were taken out are restored together.
   */
  suspendOn(node: NodeInfo): boolean {
    if (this.#hasTakenOut) {
      this.suspend();
      return true;
    }
    const steps = this.#stepsOn(node);
    if (steps.length === 0) return false;
    const suspended = this.#beginSuspension();
    for (let i = steps.length - 1; i >= 0; i--) this.#suspendStep(steps[i]!, suspended);
    return false;
  }

  /** Returns whether readers of the gang see changes of this transaction. */
  changes(gang: Gang): boolean {
    return this.#hasTakenOut || this.#orders.has(gang);
  }

  /** Redoes all changes exactly. Only allowed after `suspend` or `suspendOn`. */
  resume(): void {
    const suspended = this.#suspended!;
    const { generation, latest, generations, orders } = suspended;
    this.#suspended = undefined;
    for (const [i, step] of this.#steps.entries()) if (!Number.isNaN(generations[i])) this.#redo(i, step, suspended);
    if (orders !== undefined) for (const [gang, order] of orders) gang.restoreOrder(order);
    this.#nodes.restoreGeneration(generation);
    this.#nodes.counter.latest = latest;
  }

  #beginSuspension(): Suspended {
    return (this.#suspended ??= {
      generation: this.#nodes.generation,
      latest: this.#nodes.counter.latest,
      generations: new Float64Array(this.#steps.length).fill(NaN),
      contents: new Map(),
      orders: undefined,
    });
  }

  #suspendStep(i: number, { generations, contents }: Suspended): void {
    if (!Number.isNaN(generations[i])) return;
    const step = this.#steps[i]!;
    generations[i] = step.node.generation;
    if (step.kind === 'takenOut') contents.set(i, step.node.contents);
    this.#undo(step);
  }

  #redo(i: number, step: Step, { generations, contents }: Suspended): void {
    if (step.kind === 'assumed') {
      this.#target.assume(step.pod, step.node);
      this.#nodes.setGeneration(step.node, generations[i]!);
      return;
    }
    if (step.kind === 'takenOut') {
      step.node.restore(contents.get(i)!, { left: step.pods });
      for (const { gang, uid } of step.members) gang.putInState(uid, 'leaving');
    } else {
      for (const pod of step.pods) step.node.addPod(pod);
      for (const { gang, uid, state } of step.members) gang.putInState(uid, state);
    }
    this.#restore(step.node, generations[i]!);
  }

  /** Returns the positions of the steps on the node. */
  #stepsOn(node: NodeInfo): readonly number[] {
    for (; this.#indexed < this.#steps.length; this.#indexed++) {
      const known = this.#byNode.get(this.#steps[this.#indexed]!.node);
      if (known === undefined) this.#byNode.set(this.#steps[this.#indexed]!.node, [this.#indexed]);
      else known.push(this.#indexed);
    }
    return this.#byNode.get(node) ?? [];
  }

  #takeOff(node: NodeInfo, requested: readonly Pod[]): void {
    const { generation } = node;
    const { pods, before } = node.takeOff(requested);
    this.#nodes.touch(node);
    this.#hasTakenOut = true;
    const members = this.#markLeaving(pods);
    const step: TakenOut = { kind: 'takenOut', node, generation, contents: before, pods, members };
    this.#steps.push(step);
    for (const { uid } of pods) this.#out.set(uid, step);
  }

  /** Marks gang members as leaving. Returns their previous states. */
  #markLeaving(pods: readonly Pod[]): TakenOut['members'] {
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
      case 'putBack':
        for (const pod of step.pods.toReversed()) step.node.removePod(pod);
        for (const { gang, uid } of step.members) gang.putInState(uid, 'leaving');
        this.#restore(step.node, step.generation);
        break;
    }
  }

  /** Resets the node's generation after the node is back in its state of this generation. */
  #restore(node: NodeInfo, generation: number): void {
    this.#nodes.touch(node);
    this.#nodes.setGeneration(node, generation);
  }

  #restoreOrders(): void {
    for (const [gang, order] of this.#orders) gang.restoreOrder(order);
    this.#orders.clear();
  }

  #close(isCommitted: boolean): void {
    this.#open = false;
    this.#target.closed(isCommitted);
  }

  #assertOpen(): void {
    if (!this.#open) throw new Error('the transaction is closed');
    if (this.isSuspended) throw new Error('the transaction is suspended');
  }
}
