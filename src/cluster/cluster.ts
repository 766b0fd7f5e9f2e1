import type { Node } from '../api/node.ts';
import { isTerminal, isUnbound, podsEqualForScheduling } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { ResourceNames } from '../api/resource-names.ts';
import type { AmountColumnsView } from './amount-columns.ts';
import { assumptionOutcome } from './assumption.ts';
import type { Assumption, AssumptionOutcome } from './assumption.ts';
import { AssumedVolumes } from './assumed-volumes.ts';
import type { Reservation } from './reservation.ts';
import type { ClaimsInUse } from './claims-in-use.ts';
import { ClusterContents } from './cluster-contents.ts';
import { ClusterGangs } from './cluster-gangs.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import type { Gang } from './gang.ts';
import { bindsAlike } from './gang-spec.ts';
import type { GangSpec } from './gang-spec.ts';
import { GenerationCounter } from './generation-counter.ts';
import type { ImageStates } from './image-states.ts';
import { AffinityTermIndex } from './affinity-term-index.ts';
import { ListedObjects } from './listed-objects.ts';
import type { NodeInfo } from './node-info.ts';
import { NodeReservations } from './node-reservations.ts';
import type { ReservedNode } from './node-reservations.ts';
import { OwnNominations } from './own-nominations.ts';
import type { PlacedPods } from './placed-pods.ts';
import type { RequestedByPriorityView } from './requested-by-priority.ts';
import type { FreeCapacity } from './free-capacity.ts';
import type { TieBreaks } from './tie-breaks.ts';
import type { Topology } from './topologies.ts';
import { Transaction } from './transaction.ts';
import type { TransactionTarget } from './transaction.ts';

/**
 * The cluster cache. Watch handlers apply changes from the API server; only the scheduling cycle assumes and forgets pods, within a
 * transaction. Everything is synchronous, so it is not for concurrent use. During a pause of a cycle, readers see none of its changes.
 */
export class Cluster {
  readonly resources: ResourceNames;
  readonly ties: TieBreaks | undefined;
  /** Objects that plugins read besides nodes, pods and groups. */
  readonly listed = new ListedObjects();
  /** Decisions about volumes and claims that are not written yet. */
  readonly assumedVolumes = new AssumedVolumes(this.listed);
  /** Affinity terms of all pods. */
  readonly affinityTerms = new AffinityTermIndex();
  /** Nominations that do not reserve capacity by themselves. */
  readonly ownNominations = new OwnNominations();
  /** uid -> pod that is not terminal, or is a member of a group */
  readonly #pods = new Map<string, Pod>();
  /** uid -> assumption of an unbound pod */
  readonly #assumed = new Map<string, Assumption>();
  /** The nodes with all pods that are on them. */
  readonly #full: ClusterContents;
  /** The same nodes, in the same order, without pods. A dry run may begin here. */
  readonly #empty: ClusterContents;
  /** What readers see. */
  #contents: ClusterContents;
  readonly #reservations: NodeReservations;
  readonly #gangs: ClusterGangs;
  #transaction: Transaction | undefined;
  /** The contents that the open transaction changes. */
  #planned: ClusterContents;
  /** True while the open transaction is paused and its changes are not hidden yet. */
  #mustHidePlan = false;
  #changes = 0;

  /** `ties`: replace the names of nodes where they order equal nodes. */
  constructor(resources: ResourceNames, ties?: TieBreaks) {
    this.resources = resources;
    this.ties = ties;
    const counter = new GenerationCounter();
    const contents = (firstVersion: number): ClusterContents =>
      new ClusterContents({
        counter,
        pods: () => this.#pods.values(),
        firstVersion,
        ties,
      });
    this.#full = contents(0);
    this.#empty = contents(2 ** 52);
    this.#contents = this.#planned = this.#full;
    this.#reservations = new NodeReservations(this.#full.nodes, (uid) => this.#assumed.has(uid));
    this.#gangs = new ClusterGangs(this.#full.nodes, this.#assumed);
  }

  get #nodes(): ClusterNodes {
    return this.#contents.nodes;
  }

  // Nodes

  /** Free capacity of all nodes. */
  get capacity(): FreeCapacity {
    this.hidePlan();
    return this.#nodes.capacity;
  }

  /** Images on the nodes. */
  get images(): ImageStates {
    return this.#full.nodes.images;
  }

  /** Index of the pods on nodes, by class. */
  get placed(): PlacedPods {
    this.hidePlan();
    return this.#contents.placed;
  }

  /** Allocatable and requested amounts of the nodes, in columns. */
  get amounts(): AmountColumnsView {
    this.hidePlan();
    return this.#contents.amounts;
  }

  /** Requested amounts of the nodes, by priority. */
  get requestedByPriority(): RequestedByPriorityView {
    this.hidePlan();
    return this.#contents.requestedByPriority;
  }

  /** Claims in use by pods on nodes. Counting starts on first use. */
  get claimsInUse(): ClaimsInUse {
    this.hidePlan();
    return this.#contents.claimsInUse;
  }

  get nodes(): readonly NodeInfo[] {
    this.hidePlan();
    return this.#nodes.list;
  }

  /** Returns the node if the API server has it. */
  node(name: string): NodeInfo | undefined {
    if (this.#mustHidePlan) this.#hidePlanOn(this.#nodes.get(name));
    const info = this.#nodes.get(name);
    return info !== undefined && info.index >= 0 ? info : undefined;
  }

  /** node index -> `NodeInfo.generation`, for loops over all nodes. A new array when the number of nodes exceeds its length. */
  get generations(): Float64Array {
    this.hidePlan();
    return this.#nodes.generations;
  }

  /** Changes with every change to any node, including a rollback. */
  get generation(): number {
    if (this.#mustHidePlan && !this.isEmptied) return this.#transaction!.begunAt;
    this.hidePlan();
    return this.#nodes.generation;
  }

  /**
   * Counts the changes that may decide where other entities fit: of nodes, pods on them, groups with such pods, reservations and the other listed
   * objects. Changes that a transaction reverts, and those of pods that wait, do not count.
   */
  get changes(): number {
    return this.#changes + this.nodesRevision + this.listed.changes;
  }

  /** Changes when a node is added or removed, or when a field that scheduling reads changes. Pods on nodes don't count. */
  get nodesRevision(): number {
    return this.#full.nodes.revision;
  }

  /** Returns the nodes grouped by the value of the label. Valid while `nodesRevision` stays the same. */
  topology(key: string): Topology {
    return this.#full.nodes.topology(key);
  }

  /** Returns the keys of the groups in which a member became stranded or is not stranded anymore. */
  setNode(node: Node): readonly string[] {
    const wasLost = this.#nodes.get(node.name)?.isLost === true;
    const info = this.#nodes.set(node);
    this.#empty.nodes.follow(info);
    return wasLost || info.isLost ? this.#gangs.updateStranded(info) : [];
  }

  /** Returns the same as `setNode`. */
  removeNode(name: string): readonly string[] {
    const info = this.node(name);
    if (info === undefined) return [];
    this.#nodes.remove(info);
    this.#empty.nodes.unfollow(name);
    return this.#gangs.updateStranded(info);
  }

  /**
   * Called when everything has been listed: unknown nodes with pods are gone, and the annotations of bound members show which groups an
   * earlier process has left partially bound. Groups without live members start over.
   */
  allListed(): void {
    for (const info of this.#nodes.all()) {
      if (info.index >= 0 || info.pods.size === 0) continue;
      this.#nodes.markGone(info);
      this.#gangs.updateStranded(info);
    }
    for (const gang of this.#gangs.all()) {
      gang.allListed();
      if (gang.incomplete) gang.trustListed();
    }
  }

  // Pods

  /** The pods are listed again. Until `podsListed`, no group starts over, because the cache mixes old and new states. */
  podsBeingListed(): void {
    this.#gangs.membersBeingListed();
  }

  /** Returns the keys of the groups that have started, or start over, by the list. */
  podsListed(): readonly string[] {
    return this.#gangs.membersListed();
  }

  pod(uid: string): Pod | undefined {
    return this.#pods.get(uid);
  }

  /** Returns all known pods; during a dry run without those it takes out. */
  pods(): Iterable<Pod> {
    this.hidePlan();
    const isIdle = this.#transaction === undefined || this.#transaction.isSuspended;
    return isIdle ? this.#pods.values() : this.#podsOfDryRun();
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

  /** Returns the node to which the pod is bound or on which it is assumed, even an unknown node; undefined for a terminal pod. */
  nodeOf(pod: Pod): NodeInfo | undefined {
    if (this.#mustHidePlan) {
      this.#hidePlanOn(this.#assumed.get(pod.uid)?.node);
      this.#hidePlanOn(this.#nodes.get(pod.nodeName));
    }
    const assumedOn = this.#assumed.get(pod.uid)?.node;
    const name = assumedOn?.name ?? pod.nodeName;
    if (name === '') return undefined;
    // The nodes of an emptied dry run are others. Usually this saves a lookup by name, which a rollback of a large gang notices.
    const info = assumedOn !== undefined && this.#contents === this.#full ? assumedOn : this.#nodes.get(name);
    return info?.pods.has(pod.uid) === true ? info : undefined;
  }

  /** Returns the uid of each assumed pod with the name of its node. */
  *assumptions(): Iterable<readonly [uid: string, nodeName: string]> {
    this.hidePlan();
    for (const [uid, { node }] of this.#assumed) yield [uid, node.name];
  }

  isAssumed(uid: string): boolean {
    if (this.#mustHidePlan) this.#hidePlanOn(this.#assumed.get(uid)?.node);
    return this.#assumed.has(uid);
  }

  /** Returns the current state of the pod if it is unscheduled: known, not bound, not assumed, not terminal and not being deleted. */
  openPod(uid: string): Pod | undefined {
    if (this.#mustHidePlan) this.#hidePlanOn(this.#assumed.get(uid)?.node);
    const pod = this.#pods.get(uid);
    return pod !== undefined && isUnbound(pod) && !this.#assumed.has(uid) ? pod : undefined;
  }

  /**
   * Applies a pod update from the API server. Only another nodeName, a terminal phase or a deletion (`removePod`) contradicts an
   * assumption. An update that is merely older than our Binding does not.
   */
  setPod(pod: Pod): AssumptionOutcome {
    const known = this.#pods.get(pod.uid);
    const assumedOn = this.#assumed.get(pod.uid)?.node;
    const outcome = assumptionOutcome(pod, assumedOn);
    const occupies = outcome === 'confirmed' || outcome === 'kept' || pod.nodeName === known?.nodeName;
    const wasThere = known !== undefined && !isTerminal(known);
    if (isPlacedChange(known, pod, outcome)) this.#changes++;
    const unmoved = wasThere && occupies && !isTerminal(pod) && known.template === pod.template;
    this.affinityTerms.changed(known, pod);
    for (const { claimsInUse } of [this.#full, this.#empty]) claimsInUse.changed(known, pod);
    if (known !== undefined && !unmoved) this.#takeOffNode(known);
    if (outcome === 'confirmed' || outcome === 'contradicted') this.#endAssumption(pod.uid);
    if (isTerminal(pod) && pod.podGroupKey === undefined) this.#pods.delete(pod.uid);
    else this.#pods.set(pod.uid, pod);
    if (unmoved) this.#changeOnNode(known, pod);
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
    if (known.nodeName !== '' || assumedOn !== undefined) this.#changes++;
    this.affinityTerms.changed(known, undefined);
    for (const { claimsInUse } of [this.#full, this.#empty]) claimsInUse.changed(known, undefined);
    this.#takeOffNode(known);
    this.#endAssumption(uid);
    this.#pods.delete(uid);
    this.ownNominations.forget(uid);
    this.endReservation(uid);
    this.#gangs.leave(known);
    this.#nodes.forgetIfUnused(assumedOn?.name ?? known.nodeName);
    return assumedOn !== undefined ? 'contradicted' : 'none';
  }

  // Reservations

  /** Adds a reservation; replaces the owner's previous one. */
  reservation(reservation: Reservation): void {
    this.#changes++;
    this.#reservations.set(reservation);
  }

  /** Returns the reservation of the owner with this pod uid. */
  reservationOf(owner: string): Reservation | undefined {
    return this.#reservations.of(owner);
  }

  get hasReservations(): boolean {
    return this.#reservations.size > 0;
  }

  /** Returns whether a pod that names the group, or a placeholder for one, has a reservation. */
  hasReservationFor(groupKey: string): boolean {
    return this.#reservations.isFor(groupKey);
  }

  /** Returns the reservations on a node, even an unknown one. */
  reservationsOn(nodeName: string): Iterable<Reservation> {
    return this.#reservations.on(nodeName);
  }

  /**
   * Returns the nodes with reservations that the pod must respect, even unknown nodes. Leaves out assumed owners. The same list until it has
   * to change. Empty in a transaction that began with `onlyWith`.
   */
  reservedFor(pod: Pod): readonly ReservedNode[] {
    return this.isEmptied ? [] : this.#reservations.respectedBy(pod);
  }

  /** Returns a text that is equal for pods that must respect the same reservations. */
  respectKeyOf(pod: Pod): string {
    return this.#reservations.respectKeyOf(pod);
  }

  /** Returns all reservations, the oldest first. */
  reservations(): Iterable<Reservation> {
    return this.#reservations.all();
  }

  /** Releases the owner's reservation. Returns false if it had none. */
  endReservation(owner: string): boolean {
    const reservation = this.#reservations.release(owner);
    if (reservation !== undefined) this.#changes++;
    // A nomination by another component applies again after our own reservation ends.
    const known = reservation?.isKept === true ? this.#pods.get(owner) : undefined;
    if (known !== undefined) this.#followNomination(known);
    return reservation !== undefined;
  }

  /**
   * Returns the nominatedNodeName that the pod's status should get: its node in the plan of a preemption, or empty if it still has an own
   * nomination without a reservation. Undefined: it stays as it is, like any nomination by another component.
   */
  nominationFor({ uid, nominatedNodeName }: Pod): string | undefined {
    if (nominatedNodeName !== '' && !this.ownNominations.has(uid, nominatedNodeName)) return undefined;
    const reservation = this.#reservations.of(uid);
    const isPreemption = reservation?.plan !== undefined && reservation.kind !== 'backfill';
    const wanted = isPreemption ? reservation.nodeName : '';
    return wanted === nominatedNodeName ? undefined : wanted;
  }

  // Groups

  gang(key: string): Gang | undefined {
    const gang = this.#gangs.get(key);
    if (this.#mustHidePlan && gang !== undefined && (this.isEmptied || this.#transaction!.changes(gang)))
      this.hidePlan();
    return gang;
  }

  gangs(): Iterable<Gang> {
    this.hidePlan();
    return this.#gangs.all();
  }

  /** Returns the keys of the other groups that this concerns. */
  setGang(spec: GangSpec): readonly string[] {
    const known = this.#gangs.get(spec.key);
    if (known !== undefined && isPlaced(known) && !bindsAlike(known.spec, spec)) this.#changes++;
    return this.#gangs.set(spec);
  }

  /** Returns the keys of the other groups that this concerns. */
  removeGang(key: string): readonly string[] {
    const known = this.#gangs.get(key);
    if (known !== undefined && isPlaced(known)) this.#changes++;
    return this.#gangs.remove(key);
  }

  // Assumptions

  /**
   * Opens the transaction of a cycle. Only one can be open. Until its commit or rollback no change from the API server may be applied, not
   * even while it is suspended. `onlyWith`: begin as if no node had any pods but these. Takes no time per node; the caller must roll back.
   */
  begin({ onlyWith }: { readonly onlyWith?: Iterable<Pod> } = {}): Transaction {
    if (this.#transaction !== undefined) throw new Error('a transaction is already open');
    const kept = onlyWith === undefined ? [] : this.#beginEmpty(onlyWith);
    const target: TransactionTarget = {
      assume: (pod, node) => {
        if (this.#assumed.has(pod.uid)) throw new Error(`pod ${pod.key} is already assumed`);
        const { podGroupKey: groupKey } = pod;
        const groupUid = groupKey === undefined ? undefined : this.#gangs.get(groupKey)?.spec?.uid;
        this.#assumed.set(pod.uid, { node, groupKey, groupUid });
        this.#reservations.assumptionChanged(pod.uid);
        this.#putOnNode(pod);
        this.#gangs.join(pod);
      },
      forget: (pod) => this.forget(pod),
      nodeOf: (pod) => this.nodeOf(pod),
      gangOf: (pod) => (pod.podGroupKey === undefined ? undefined : this.#gangs.get(pod.podGroupKey)),
      closed: (isCommitted) => {
        if (isCommitted) this.#changes++;
        for (const [pod, info] of kept) this.#takeOff(info, pod);
        this.#transaction = undefined;
        this.#contents.isPlanning = false;
        this.#contents.placed.settle();
        this.#contents = this.#planned = this.#full;
      },
    };
    this.#contents.isPlanning = true;
    this.#transaction = new Transaction(this.#nodes, target);
    return this.#transaction;
  }

  /** Switches to nodes with only these pods. Returns the pods that are on nodes, with these. */
  #beginEmpty(onlyWith: Iterable<Pod>): readonly (readonly [Pod, NodeInfo])[] {
    const kept = new Map([...onlyWith].map((pod) => [pod.uid, pod]));
    const infos = new Set([...kept.values()].flatMap((pod) => this.nodeOf(pod) ?? []));
    // The pods of a node keep their order of arrival.
    const placed = [...infos].flatMap(({ name, pods }) =>
      [...pods.values()].flatMap((pod) => (kept.has(pod.uid) ? [[pod, name] as const] : [])),
    );
    this.#contents = this.#planned = this.#empty;
    return placed.map(([pod, name]) => {
      const info = this.#nodes.named(name);
      this.#putOn(info, pod);
      return [pod, info] as const;
    });
  }

  /** True if the open transaction began with `onlyWith`. */
  get isEmptied(): boolean {
    return this.#planned === this.#empty;
  }

  /** True if a transaction is open. */
  get isPlanning(): boolean {
    return this.#transaction !== undefined;
  }

  /** Pauses the open transaction, if there is one. Until `resume`, others see none of its changes and must not change anything. */
  pause(): void {
    this.#mustHidePlan = this.#transaction !== undefined;
  }

  /** Ends a `pause`. */
  resume(): void {
    this.#mustHidePlan = false;
    if (this.#transaction?.isSuspended !== true) return;
    this.#contents = this.#planned;
    this.#transaction.resume();
  }

  /**
   * Restores the state from before the paused cycle. Getters of this class call it themselves; code that has kept a node or a group from
   * earlier must call it first.
   */
  hidePlan(): void {
    if (!this.#mustHidePlan) return;
    this.#mustHidePlan = false;
    this.#transaction!.suspend();
    this.#contents = this.#full;
  }

  /** Like `hidePlan`, for code that reads only this node, or pods on it. */
  #hidePlanOn(node: NodeInfo | undefined): void {
    if (this.isEmptied) this.hidePlan();
    if (!this.#mustHidePlan || node === undefined) return;
    this.#mustHidePlan = false;
    this.#mustHidePlan = !this.#transaction!.suspendOn(node);
  }

  /** Releases an assumption of a committed transaction. Has no effect if the pod is not assumed. */
  forget(pod: Pod): void {
    const assumption = this.#assumed.get(pod.uid);
    if (assumption === undefined) return;
    if (this.#transaction === undefined) this.#changes++;
    const known = this.#pods.get(pod.uid);
    this.#takeOffNode(known ?? pod);
    this.#endAssumption(pod.uid);
    this.#nodes.forgetIfUnused(assumption.node.name);
    if (known === undefined) this.#gangs.leave(pod);
    else this.#gangs.join(known);
  }

  #endAssumption(uid: string): void {
    this.#assumed.delete(uid);
    this.#reservations.assumptionChanged(uid);
  }

  /** Creates a nomination for a pod with nominatedNodeName. Ends the reservation if the pod is on a node or gone. */
  #followNomination(pod: Pod): void {
    const known = this.#reservations.of(pod.uid);
    const isWaiting = isUnbound(pod);
    if (isWaiting && known?.isKept === true) return;
    if (!isWaiting) this.ownNominations.forget(pod.uid);
    if (isWaiting && this.#isNominatedByOthers(pod)) {
      this.reservation({ kind: 'nomination', owner: pod, nodeName: pod.nominatedNodeName });
    } else {
      this.endReservation(pod.uid);
    }
  }

  #isNominatedByOthers({ uid, nominatedNodeName }: Pod): boolean {
    return nominatedNodeName !== '' && !this.ownNominations.has(uid, nominatedNodeName);
  }

  #putOnNode(pod: Pod): void {
    if (isTerminal(pod)) return;
    const info =
      this.#assumed.get(pod.uid)?.node ?? (pod.nodeName === '' ? undefined : this.#nodes.named(pod.nodeName));
    if (info !== undefined) this.#putOn(info, pod);
  }

  #putOn(info: NodeInfo, pod: Pod): void {
    // An unknown node is dropped with its last pod, but an assumption still needs it.
    this.#nodes.keep(info);
    info.addPod(pod);
    this.#nodes.touch(info);
  }

  /** The template is the same, so the node keeps its generation. */
  #changeOnNode(known: Pod, pod: Pod): void {
    const info = this.nodeOf(pod);
    info?.changePod(pod);
    if (info !== undefined && known.deleting !== pod.deleting) this.#full.requestedByPriority.invalidate(info);
  }

  #takeOffNode(pod: Pod): void {
    const info = this.nodeOf(pod);
    if (info !== undefined) this.#takeOff(info, pod);
  }

  #takeOff(info: NodeInfo, pod: Pod): void {
    info.removePod(info.pods.get(pod.uid)!);
    this.#nodes.touch(info);
    this.#nodes.dropIfUnused(info);
  }
}

/** Returns whether members of the group are on nodes. */
function isPlaced(gang: Gang): boolean {
  return gang.count('bound') + gang.count('planned') + gang.count('stranded') > 0;
}

/** Returns whether the pod is, was, or is about to be on a node, and differs from what was known of it. */
function isPlacedChange(known: Pod | undefined, pod: Pod, outcome: AssumptionOutcome): boolean {
  const isPlaced = pod.nodeName !== '' || (known !== undefined && known.nodeName !== '');
  if (outcome === 'contradicted') return true;
  return isPlaced && (known === undefined || !podsEqualForScheduling(known, pod));
}
