import { isBoundForAnother, isTerminal, succeededByItself } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import { addCount } from '../base/add-count.ts';
import { GangLife } from './gang-life.ts';
import type { GangSpec } from './gang-spec.ts';
import type { GangView, MemberState } from './gang-view.ts';
import { Misfits } from './misfits.ts';

/** Data of a member that is assumed on a node. */
export interface MemberPlan {
  /** Group in the pod's label at planning time; undefined: none. The pod must not be bound for another group. */
  readonly groupKey: string | undefined;
  /** uid of the group object at planning time; undefined: it did not exist. */
  readonly groupUid: string | undefined;
}

/** States of members that together prove that the quorum was bound. While a member is in one of them, the group's life goes on. */
const quorumStates: ReadonlySet<MemberState> = new Set(['bound', 'stranded', 'succeeded']);

/** States of members that can be misfits: the others have left, or will not run. */
const fitStates: ReadonlySet<MemberState> = new Set(['pending', 'gated', 'planned', 'bound', 'stranded']);

/** Iteration orders of a gang's maps, to restore them after a rollback. */
export interface GangOrder {
  readonly pending: readonly string[];
  readonly schedulerNames: readonly string[];
}

/** The scheduler's view of a pod group, with members counted by state. */
export class Gang implements GangView {
  readonly key: string;
  spec: GangSpec | undefined;
  readonly members = new Map<string, Pod>();
  readonly pending = new Map<string, Pod>();
  readonly pendingBySchedulerName = new Map<string, number>();
  readonly misfits = new Misfits();
  readonly #life = new GangLife();
  /** uid -> state, for members */
  readonly #states = new Map<string, MemberState>();
  /** uid -> plan of a member that is assumed on a node */
  readonly #plans = new Map<string, MemberPlan>();
  /** uid -> key of the gang in spec.schedulingGroup of a member that is in this group by its label */
  readonly #otherGangs = new Map<string, string>();
  /** When the sticky condition became True, in milliseconds since the epoch; NaN: it is not True. */
  #start = NaN;
  /** uids of live members that were bound by then */
  readonly #confirming = new Set<string>();
  /** uids of members on lost nodes */
  readonly #stranded = new Set<string>();
  /**
   * uids of members that the watch showed first unbound and then bound, while they were members. A user cannot forge that: it takes a
   * Binding, and the permission to create one.
   */
  readonly #seenBinding = new Set<string>();
  /** True once the group was partially bound for too long to come first, until it has no bound member. */
  #isOverdue = false;
  /** uids of members that were listed as bound, with annotations that name this group, when the scheduler started. Users can forge those. */
  readonly #listedAsOurs = new Set<string>();
  readonly #counts: Record<MemberState, number> = {
    pending: 0,
    gated: 0,
    planned: 0,
    bound: 0,
    stranded: 0,
    succeeded: 0,
    failed: 0,
    leaving: 0,
    former: 0,
  };
  /** state -> number of members with the mark of a preemption */
  readonly #marked = { bound: 0, stranded: 0 };
  /** quorum -> number of members, on nodes or succeeded, that were bound while the group had this quorum */
  readonly #boundByQuorum = new Map<number, number>();

  constructor(key: string) {
    this.key = key;
  }

  /** state -> number of members in it. For code that needs several of them and must be fast. */
  get countsByState(): Readonly<Record<MemberState, number>> {
    return this.#counts;
  }

  count(state: MemberState): number {
    return this.#counts[state];
  }

  countMarked(state: 'bound' | 'stranded'): number {
    return this.#marked[state];
  }

  get counted(): number {
    const { bound, stranded } = this.#marked;
    return this.present - bound - (this.started ? stranded : 0);
  }

  get present(): number {
    const { bound, planned, succeeded, stranded } = this.#counts;
    return bound + planned + (this.started ? succeeded + stranded : 0);
  }

  counts(uid: string): boolean {
    const state = this.#states.get(uid);
    const mayBeMarked = state === 'bound' || state === 'stranded';
    return this.isPresent(uid) && !(mayBeMarked && this.members.get(uid)!.preemptionMark !== undefined);
  }

  isPresent(uid: string): boolean {
    const state = this.#states.get(uid);
    if (state === 'succeeded' || state === 'stranded') return this.started;
    return state === 'bound' || state === 'planned';
  }

  get started(): boolean {
    return this.#life.started || this.spec?.minMember === 0;
  }

  /** What this process knows of the life of the group, besides its objects. */
  get life(): Readonly<Pick<GangLife, 'started' | 'hasEnded'>> {
    return this.#life;
  }

  /** Takes over what another process knows. */
  restoreLife(life: Pick<GangLife, 'started' | 'hasEnded'>): void {
    this.#life.restore(life);
  }

  get startsAnew(): boolean {
    return !this.started && (this.#life.hasEnded || this.spec?.startsAnew === true);
  }

  get missing(): number {
    return Math.max(0, (this.spec?.minMember ?? 0) - this.counted);
  }

  get incomplete(): boolean {
    const { bound, stranded, planned } = this.#counts;
    return !this.started && bound + stranded + planned > 0 && this.missing > 0;
  }

  get comesFirst(): boolean {
    if (!this.incomplete) return false;
    if (this.#counts.planned > 0) return true;
    if (!this.#isOverdue) for (const uid of this.#seenBinding) if (this.#isBoundAsOurs(uid)) return true;
    for (const uid of this.#listedAsOurs) if (this.#isBoundAsOurs(uid)) return true;
    return false;
  }

  /** Returns whether the watch showed the member first unbound and then bound. */
  hasSeenBinding(uid: string): boolean {
    return this.#seenBinding.has(uid);
  }

  /** The members are listed again. Until `membersListed`, the group does not start over. */
  membersBeingListed(): void {
    this.#life.membersBeingListed();
  }

  /** All members are as of one list. Returns whether the group has started or starts over. */
  membersListed(): boolean {
    const before = this.started;
    const { startedSince, startIsSticky = false } = this.spec ?? {};
    this.#life.membersListed(!startIsSticky || this.#confirming.size > 0 ? startedSince : undefined);
    this.#updateLife();
    return this.started !== before;
  }

  /** Called once everything is listed for the first time. */
  allListed(): void {
    this.#life.allListed(this.spec?.startedSince);
  }

  /** Called once all pods are listed: trusts the annotations of members that are already bound, until `distrustListed`. */
  trustListed(): void {
    for (const uid of this.members.keys()) if (this.#isBoundAsOurs(uid)) this.#listedAsOurs.add(uid);
  }

  /**
   * The Bindings that the watch showed no longer let the group come first, until it has no bound member. Otherwise, a user could leave a group
   * partially bound and add members of any size later, ahead of others. Returns whether that changes `comesFirst`.
   */
  endRank(): boolean {
    const cameFirst = this.comesFirst;
    this.#isOverdue = true;
    return cameFirst && !this.comesFirst;
  }

  distrustListed(): void {
    this.#listedAsOurs.clear();
  }

  #isBoundAsOurs(uid: string): boolean {
    const state = this.#states.get(uid);
    const isBound = state === 'bound' || state === 'stranded';
    return isBound && this.spec !== undefined && this.members.get(uid)!.plannedGroupUid === this.spec.uid;
  }

  get isHeldBack(): boolean {
    const { unsupported, minMember, waitsForGates = false } = this.spec ?? {};
    if (unsupported !== undefined || minMember === 0) return unsupported !== undefined;
    return this.misfits.size > 0 || (waitsForGates && this.#counts.gated > 0);
  }

  get isEmpty(): boolean {
    return this.spec === undefined && this.members.size === 0;
  }

  setSpec(spec: GangSpec | undefined): void {
    const before = this.spec;
    const isReplaced = spec?.uid !== before?.uid;
    if (isReplaced && before !== undefined) this.#seenBinding.clear();
    this.spec = spec;
    if (isReplaced) this.#life.restart();
    if (isReplaced || !treatsMembersAlike(before, spec)) {
      this.#start = spec?.startIsSticky === true ? Date.parse(spec.startedSince ?? '') : NaN;
      for (const pod of this.members.values()) {
        const state = this.#stateOf(pod);
        this.putInState(pod.uid, state);
        this.#noteLife(pod, state);
        this.#updateMisfit(pod);
      }
    }
    this.#updateLife();
  }

  /**
   * Adds or updates a member. `plan` is set while the member is assumed on a node. `otherGang`: key of the group in its spec.schedulingGroup if
   * that is a gang.
   */
  setMember(pod: Pod, plan?: MemberPlan, isStranded = false, otherGang?: string): void {
    if (this.#counts.bound + this.#counts.stranded === 0) this.#isOverdue = false;
    this.#leaveState(pod.uid);
    if (pod.nodeName !== '' && this.members.get(pod.uid)?.nodeName === '') this.#seenBinding.add(pod.uid);
    if (isStranded) this.#stranded.add(pod.uid);
    else this.#stranded.delete(pod.uid);
    if (plan === undefined) this.#plans.delete(pod.uid);
    else this.#plans.set(pod.uid, plan);
    const state = this.#stateOf(pod);
    this.members.set(pod.uid, pod);
    this.#states.set(pod.uid, state);
    this.#noteLife(pod, state);
    this.#count(pod, state, 1);
    if (state === 'pending') this.#setPending(pod);
    if (otherGang !== undefined) this.#otherGangs.set(pod.uid, otherGang);
    else if (this.#otherGangs.size > 0) this.#otherGangs.delete(pod.uid);
    this.#updateMisfit(pod);
    this.#updateLife();
  }

  removeMember(uid: string): void {
    this.#leaveState(uid);
    this.members.delete(uid);
    this.#states.delete(uid);
    this.#plans.delete(uid);
    this.#stranded.delete(uid);
    this.#seenBinding.delete(uid);
    this.#listedAsOurs.delete(uid);
    this.#otherGangs.delete(uid);
    this.misfits.remove(uid);
    this.#confirming.delete(uid);
    this.#life.note(uid, false);
    this.#updateLife();
  }

  stateOf(uid: string): MemberState | undefined {
    return this.#states.get(uid);
  }

  /** The members in this state. Takes no time for the others. */
  get stranded(): readonly Pod[] {
    return [...this.#stranded]
      .filter((uid) => this.#states.get(uid) === 'stranded')
      .map((uid) => this.members.get(uid)!);
  }

  /** Puts a member in another state than its pod's, or back in its previous one. Neither state may be `pending`. */
  putInState(uid: string, state: MemberState): void {
    const before = this.#states.get(uid);
    if (before === undefined) return;
    const pod = this.members.get(uid)!;
    this.#count(pod, before, -1);
    this.#count(pod, state, 1);
    this.#states.set(uid, state);
  }

  get order(): GangOrder {
    return { pending: [...this.pending.keys()], schedulerNames: [...this.pendingBySchedulerName.keys()] };
  }

  /** Restores the order. The gang must have the same members and names as when the order was taken. */
  restoreOrder({ pending, schedulerNames }: GangOrder): void {
    reorder(this.pending, pending);
    reorder(this.pendingBySchedulerName, schedulerNames);
  }

  #leaveState(uid: string): void {
    const state = this.#states.get(uid);
    if (state === undefined) return;
    this.#count(this.members.get(uid)!, state, -1);
    const pending = this.pending.get(uid);
    if (pending === undefined) return;
    this.pending.delete(uid);
    addCount(this.pendingBySchedulerName, pending.schedulerName, -1);
  }

  #count({ plannedQuorum, preemptionMark }: Pod, state: MemberState, change: 1 | -1): void {
    this.#counts[state] += change;
    if (preemptionMark !== undefined && (state === 'bound' || state === 'stranded')) this.#marked[state] += change;
    if (plannedQuorum === undefined || !quorumStates.has(state)) return;
    addCount(this.#boundByQuorum, plannedQuorum, change);
  }

  #setPending(pod: Pod): void {
    this.pending.set(pod.uid, pod);
    addCount(this.pendingBySchedulerName, pod.schedulerName, 1);
  }

  /** The quorum at binding time counts as well as the current one, because the watch may deliver a raised quorum before the bound members. */
  #updateLife(): void {
    const { spec } = this;
    if (spec === undefined) return;
    const { bound, stranded, succeeded } = this.#counts;
    this.#life.update(
      this.#startedSince(),
      () => bound + stranded + succeeded >= spec.minMember || this.#hasHadQuorum(),
    );
  }

  /** Returns since when the present life has started, as the API shows it; undefined if it does not show that. */
  #startedSince(): string | undefined {
    const { startedSince, startIsSticky = false } = this.spec ?? {};
    return !startIsSticky || this.#life.started || this.#confirming.size > 0 ? startedSince : undefined;
  }

  /** The member is in this state, as the API shows it. `#updateLife` follows. */
  #noteLife(pod: Pod, state: MemberState): void {
    const isLive = quorumStates.has(state);
    this.#life.note(pod.uid, isLive);
    if (isLive && (pod.podScheduled?.since ?? Infinity) <= this.#start) this.#confirming.add(pod.uid);
    else if (this.#confirming.size > 0) this.#confirming.delete(pod.uid);
  }

  #updateMisfit(pod: Pod): void {
    if (fitStates.has(this.#states.get(pod.uid)!)) this.misfits.check(pod, this.spec, this.#otherGangs.get(pod.uid));
    else this.misfits.remove(pod.uid);
  }

  #hasHadQuorum(): boolean {
    for (const [quorum, count] of this.#boundByQuorum) if (count >= quorum) return true;
    return false;
  }

  #stateOf(pod: Pod): MemberState {
    if (isTerminal(pod) && !succeededByItself(pod)) return 'failed';
    if (pod.deleting && !isTerminal(pod)) return 'leaving';
    const plan = this.#plans.get(pod.uid);
    if (this.spec !== undefined && belongsToOther(pod, plan, this.spec.uid)) return 'former';
    if (pod.phase === 'Succeeded') return 'succeeded';
    if (pod.nodeName !== '') return this.#stranded.has(pod.uid) ? 'stranded' : 'bound';
    if (plan !== undefined) return 'planned';
    return pod.schedulingGates.length > 0 ? 'gated' : 'pending';
  }
}

/** Moves every key that is out of order to the end, in order. */
function reorder<T>(map: Map<string, T>, order: readonly string[]): void {
  const isInOrder = keysInOrder(map, order);
  if (isInOrder) return;
  for (const key of order) {
    if (!map.has(key)) continue;
    const value = map.get(key)!;
    map.delete(key);
    map.set(key, value);
  }
}

function keysInOrder(map: ReadonlyMap<string, unknown>, order: readonly string[]): boolean {
  let i = 0;
  for (const key of map.keys()) if (key !== order[i++]) return false;
  return i === order.length;
}

/** Returns whether the pod belongs to another group. A Binding names its group; until it is observed, the plan does. */
function belongsToOther(pod: Pod, plan: MemberPlan | undefined, groupUid: string): boolean {
  if (plan === undefined) return isBoundForAnother(pod, groupUid);
  return plan.groupKey !== pod.podGroupKey || (plan.groupUid !== undefined && plan.groupUid !== groupUid);
}

/** Returns whether no member has to be looked at again when the spec changes: the object is the same, maybe with another quorum. */
function treatsMembersAlike(a: GangSpec | undefined, b: GangSpec | undefined): boolean {
  return (
    a?.startedSince === b?.startedSince &&
    a?.memberPriority === b?.memberPriority &&
    a?.memberPreemptionPolicy === b?.memberPreemptionPolicy
  );
}
