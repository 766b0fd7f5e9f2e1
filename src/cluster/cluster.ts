import type { Node } from '../api/node.ts';
import { isTerminal, isUnbound } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { ResourceNames } from '../api/resource-names.ts';
import { AmountColumns } from './amount-columns.ts';
import type { AmountColumnsView } from './amount-columns.ts';
import { assumptionOutcome } from './assumption.ts';
import type { Assumption, AssumptionOutcome } from './assumption.ts';
import { AssumedVolumes } from './assumed-volumes.ts';
import type { Reservation } from './reservation.ts';
import { ClaimsInUse } from './claims-in-use.ts';
import { ClusterGangs } from './cluster-gangs.ts';
import { ClusterNodes } from './cluster-nodes.ts';
import type { Gang, GangSpec } from './gang.ts';
import type { ImageStates } from './image-states.ts';
import { AffinityTermIndex } from './affinity-term-index.ts';
import { ListedObjects } from './listed-objects.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodChangeLog } from './node-info.ts';
import { NodeReservations } from './node-reservations.ts';
import { PlacedPods } from './placed-pods.ts';
import type { FreeCapacity } from './free-capacity.ts';
import type { Topology } from './topologies.ts';
import { Transaction } from './transaction.ts';
import type { TransactionTarget } from './transaction.ts';

/**
 * The scheduler's picture of the cluster. The watch handlers write what the API says; the scheduling cycle alone assumes
 * and forgets, within a transaction. Not for concurrent use: everything here is synchronous. Who looks while a cycle pauses sees
 * nothing of what it has done so far.
 */
export class Cluster {
  readonly resources: ResourceNames;
  /** What plugins read besides nodes, pods and groups. */
  readonly listed = new ListedObjects();
  /** What has been decided about volumes and claims, and is still to be written. */
  readonly assumedVolumes = new AssumedVolumes(this.listed);
  /** What pods say of other pods. */
  readonly affinityTerms = new AffinityTermIndex();
  readonly #placed: PlacedPods = new PlacedPods(() => this.#nodes.all());
  readonly #claimsInUse: ClaimsInUse = new ClaimsInUse(
    () => this.#nodes.all(),
    () => this.#pods.values(),
  );
  readonly #log: PodChangeLog = {
    came: (node, pods) => {
      this.#placed.came(node, pods);
      if (this.#transaction === undefined) this.#placed.settle();
      this.#claimsInUse.came(node, pods);
    },
    left: (node, pods) => {
      this.#placed.left(node, pods);
      if (this.#transaction === undefined) this.#placed.settle();
      this.#claimsInUse.left(node, pods);
    },
  };
  readonly #nodes = new ClusterNodes(this.#log);
  readonly #amounts = new AmountColumns(this);
  /** uid -> pod that is not terminal, or is a member of a group */
  readonly #pods = new Map<string, Pod>();
  /** uid -> assumption about an unbound pod */
  readonly #assumed = new Map<string, Assumption>();
  readonly #reservations = new NodeReservations(this.#nodes);
  readonly #gangs = new ClusterGangs(this.#nodes, this.#assumed);
  #transaction: Transaction | undefined;
  /** The open transaction has paused, and what it has done is still to be seen. */
  #isUnhidden = false;

  constructor(resources: ResourceNames) {
    this.resources = resources;
  }

  // Nodes

  /** What is free, in sum. */
  get capacity(): FreeCapacity {
    this.hidePlan();
    return this.#nodes.capacity;
  }

  /** Which images the nodes have. */
  get images(): ImageStates {
    return this.#nodes.images;
  }

  /** The pods on nodes by what tells them apart. */
  get placed(): PlacedPods {
    this.hidePlan();
    return this.#placed;
  }

  /** What nodes have and what is taken there, in columns. */
  get amounts(): AmountColumnsView {
    this.hidePlan();
    return this.#amounts;
  }

  /** Which claims pods on nodes use. It is kept from the first time on that somebody asks. */
  get claimsInUse(): ClaimsInUse {
    this.hidePlan();
    return this.#claimsInUse;
  }

  get nodes(): readonly NodeInfo[] {
    this.hidePlan();
    return this.#nodes.list;
  }

  /** The node, if the API has shown it. */
  node(name: string): NodeInfo | undefined {
    this.hidePlan();
    const info = this.#nodes.get(name);
    return info !== undefined && info.index >= 0 ? info : undefined;
  }

  /** node index -> `NodeInfo.generation`, for whoever goes through all of them. Another object when there are more nodes. */
  get generations(): Float64Array {
    this.hidePlan();
    return this.#nodes.generations;
  }

  /** Changes whenever anything about any node changes, also back to what it was. */
  get generation(): number {
    this.hidePlan();
    return this.#nodes.generation;
  }

  /** Changes when a node comes or goes, or changes in what scheduling reads of it; what runs on nodes does not count. */
  get nodesRevision(): number {
    return this.#nodes.revision;
  }

  /** Which nodes have the same value of the label. Good for as long as `nodesRevision` stands. */
  topology(key: string): Topology {
    return this.#nodes.topology(key);
  }

  /** Answers the keys of the groups of which members are stranded there now, or not any more. */
  setNode(node: Node): readonly string[] {
    const wasLost = this.#nodes.get(node.name)?.isLost === true;
    const info = this.#nodes.set(node);
    return wasLost || info.isLost ? this.#gangs.restrand(info) : [];
  }

  /** Answers as `setNode`. */
  removeNode(name: string): readonly string[] {
    const info = this.node(name);
    if (info === undefined) return [];
    this.#nodes.remove(info);
    return this.#gangs.restrand(info);
  }

  /** All nodes have been shown: those that only pods name are gone. */
  allNodesShown(): void {
    for (const info of this.#nodes.all()) {
      if (info.index >= 0 || info.pods.size === 0) continue;
      this.#nodes.markGone(info);
      this.#gangs.restrand(info);
    }
  }

  // Pods

  pod(uid: string): Pod | undefined {
    return this.#pods.get(uid);
  }

  /** All that are known; during a trial those that are taken out are not there. */
  pods(): Iterable<Pod> {
    this.hidePlan();
    const isAtRest = this.#transaction === undefined || this.#transaction.isSuspended;
    return isAtRest ? this.#pods.values() : this.#podsOfDryRun();
  }

  *#podsOfDryRun(): Iterable<Pod> {
    for (const pod of this.#pods.values()) {
      const isPlaced = this.#assumed.has(pod.uid) || (pod.nodeName !== '' && !isTerminal(pod));
      if (!isPlaced || this.nodeOf(pod) !== undefined) yield pod;
    }
  }

  get podCount(): number {
    return this.#pods.size;
  }

  get assumedCount(): number {
    this.hidePlan();
    return this.#assumed.size;
  }

  /** The node that holds the pod, bound or assumed, whether or not the API has shown that node; undefined when it has ended. */
  nodeOf(pod: Pod): NodeInfo | undefined {
    this.hidePlan();
    const info = this.#assumed.get(pod.uid)?.node ?? (pod.nodeName === '' ? undefined : this.#nodes.get(pod.nodeName));
    return info?.pods.has(pod.uid) === true ? info : undefined;
  }

  isAssumed(uid: string): boolean {
    this.hidePlan();
    return this.#assumed.has(uid);
  }

  /** The pod as it is now if it still waits for a node: known, neither bound nor assumed, not ended and not being deleted. */
  openPod(uid: string): Pod | undefined {
    this.hidePlan();
    const pod = this.#pods.get(uid);
    return pod !== undefined && isUnbound(pod) && !this.#assumed.has(uid) ? pod : undefined;
  }

  /**
   * Applies what the API says about a pod. Only another nodeName, a terminal phase or (by `removePod`) deletion
   * contradicts an assumption; an event that is merely older than our Binding does not.
   */
  setPod(pod: Pod): AssumptionOutcome {
    const known = this.#pods.get(pod.uid);
    const assumedOn = this.#assumed.get(pod.uid)?.node;
    const outcome = assumptionOutcome(pod, assumedOn);
    const occupies = outcome === 'confirmed' || outcome === 'kept' || pod.nodeName === known?.nodeName;
    const wasThere = known !== undefined && !isTerminal(known);
    const unmoved = wasThere && occupies && !isTerminal(pod) && known.template === pod.template;
    this.affinityTerms.changed(known, pod);
    this.#claimsInUse.changed(known, pod);
    if (known !== undefined && !unmoved) this.#takeOffNode(known);
    if (outcome === 'confirmed' || outcome === 'contradicted') this.#assumed.delete(pod.uid);
    if (isTerminal(pod) && pod.podGroupKey === undefined) this.#pods.delete(pod.uid);
    else this.#pods.set(pod.uid, pod);
    if (unmoved) this.nodeOf(pod)?.changePod(pod);
    else this.#putOnNode(pod);
    this.#followNomination(pod);
    if (known !== undefined && known.podGroupKey !== pod.podGroupKey) this.#gangs.leave(known);
    this.#gangs.join(pod);
    if (known !== undefined) this.#nodes.forgetIfUnused(assumedOn?.name ?? known.nodeName);
    return outcome;
  }

  removePod(uid: string): AssumptionOutcome {
    const known = this.#pods.get(uid);
    if (known === undefined) return 'none';
    const assumedOn = this.#assumed.get(uid)?.node;
    this.affinityTerms.changed(known, undefined);
    this.#claimsInUse.changed(known, undefined);
    this.#takeOffNode(known);
    this.#assumed.delete(uid);
    this.#pods.delete(uid);
    this.endReservation(uid);
    this.#gangs.leave(known);
    this.#nodes.forgetIfUnused(assumedOn?.name ?? known.nodeName);
    return assumedOn !== undefined ? 'contradicted' : 'none';
  }

  // Claims

  /** Keeps room for the claimant; replaces the claim it had. */
  reservation(reservation: Reservation): void {
    this.#reservations.set(reservation);
  }

  /** The claim of this owner, a pod's uid. */
  reservationOf(owner: string): Reservation | undefined {
    return this.#reservations.of(owner);
  }

  get hasReservations(): boolean {
    return this.#reservations.size > 0;
  }

  /** All of them, in no meaningful order. */
  reservations(): Iterable<Reservation> {
    return this.#reservations.all();
  }

  /** Gives the owner's room back; false when it had none. */
  endReservation(owner: string): boolean {
    const reservation = this.#reservations.release(owner);
    // What the API says holds again where our own claim stood in its place.
    const known = reservation?.isKept === true ? this.#pods.get(owner) : undefined;
    if (known !== undefined) this.#followNomination(known);
    return reservation !== undefined;
  }

  // Groups

  gang(key: string): Gang | undefined {
    this.hidePlan();
    return this.#gangs.get(key);
  }

  gangs(): Iterable<Gang> {
    this.hidePlan();
    return this.#gangs.all();
  }

  setGang(spec: GangSpec): void {
    this.#gangs.set(spec);
  }

  removeGang(key: string): void {
    this.#gangs.remove(key);
  }

  // Assumptions

  /**
   * Opens the transaction of one cycle; one at a time. Between its opening and its commit or rollback no change from the
   * API may be applied, not even while it is suspended.
   */
  begin(): Transaction {
    if (this.#transaction !== undefined) throw new Error('a transaction is already open');
    const target: TransactionTarget = {
      assume: (pod, node) => {
        if (this.#assumed.has(pod.uid)) throw new Error(`pod ${pod.key} is already assumed`);
        const { podGroupKey: groupKey } = pod;
        const groupUid = groupKey === undefined ? undefined : this.#gangs.get(groupKey)?.spec?.uid;
        this.#assumed.set(pod.uid, { node, groupKey, groupUid });
        this.#putOnNode(pod);
        this.#gangs.join(pod);
      },
      forget: (pod) => this.forget(pod),
      nodeOf: (pod) => this.nodeOf(pod),
      gangOf: (pod) => (pod.podGroupKey === undefined ? undefined : this.#gangs.get(pod.podGroupKey)),
      closed: () => {
        this.#transaction = undefined;
        this.#placed.settle();
      },
    };
    this.#transaction = new Transaction(this.#nodes, target);
    return this.#transaction;
  }

  /** A transaction is open. */
  get isPlanning(): boolean {
    return this.#transaction !== undefined;
  }

  /** Others have their turn before the open transaction, if there is one, goes on: they see nothing of it, and may change nothing. */
  pause(): void {
    this.#isUnhidden = this.#transaction !== undefined;
  }

  /** After `pause`. */
  resume(): void {
    this.#isUnhidden = false;
    if (this.#transaction?.isSuspended === true) this.#transaction.resume();
  }

  /**
   * Makes the picture look as it did before the cycle that has paused. Who asks for something here need not care; who has kept a
   * node or a group from before calls this first.
   */
  hidePlan(): void {
    if (!this.#isUnhidden) return;
    this.#isUnhidden = false;
    this.#transaction!.suspend();
  }

  /** Gives up an assumption that a transaction committed. Does nothing when the pod is not assumed. */
  forget(pod: Pod): void {
    const assumption = this.#assumed.get(pod.uid);
    if (assumption === undefined) return;
    const known = this.#pods.get(pod.uid);
    this.#takeOffNode(known ?? pod);
    this.#assumed.delete(pod.uid);
    this.#nodes.forgetIfUnused(assumption.node.name);
    if (known === undefined) this.#gangs.leave(pod);
    else this.#gangs.join(known);
  }

  /** A pod that the API says is nominated claims its room; every claim ends when its owner is on a node or gone. */
  #followNomination(pod: Pod): void {
    const known = this.#reservations.of(pod.uid);
    const isComing = isUnbound(pod);
    if (isComing && known?.isKept === true) return;
    if (isComing && pod.nominatedNodeName !== '') {
      this.reservation({ kind: 'nomination', owner: pod, nodeName: pod.nominatedNodeName });
    } else {
      this.endReservation(pod.uid);
    }
  }

  #putOnNode(pod: Pod): void {
    if (isTerminal(pod)) return;
    const info =
      this.#assumed.get(pod.uid)?.node ?? (pod.nodeName === '' ? undefined : this.#nodes.named(pod.nodeName));
    if (info === undefined) return;
    // An assumption keeps its node, which has been dropped if it is unknown and its last pod was just taken off.
    this.#nodes.keep(info);
    info.addPod(pod);
    this.#nodes.touch(info);
  }

  #takeOffNode(pod: Pod): void {
    const info = this.nodeOf(pod);
    if (info === undefined) return;
    info.removePod(info.pods.get(pod.uid)!);
    this.#nodes.touch(info);
    this.#nodes.dropIfUnused(info);
  }
}
