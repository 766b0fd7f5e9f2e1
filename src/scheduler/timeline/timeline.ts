import type { Pod } from '../../api/pod.ts';
import { isTerminal } from '../../api/pod.ts';
import type { TransitionKind } from '../../api/timeline/transition-kind.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Profiles } from '../profiles.ts';
import { stateOfGroup, stateOfPod } from './entity-states.ts';
import { ShortReasons } from './short-reasons.ts';
import { TransitionRing } from './transition-ring.ts';
import type { NewEntry } from './transition-ring.ts';

export interface TimelineOptions {
  readonly cluster: Pick<Cluster, 'gang' | 'gangs' | 'isAssumed' | 'pod'>;
  readonly queue: Pick<SchedulingQueue, 'get'>;
  readonly profiles: Pick<Profiles, 'isOurs' | 'decidesGangs'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Default: 20,000. */
  readonly maxEntries?: number;
}

/** A group and what its last transition said of it. */
interface Lane {
  readonly queueKey: EntityKey;
  state: TimelineState;
  bound: number;
  /** -1: the PodGroup does not exist. */
  minMember: number;
  started: boolean;
  /** Position of its latest entry; -1: it has none. */
  position: number;
}

/**
 * Records what happens to groups, and to pods that are scheduled alone: where it is decided, and always. It keeps names and numbers, no pods. A
 * member is recorded as a transition of its group. Equal transitions that follow each other are one entry with a count.
 *
 * The caller has updated the cluster cache and the queue. The record begins empty with `begin`.
 */
export class Timeline {
  readonly ring: TransitionRing;
  readonly #options: TimelineOptions;
  /** group key -> its lane, for groups in the cluster cache */
  readonly #lanes = new Map<string, Lane>();
  /** uid of a pod alone -> position of its latest entry, if that may become a run */
  readonly #runs = new Map<string, number>();
  readonly #reasons = new ShortReasons();
  /** The transition that is being recorded. */
  readonly #entry: NewEntry = newEntry();
  #epoch = '';
  #begunAt = 0;
  /** Key of the group for which `podChanged` has recorded the change. The call of `groupChanged` for the same change follows. */
  #recordedGroup: string | undefined;
  /** Called with the position of each entry that came or grew. Undefined: nothing follows the record. */
  #follower: ((position: number) => void) | undefined;

  constructor(options: TimelineOptions) {
    this.#options = options;
    this.ring = new TransitionRing(options.maxEntries);
  }

  /** Identifies the time since `begin`; empty before. */
  get epoch(): string {
    return this.#epoch;
  }

  /** Milliseconds since the epoch since which all transitions are held. */
  get heldSince(): number {
    return Math.max(this.#begunAt, this.ring.heldSince ?? 0);
  }

  /** Returns the key of the entity that a pod is recorded under; undefined: another scheduler schedules it alone. */
  keyOf(pod: Pod): EntityKey | undefined {
    const group = this.#groupOf(pod);
    if (group !== undefined) return `gang/${group}`;
    return this.#options.profiles.isOurs(pod.schedulerName) ? `pod/${pod.uid}` : undefined;
  }

  /** The process leads now, and the cache has synced. Takes over the groups as they are. */
  begin(epoch: string): void {
    this.#epoch = epoch;
    this.#begunAt = this.#options.clock.now();
    this.ring.clear();
    this.#runs.clear();
    this.#lanes.clear();
    for (const gang of this.#options.cluster.gangs()) {
      this.#remember(this.#newLane(gang.key), gang);
    }
  }

  /** Calls back for each entry until the returned function is called. At most one caller at a time. */
  follow(follower: (position: number) => void): () => void {
    this.#follower = follower;
    return () => (this.#follower = undefined);
  }

  /** A pod was created (`before` is undefined), has changed or was deleted (`now` is undefined), as the API shows it. */
  podChanged(before: Pod | undefined, now: Pod | undefined): void {
    const oldGroup = before && this.#groupOf(before);
    const newGroup = now && this.#groupOf(now);
    if (oldGroup !== newGroup && before !== undefined && now !== undefined) {
      if (oldGroup !== undefined) this.#groupTransition(oldGroup, 'Removed');
      this.#begin('Added');
      if (newGroup !== undefined) this.#recordGroup(newGroup);
      else this.#recordPod(now);
      return;
    }
    const key = newGroup ?? oldGroup;
    const kind = kindOf(before, now, key !== undefined);
    if (kind === undefined) return;
    const pod = (now ?? before)!;
    const entry = this.#begin(kind);
    if (kind === 'Bound' || kind === 'Lost') entry.node = pod.nodeName;
    if (kind === 'Lost' || kind === 'Failed') entry.detail = this.#reasons.of(howLost(now));
    if (key === undefined) {
      this.#recordPod(pod, now === undefined);
      return;
    }
    this.#recordGroup(key);
    this.#recordedGroup = key;
  }

  /** The group object or a member has changed, and `podChanged` was called for the members. */
  groupChanged(key: string): void {
    const isRecorded = this.#recordedGroup === key;
    this.#recordedGroup = undefined;
    if (isRecorded) return;
    const gang = this.#options.cluster.gang(key);
    const lane = this.#lanes.get(key);
    if (gang === undefined) {
      if (lane !== undefined) this.#groupTransition(key, 'Removed');
      return;
    }
    if (lane === undefined) {
      this.#groupTransition(key, 'Added');
      return;
    }
    const isSame =
      lane.minMember === (gang.spec?.minMember ?? -1) &&
      lane.started === gang.started &&
      lane.bound === boundIn(gang) &&
      lane.state === this.#stateOf(lane, gang);
    if (!isSame) this.#groupTransition(key, 'Changed');
  }

  /** An attempt, or one of an equal entity, has found no nodes. */
  rejected(schedulingEntity: SchedulingEntity, verdict: Verdict): void {
    const entry = this.#begin('Rejected');
    entry.waitsFor = verdict.waitsFor;
    entry.detail = this.#reasons.ofVerdict(verdict);
    this.#record(schedulingEntity);
  }

  /** The members are assumed on their nodes. */
  planned(schedulingEntity: SchedulingEntity, assignments: readonly { readonly nodeName: string }[]): void {
    const entry = this.#begin('Planned');
    const node = assignments[0]?.nodeName;
    entry.node = assignments.every(({ nodeName }) => nodeName === node) ? node : undefined;
    this.#record(schedulingEntity);
  }

  /** These members are no longer assumed on their nodes, because they could not be bound. */
  bindingFailed(pods: readonly Pod[], message: string): void {
    const { cluster } = this.#options;
    const reason = this.#reasons.of(message);
    const groups = new Set<string>();
    for (const { uid } of pods) {
      const pod = cluster.pod(uid);
      // The watch may have shown that it is bound all the same.
      if (pod?.nodeName !== '') continue;
      const key = this.#groupOf(pod);
      if (key !== undefined && groups.has(key)) continue;
      this.#begin('BindingFailed').detail = reason;
      if (key === undefined) this.#recordPod(pod);
      else this.#recordGroup(key);
      if (key !== undefined) groups.add(key);
    }
  }

  /** Capacity is kept for the owner. */
  reserved(reservation: Reservation): void {
    this.#ofReservation('Reserved', reservation);
  }

  reservationEnded(reservation: Reservation): void {
    this.#ofReservation('ReservationEnded', reservation);
  }

  /** The pod is evicted for another entity. */
  preempted(pod: Pod, by: EntityKey): void {
    const entry = this.#begin('Preempted');
    entry.detail = by;
    entry.node = pod.nodeName;
    this.#record({ kind: 'pod', pod });
  }

  /** The bound members of the group are evicted, because it cannot be completed. */
  released({ key }: Gang): void {
    this.#groupTransition(key, 'Released');
  }

  /** Returns the group that a pod is recorded under; undefined: it is an entity of its own. */
  #groupOf({ podGroupKey, schedulerName }: Pod): string | undefined {
    const { profiles } = this.#options;
    const ignoresGroups =
      podGroupKey !== undefined && profiles.isOurs(schedulerName) && !profiles.decidesGangs(schedulerName);
    return ignoresGroups ? undefined : podGroupKey;
  }

  #ofReservation(kind: 'Reserved' | 'ReservationEnded', reservation: Reservation): void {
    const entry = this.#begin(kind);
    entry.detail = reservation.kind;
    entry.node = reservation.nodeName;
    const key = this.#groupOf(reservation.owner);
    // The group may be gone, and its reservations end after that. An owner may be a placeholder.
    if (key !== undefined) {
      if (this.#lanes.has(key)) this.#recordGroup(key);
      return;
    }
    const pod = this.#options.cluster.pod(reservation.owner.uid);
    if (pod !== undefined) this.#recordPod(pod);
  }

  #groupTransition(key: string, kind: TransitionKind): void {
    this.#begin(kind);
    this.#recordGroup(key);
  }

  /** Returns the transition to record next. The caller sets what the cluster cache does not show. */
  #begin(kind: TransitionKind): NewEntry {
    const entry = this.#entry;
    entry.kind = kind;
    entry.node = entry.waitsFor = entry.detail = undefined;
    return entry;
  }

  #record(schedulingEntity: SchedulingEntity): void {
    if (schedulingEntity.kind === 'gang') {
      this.#recordGroup(schedulingEntity.gang.key);
      return;
    }
    const key = this.#groupOf(schedulingEntity.pod);
    // The watch may have shown the end of a pod before the scheduler learns what became of its request.
    const pod = this.#options.cluster.pod(schedulingEntity.pod.uid);
    if (key !== undefined) this.#recordGroup(key);
    else if (pod !== undefined) this.#recordPod(pod);
  }

  #recordPod(pod: Pod, isGone = false): void {
    const { cluster, profiles, clock } = this.#options;
    if (this.#epoch === '' || !profiles.isOurs(pod.schedulerName)) return;
    const entry = this.#entry;
    const { uid } = pod;
    entry.id = uid;
    entry.pod = pod;
    entry.state = isGone ? 'Gone' : stateOfPod(pod, cluster.isAssumed(uid));
    entry.hasCounts = false;
    entry.time = clock.now();
    const run = this.#runs.size === 0 ? undefined : this.#runs.get(uid);
    if (run !== undefined && this.ring.grow(run, entry)) {
      this.#follower?.(run);
    } else {
      const position = this.#append();
      if (mayRun(entry.kind)) this.#runs.set(uid, position);
      else if (run !== undefined) this.#runs.delete(uid);
    }
    entry.pod = undefined;
  }

  #recordGroup(key: string): void {
    if (this.#epoch === '') return;
    const gang = this.#options.cluster.gang(key);
    const known = this.#lanes.get(key);
    if (gang === undefined && known === undefined) return;
    const lane = known ?? this.#newLane(key);
    const { state: before, started: hadStarted } = lane;
    const entry = this.#entry;
    entry.id = key;
    entry.hasCounts = gang !== undefined;
    if (gang === undefined) lane.state = 'Gone';
    else {
      this.#remember(lane, gang);
      entry.members = gang.members.size;
      entry.planned = gang.countsByState.planned;
      entry.bound = lane.bound;
      entry.minMember = lane.minMember;
      entry.started = lane.started;
    }
    entry.state = lane.state;
    entry.kind = kindForGroup(entry.kind, before, lane.state, !hadStarted && lane.started);
    entry.time = this.#options.clock.now();
    if (this.ring.grow(lane.position, entry)) this.#follower?.(lane.position);
    else lane.position = this.#append();
    if (gang === undefined) this.#lanes.delete(key);
  }

  #append(): number {
    const { ring } = this;
    const dropped = this.#runs.size === 0 ? undefined : ring.nextToDrop;
    if (dropped !== undefined) {
      const { id } = ring.entityAt(dropped);
      if (this.#runs.get(id) === dropped) this.#runs.delete(id);
    }
    const position = ring.append(this.#entry);
    this.#follower?.(position);
    return position;
  }

  #newLane(key: string): Lane {
    const queueKey = `gang/${key}`;
    const lane: Lane = { queueKey, state: 'NotReady', bound: 0, minMember: -1, started: false, position: -1 };
    this.#lanes.set(key, lane);
    return lane;
  }

  #remember(lane: Lane, gang: Gang): void {
    lane.state = this.#stateOf(lane, gang);
    lane.bound = boundIn(gang);
    lane.minMember = gang.spec?.minMember ?? -1;
    lane.started = gang.started;
  }

  #stateOf({ queueKey }: Lane, gang: Gang): TimelineState {
    return stateOfGroup(gang, () => this.#options.queue.get(queueKey)?.state.kind);
  }
}

/** Returns what the change of a pod is; undefined: it is nothing that the timeline shows. */
function kindOf(before: Pod | undefined, now: Pod | undefined, isMember: boolean): TransitionKind | undefined {
  const wasOnNode = before !== undefined && before.nodeName !== '' && !isTerminal(before);
  if (now === undefined) return isMember && wasOnNode && !before.deleting ? 'Lost' : 'Removed';
  const wasTerminal = before !== undefined && isTerminal(before);
  if (isTerminal(now)) {
    if (wasTerminal) return undefined;
    if (now.phase === 'Succeeded') return 'Succeeded';
    return isMember && wasOnNode ? 'Lost' : 'Failed';
  }
  if (now.nodeName !== '' && !wasOnNode) return 'Bound';
  if (before === undefined) return 'Added';
  if (now.deleting && !before.deleting) return 'Terminating';
  if (!isMember && before.schedulingGates.length > 0 && now.schedulingGates.length === 0) return 'Ready';
  return undefined;
}

function howLost(now: Pod | undefined): string {
  if (now === undefined) return 'deleted';
  return now.failedBecause ?? now.disruptedBy ?? 'failed';
}

/** Returns the kind for what a change means to the whole group, if that is more than the change of one member. */
function kindForGroup(
  kind: TransitionKind,
  before: TimelineState,
  state: TimelineState,
  starts: boolean,
): TransitionKind {
  if (kind === 'Bound') {
    if (starts) return 'Started';
    return state === 'Running' && before === 'Degraded' ? 'Repaired' : kind;
  }
  const becomesReady = state === 'Waiting' && before === 'NotReady';
  return becomesReady && (kind === 'Added' || kind === 'Changed') ? 'Ready' : kind;
}

/** Returns whether a pod alone may have several transitions of this kind in a row. */
function mayRun(kind: TransitionKind): boolean {
  return kind === 'Rejected' || kind === 'Reserved' || kind === 'ReservationEnded' || kind === 'BindingFailed';
}

/** Returns how many members are on nodes, as the API shows it. */
function boundIn({ countsByState: { bound, stranded } }: Gang): number {
  return bound + stranded;
}

function newEntry(): NewEntry {
  return {
    ...{ id: '', pod: undefined, kind: 'Unknown', state: 'Unknown', time: 0 },
    ...{ hasCounts: false, members: 0, planned: 0, bound: 0, minMember: -1, started: false },
    ...{ node: undefined, waitsFor: undefined, detail: undefined },
  };
}
