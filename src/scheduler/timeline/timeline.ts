import type { Pod } from '../../api/pod.ts';
import { isTerminal } from '../../api/pod.ts';
import type { TransitionKind } from '../../api/timeline/transition-kind.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
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

/** An entity after an attempt. */
type RecordableEntity = Pick<QueuedEntity, 'schedulingEntity' | 'rejectionPosition'>;

/** What this process does with the pods of a schedulerName. */
interface SchedulerNamePolicy {
  readonly schedulerName: string;
  readonly isOurs: boolean;
  readonly ignoresGroups: boolean;
}

/** A group and what its last transition said of it. */
interface Lane {
  /** Key of the group. Members have equal strings, but comparing this one with itself is faster. */
  readonly key: string;
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
  readonly #reasons = new ShortReasons();
  /** The transition that is being recorded. */
  readonly #entry: NewEntry = newEntry();
  /** Of the schedulerName that was asked for last: most pods have the same. */
  #policy: SchedulerNamePolicy = { schedulerName: '', isOurs: false, ignoresGroups: false };
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
    return Math.max(this.#begunAt, this.ring.heldSince);
  }

  /** Returns the key of the entity that a pod is recorded under; undefined: another scheduler schedules it alone. */
  keyOf(pod: Pod): EntityKey | undefined {
    const group = this.#groupOf(pod);
    if (group !== undefined) return `gang/${group}`;
    return this.#policyOf(pod.schedulerName).isOurs ? `pod/${pod.uid}` : undefined;
  }

  /** The process leads now, and the cache has synced. Takes over the groups as they are. */
  begin(epoch: string): void {
    this.#epoch = epoch;
    this.#begunAt = this.#options.clock.now();
    this.ring.clear();
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

  /** A pod was created (`before` is undefined), has changed or was deleted (`now` is undefined), as the API shows it since `time`. */
  podChanged(before: Pod | undefined, now: Pod | undefined, time: number): void {
    if (this.#epoch === '') return;
    const pod = (now ?? before)!;
    const key = this.#groupOf(pod);
    if (before !== undefined && before.podGroupKey !== pod.podGroupKey && this.#groupOf(before) !== key) {
      this.#movedToOtherGroup(before, pod, time);
      return;
    }
    const kind = kindOf(before, now, key !== undefined);
    if (kind === undefined) return;
    const entry = this.#begin(kind, time);
    if (kind === 'Bound' || kind === 'Lost') entry.node = pod.nodeName;
    if (kind === 'Lost' || kind === 'Failed') entry.detail = this.#reasons.of(howLost(now));
    if (key !== undefined) {
      this.#recordGroup(key);
      this.#recordedGroup = key;
    } else if (now === undefined) {
      this.#recordEndOfPod(pod);
    } else {
      // A new pod is assumed nowhere, and this saves the lookup.
      this.#recordPod(pod, before === undefined ? stateOfPod(pod, noPlans) : undefined);
    }
  }

  /** The group object or a member has changed, and `podChanged` was called for the members. */
  groupChanged(key: string): void {
    if (this.#epoch === '') return;
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
      lane.state === stateOfGroup(gang, this.#options.queue, lane.queueKey);
    if (!isSame) this.#groupTransition(key, 'Changed');
  }

  /** An attempt, or one of an equal entity, has found no nodes. */
  rejected(entity: RecordableEntity, verdict: Verdict): void {
    if (this.#epoch === '') return;
    const entry = this.#begin('Rejected');
    entry.waitsFor = verdict.waitsFor;
    entry.detail = this.#reasons.ofVerdict(verdict);
    const key = this.#groupIn(entity);
    if (key !== undefined) this.#recordGroup(key);
    else this.#recordRejectionOfPod(entity);
  }

  /** The members are assumed on their nodes. */
  planned(entity: RecordableEntity, assignments: readonly { readonly nodeName: string }[]): void {
    if (this.#epoch === '') return;
    const entry = this.#begin('Planned');
    const node = assignments[0]?.nodeName;
    entry.node = assignments.every(({ nodeName }) => nodeName === node) ? node : undefined;
    const key = this.#groupIn(entity);
    if (key !== undefined) {
      this.#recordGroup(key);
      return;
    }
    entity.rejectionPosition = -1;
    if (entity.schedulingEntity.kind !== 'pod') return;
    const pod = this.#podAlone(entity.schedulingEntity.pod.uid);
    if (pod !== undefined) this.#recordPod(pod, 'Starting');
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
  preempted({ uid, nodeName }: Pod, by: EntityKey): void {
    const pod = this.#options.cluster.pod(uid);
    // The watch may have shown its end before.
    if (pod === undefined) return;
    const entry = this.#begin('Preempted');
    entry.detail = by;
    entry.node = nodeName;
    const key = this.#groupOf(pod);
    if (key === undefined) this.#recordPod(pod);
    else this.#recordGroup(key);
  }

  /** The bound members of the group are evicted, because it cannot be completed. */
  released({ key }: Gang): void {
    this.#groupTransition(key, 'Released');
  }

  /** Returns the group that a pod is recorded under; undefined: it is an entity of its own. */
  #groupOf({ podGroupKey, schedulerName }: Pod): string | undefined {
    return podGroupKey === undefined || this.#policyOf(schedulerName).ignoresGroups ? undefined : podGroupKey;
  }

  #groupIn({ schedulingEntity }: RecordableEntity): string | undefined {
    return schedulingEntity.kind === 'gang' ? schedulingEntity.gang.key : this.#groupOf(schedulingEntity.pod);
  }

  #policyOf(schedulerName: string): SchedulerNamePolicy {
    if (this.#policy.schedulerName !== schedulerName) {
      const { profiles } = this.#options;
      const isOurs = profiles.isOurs(schedulerName);
      this.#policy = { schedulerName, isOurs, ignoresGroups: isOurs && !profiles.decidesGangs(schedulerName) };
    }
    return this.#policy;
  }

  #movedToOtherGroup(before: Pod, now: Pod, time: number): void {
    const [oldKey, newKey] = [this.#groupOf(before), this.#groupOf(now)];
    this.#begin('Removed', time);
    if (oldKey !== undefined) this.#recordGroup(oldKey);
    else this.#recordEndOfPod(before);
    this.#endRunOf(now);
    this.#begin('Added', time);
    if (newKey !== undefined) this.#recordGroup(newKey);
    else this.#recordPod(now);
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
    const pod = this.#podAlone(reservation.owner.uid);
    if (pod !== undefined) this.#recordPod(pod);
  }

  /**
   * Returns the pod as it is now; undefined: it has gone, or has joined a group. The watch may have shown that since the caller read the pod, and the
   * transition with which it has gone must stay its last.
   */
  #podAlone(uid: string): Pod | undefined {
    const pod = this.#options.cluster.pod(uid);
    return pod === undefined || this.#groupOf(pod) !== undefined ? undefined : pod;
  }

  #groupTransition(key: string, kind: TransitionKind): void {
    this.#begin(kind);
    this.#recordGroup(key);
  }

  /** Returns the transition to record next. The caller sets what the cluster cache does not show. */
  #begin(kind: TransitionKind, time = this.#options.clock.now()): NewEntry {
    const entry = this.#entry;
    entry.kind = kind;
    entry.time = Math.trunc(time);
    entry.node = entry.waitsFor = entry.detail = undefined;
    return entry;
  }

  #recordPod(pod: Pod, state = stateOfPod(pod, this.#options.cluster)): void {
    if (!this.#begins(pod, state)) return;
    // A later rejection is another run.
    if (state === 'Waiting' && this.#entry.kind !== 'Added') this.#endRunOf(pod);
    this.#append(pod.uid);
  }

  #recordRejectionOfPod(entity: RecordableEntity): void {
    if (entity.schedulingEntity.kind !== 'pod') return;
    const { uid } = entity.schedulingEntity.pod;
    const pod = this.#podAlone(uid);
    if (pod === undefined || !this.#begins(pod, stateOfPod(pod, noPlans))) return;
    const run = entity.rejectionPosition;
    if (this.ring.grow(run, uid, this.#entry)) this.#follower?.(run);
    else entity.rejectionPosition = this.#append(uid);
  }

  #recordEndOfPod(pod: Pod): void {
    const entry = this.#entry;
    entry.node = pod.namespace;
    entry.detail = pod.name;
    if (this.#begins(pod, 'Gone')) this.#append(pod.uid);
  }

  /** Returns whether the transition of this pod alone is recorded. */
  #begins({ schedulerName }: Pod, state: TimelineState): boolean {
    const entry = this.#entry;
    entry.isPod = true;
    entry.hasCounts = false;
    entry.state = state;
    return this.#epoch !== '' && this.#policyOf(schedulerName).isOurs;
  }

  #endRunOf({ uid }: Pod): void {
    const entity = this.#options.queue.get(`pod/${uid}`);
    if (entity !== undefined) entity.rejectionPosition = -1;
  }

  #recordGroup(key: string): void {
    if (this.#epoch === '') return;
    const gang = this.#options.cluster.gang(key);
    const known = this.#lanes.get(key);
    if (gang === undefined && known === undefined) return;
    const lane = known ?? this.#newLane(key);
    const { state: before, started: hadStarted } = lane;
    const entry = this.#entry;
    entry.isPod = false;
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
    if (this.ring.grow(lane.position, lane.key, entry)) this.#follower?.(lane.position);
    else lane.position = this.#append(lane.key);
    if (gang === undefined) this.#lanes.delete(key);
  }

  #append(id: string): number {
    const position = this.ring.append(id, this.#entry);
    this.#follower?.(position);
    return position;
  }

  #newLane(key: string): Lane {
    const queueKey = `gang/${key}`;
    const lane: Lane = { key, queueKey, state: 'NotReady', bound: 0, minMember: -1, started: false, position: -1 };
    this.#lanes.set(key, lane);
    return lane;
  }

  #remember(lane: Lane, gang: Gang): void {
    lane.state = stateOfGroup(gang, this.#options.queue, lane.queueKey);
    lane.bound = boundIn(gang);
    lane.minMember = gang.spec?.minMember ?? -1;
    lane.started = gang.started;
  }
}

/** For pods that are assumed on no node. */
const noPlans = { isAssumed: () => false };

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

/** Returns how many members are on nodes, as the API shows it. */
function boundIn({ countsByState: { bound, stranded } }: Gang): number {
  return bound + stranded;
}

function newEntry(): NewEntry {
  return {
    ...{ isPod: false, kind: 'Unknown', state: 'Unknown', time: 0 },
    ...{ hasCounts: false, members: 0, planned: 0, bound: 0, minMember: -1, started: false },
    ...{ node: undefined, waitsFor: undefined, detail: undefined },
  };
}
