import { isBoundForAnother, isTerminal } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { ResourceList } from '../api/resource-list.ts';
import { addCount } from '../base/add-count.ts';

/** What the scheduler reads of a pod group, whichever API it came from. */
export interface GangSpec {
  readonly uid: string;
  /** namespace/name */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly creationTimestamp: number;
  /** The quorum; at least 1. */
  readonly minMember: number;
  /** Total for the quorum; undefined switches the check off. */
  readonly minResources: ResourceList | undefined;
  /** How long a member may wait on Permit; undefined leaves it to the plugin's argument. */
  readonly scheduleTimeoutSeconds: number | undefined;
  /** The sticky condition: quorum was once bound. */
  readonly started: boolean;
  /** Somebody keeps that condition, be it true or false. */
  readonly confirmsStart: boolean;
  /** Whether its members are evicted when it never started and cannot be completed within the grace. */
  readonly releases: boolean;
  /** How long lost members are waited for, in milliseconds. */
  readonly repairGraceMs: number;
}

/**
 * Where a member is: `pending` may be scheduled now; `gated` has scheduling gates; `planned` is assumed on a node, not yet
 * confirmed; `bound` runs or will run on its node; `stranded` is on a node that has gone or does not run pods; `succeeded`, `failed` have ended; `leaving` is being deleted; `former` was
 * planned, is bound or has succeeded for another group object than the present one, or was planned for none, and says nothing of this one.
 */
export type MemberState = (typeof memberStates)[number];

export const memberStates = [
  'pending',
  'gated',
  'planned',
  'bound',
  'stranded',
  'succeeded',
  'failed',
  'leaving',
  'former',
] as const;

/** Those that say, together, that a quorum was on nodes. */
const startingStates: ReadonlySet<MemberState> = new Set(['bound', 'stranded', 'succeeded']);

/** What is known of a member that is assumed on a node. */
export interface MemberPlan {
  /** The group that its label named when it was planned; undefined: none. It is not bound for another one. */
  readonly groupKey: string | undefined;
  /** uid of the group object when it was planned; undefined: there was none. */
  readonly groupUid: string | undefined;
}

/** A pod group as plugins see it. */
export interface GangView {
  /** namespace/name */
  readonly key: string;
  /** Undefined while the group object is absent. */
  readonly spec: GangSpec | undefined;
  /** uid -> member, in order of arrival */
  readonly members: ReadonlyMap<string, Pod>;
  /** uid -> member that may be scheduled now, in no meaningful order */
  readonly pending: ReadonlyMap<string, Pod>;
  /** schedulerName -> how many pending members name it */
  readonly pendingBySchedulerName: ReadonlyMap<string, number>;
  /** Quorum was once bound. Never goes back while the group object is the same. */
  readonly started: boolean;
  /**
   * Members that count towards quorum: bound or planned ones; once the group has started also succeeded ones, and stranded ones, which are
   * Kubernetes' to give up.
   */
  readonly counted: number;
  /** How many more members must be placed together; 0 when quorum is reached. */
  readonly missing: number;
  /**
   * Some members are on nodes although the group never started: it must be completed before anything new begins. Planned
   * ones count, because the watch may show a Binding later than a sibling's is known to have failed.
   */
  readonly incomplete: boolean;
  /** Members in one state. */
  count(state: MemberState): number;
  /** Where a member is; undefined for a pod that is none. */
  stateOf(uid: string): MemberState | undefined;
  /** Whether the member is one of those `counted`. */
  counts(uid: string): boolean;
}

/** The order of what has one in a gang, to be restored after steps that were undone. */
export interface GangOrder {
  readonly pending: readonly string[];
  readonly schedulerNames: readonly string[];
}

/** The core's view of a pod group: its members, counted by state as they change. */
export class Gang implements GangView {
  readonly key: string;
  spec: GangSpec | undefined;
  readonly members = new Map<string, Pod>();
  readonly pending = new Map<string, Pod>();
  readonly pendingBySchedulerName = new Map<string, number>();
  started = false;
  /** uid -> state, for members */
  readonly #states = new Map<string, MemberState>();
  /** uid -> plan, for members that are assumed on a node */
  readonly #plans = new Map<string, MemberPlan>();
  /** uids of members whose nodes are lost to them */
  readonly #stranded = new Set<string>();
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
  /** quorum -> how many members are on nodes or have succeeded that were bound when it was the group's */
  readonly #boundByQuorum = new Map<number, number>();

  constructor(key: string) {
    this.key = key;
  }

  count(state: MemberState): number {
    return this.#counts[state];
  }

  get counted(): number {
    const { bound, planned, succeeded, stranded } = this.#counts;
    return bound + planned + (this.started ? succeeded + stranded : 0);
  }

  counts(uid: string): boolean {
    const state = this.#states.get(uid);
    if (state === 'succeeded' || state === 'stranded') return this.started;
    return state === 'bound' || state === 'planned';
  }

  get missing(): number {
    return Math.max(0, (this.spec?.minMember ?? 0) - this.counted);
  }

  get incomplete(): boolean {
    const { bound, stranded, planned } = this.#counts;
    return !this.started && bound + stranded + planned > 0 && this.missing > 0;
  }

  get isEmpty(): boolean {
    return this.spec === undefined && this.members.size === 0;
  }

  setSpec(spec: GangSpec | undefined): void {
    const isAnother = spec?.uid !== this.spec?.uid;
    this.spec = spec;
    if (isAnother) {
      this.started = false;
      for (const pod of this.members.values()) this.putInState(pod.uid, this.#stateOf(pod));
    }
    this.#noteStart();
  }

  /** Adds the member or replaces what is known of it; with `plan` while it is assumed on a node. */
  setMember(pod: Pod, plan?: MemberPlan, isStranded = false): void {
    this.#leaveState(pod.uid);
    if (isStranded) this.#stranded.add(pod.uid);
    else this.#stranded.delete(pod.uid);
    if (plan === undefined) this.#plans.delete(pod.uid);
    else this.#plans.set(pod.uid, plan);
    const state = this.#stateOf(pod);
    this.members.set(pod.uid, pod);
    this.#states.set(pod.uid, state);
    this.#count(pod, state, 1);
    if (state === 'pending') this.#setPending(pod);
    this.#noteStart();
  }

  removeMember(uid: string): void {
    this.#leaveState(uid);
    this.members.delete(uid);
    this.#states.delete(uid);
    this.#plans.delete(uid);
    this.#stranded.delete(uid);
  }

  stateOf(uid: string): MemberState | undefined {
    return this.#states.get(uid);
  }

  /**
   * Says for a while that a member is in another state than its pod shows, or again in the one that it was in; for members that
   * neither are nor become pending.
   */
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

  /** For the same members and names as when the order was taken. */
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

  #count({ plannedQuorum }: Pod, state: MemberState, change: 1 | -1): void {
    this.#counts[state] += change;
    if (plannedQuorum === undefined || !startingStates.has(state)) return;
    addCount(this.#boundByQuorum, plannedQuorum, change);
  }

  #setPending(pod: Pod): void {
    this.pending.set(pod.uid, pod);
    addCount(this.pendingBySchedulerName, pod.schedulerName, 1);
  }

  /**
   * Only what the API confirms starts a group; a plan does not. What its quorum was when they were bound counts as well as what it is: the watch may
   * tell that it has been raised since before it tells that they are bound.
   */
  #noteStart(): void {
    if (this.started || this.spec === undefined) return;
    const { bound, stranded, succeeded } = this.#counts;
    this.started = this.spec.started || bound + stranded + succeeded >= this.spec.minMember || this.#hasHadQuorum();
  }

  #hasHadQuorum(): boolean {
    for (const [quorum, count] of this.#boundByQuorum) if (count >= quorum) return true;
    return false;
  }

  #stateOf(pod: Pod): MemberState {
    if (pod.phase === 'Failed') return 'failed';
    if (pod.deleting && !isTerminal(pod)) return 'leaving';
    const plan = this.#plans.get(pod.uid);
    if (this.spec !== undefined && isOfAnother(pod, plan, this.spec.uid)) return 'former';
    if (pod.phase === 'Succeeded') return 'succeeded';
    if (pod.nodeName !== '') return this.#stranded.has(pod.uid) ? 'stranded' : 'bound';
    if (plan !== undefined) return 'planned';
    return pod.schedulingGates.length > 0 ? 'gated' : 'pending';
  }
}

/** Moves every key that is out of its place to the end, in order. */
function reorder<T>(map: Map<string, T>, order: readonly string[]): void {
  const isInPlace = keysInOrder(map, order);
  if (isInPlace) return;
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

/** A Binding says for which group; until it is seen, the plan does. */
function isOfAnother(pod: Pod, plan: MemberPlan | undefined, groupUid: string): boolean {
  if (plan === undefined) return isBoundForAnother(pod, groupUid);
  return plan.groupKey !== pod.podGroupKey || (plan.groupUid !== undefined && plan.groupUid !== groupUid);
}

/** Whether the group would be ready without the scheduling gates of its members. */
export function onlyGatesAreShut(gang: GangView): boolean {
  const gated = gang.count('gated');
  const able = gang.counted + gang.pending.size;
  const { minMember } = gang.spec ?? { minMember: Infinity };
  return able < minMember && able + gated >= minMember;
}
