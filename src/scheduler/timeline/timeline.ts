import type { Pod } from '../../api/pod.ts';
import { isTerminal } from '../../api/pod.ts';
import type { TransitionKind } from '../../api/timeline/transition-kind.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import type { MemberCounts } from '../../api/timeline/transition.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Profiles } from '../profiles.ts';
import { countsOf, stateOfGroup, stateOfPod } from './entity-states.ts';
import { ShortReasons } from './short-reasons.ts';
import { TransitionRing } from './transition-ring.ts';
import type { RecordedEntity, TransitionContent } from './transition-ring.ts';

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
  readonly entity: RecordedEntity;
  readonly queueKey: EntityKey;
  state: TimelineState;
  counts: MemberCounts | undefined;
  /** Position of its latest entry; -1: it has none. */
  position: number;
}

/** What a transition says besides its kind and what the cluster cache shows. */
type Details = Partial<Pick<TransitionContent, 'node' | 'waitsFor' | 'reason' | 'by'>>;

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
  #epoch = '';
  #begunAt = 0;
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
      const lane = this.#newLane(gang.key);
      lane.counts = countsOf(gang);
      lane.state = this.#stateOf(lane, gang);
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
      if (newGroup !== undefined) this.#groupTransition(newGroup, 'Added');
      else this.#podTransition(now, 'Added');
      return;
    }
    const key = newGroup ?? oldGroup;
    const kind = kindOf(before, now, key !== undefined);
    if (kind === undefined) return;
    const pod = (now ?? before)!;
    const node = kind === 'Bound' || kind === 'Lost' ? pod.nodeName : undefined;
    const reason = kind === 'Lost' || kind === 'Failed' ? this.#reasons.of(howLost(now)) : undefined;
    const details = { ...(node !== undefined && { node }), ...(reason !== undefined && { reason }) };
    if (key !== undefined) this.#groupTransition(key, kind, details);
    else this.#podTransition(pod, kind, details, now === undefined ? 'Gone' : undefined);
  }

  /** The group object or a member has changed, and `podChanged` was called for the members. */
  groupChanged(key: string): void {
    const { cluster } = this.#options;
    const gang = cluster.gang(key);
    const lane = this.#lanes.get(key);
    if (gang === undefined) {
      if (lane !== undefined) this.#groupTransition(key, 'Removed');
      return;
    }
    if (lane === undefined) {
      this.#groupTransition(key, 'Added');
      return;
    }
    const { counts } = lane;
    const isSame =
      counts?.minMember === gang.spec?.minMember &&
      counts?.started === gang.started &&
      counts.bound === gang.count('bound') + gang.count('stranded') &&
      lane.state === this.#stateOf(lane, gang);
    if (!isSame) this.#groupTransition(key, 'Changed');
  }

  /** An attempt, or one of an equal entity, has found no nodes. */
  rejected(schedulingEntity: SchedulingEntity, verdict: Verdict): void {
    const { waitsFor } = verdict;
    this.#transition(schedulingEntity, 'Rejected', { waitsFor, reason: this.#reasons.ofVerdict(verdict) });
  }

  /** The members are assumed on their nodes. */
  planned(schedulingEntity: SchedulingEntity, nodeNames: readonly string[]): void {
    const [node] = nodeNames;
    const isOne = node !== undefined && nodeNames.every((other) => other === node);
    this.#transition(schedulingEntity, 'Planned', isOne ? { node } : {});
  }

  /** These members are no longer assumed on their nodes, because they could not be bound. */
  bindingFailed(pods: readonly Pod[], message: string): void {
    const { cluster } = this.#options;
    const known = pods.flatMap(({ uid }) => cluster.pod(uid) ?? []).filter(({ nodeName }) => nodeName === '');
    const reason = this.#reasons.of(message);
    const groups = new Set(known.map((pod) => this.#groupOf(pod)));
    for (const key of groups) if (key !== undefined) this.#groupTransition(key, 'BindingFailed', { reason });
    for (const pod of known)
      if (this.#groupOf(pod) === undefined) this.#podTransition(pod, 'BindingFailed', { reason });
  }

  /** Capacity is kept for the owner. */
  reserved({ kind, owner, nodeName }: Reservation): void {
    this.#ofOwner(owner, 'Reserved', { reason: kind, node: nodeName });
  }

  reservationEnded({ kind, owner, nodeName }: Reservation): void {
    this.#ofOwner(owner, 'ReservationEnded', { reason: kind, node: nodeName });
  }

  /** The pod is evicted for another entity. */
  preempted(pod: Pod, by: EntityKey): void {
    this.#transition({ kind: 'pod', pod }, 'Preempted', { by, node: pod.nodeName });
  }

  /** The bound members of the group are evicted, because it cannot be completed. */
  released({ key }: GangView): void {
    this.#groupTransition(key, 'Released');
  }

  /** Returns the group that a pod is recorded under; undefined: it is an entity of its own. */
  #groupOf({ podGroupKey, schedulerName }: Pod): string | undefined {
    const { profiles } = this.#options;
    const ignoresGroups =
      podGroupKey !== undefined && profiles.isOurs(schedulerName) && !profiles.decidesGangs(schedulerName);
    return ignoresGroups ? undefined : podGroupKey;
  }

  #ofOwner(owner: Pod, kind: TransitionKind, details: Details): void {
    const key = this.#groupOf(owner);
    if (key !== undefined) {
      // The group may be gone, and its reservations end after that.
      if (this.#lanes.has(key)) this.#groupTransition(key, kind, details);
      return;
    }
    const pod = this.#options.cluster.pod(owner.uid);
    if (pod !== undefined) this.#podTransition(pod, kind, details);
  }

  #transition(schedulingEntity: SchedulingEntity, kind: TransitionKind, details: Details): void {
    if (schedulingEntity.kind === 'gang') {
      this.#groupTransition(schedulingEntity.gang.key, kind, details);
      return;
    }
    const key = this.#groupOf(schedulingEntity.pod);
    // The watch may have shown the end of a pod before the scheduler learns what became of its request.
    const pod = this.#options.cluster.pod(schedulingEntity.pod.uid);
    if (key !== undefined) this.#groupTransition(key, kind, details);
    else if (pod !== undefined) this.#podTransition(pod, kind, details);
  }

  #podTransition(pod: Pod, kind: TransitionKind, details: Details = {}, end?: 'Gone'): void {
    const { cluster, profiles } = this.#options;
    if (this.#epoch === '' || !profiles.isOurs(pod.schedulerName)) return;
    const { uid } = pod;
    const state = end ?? stateOfPod(pod, cluster.isAssumed(uid));
    const content = contentOf(kind, state, undefined, details);
    const now = this.#options.clock.now();
    const run = this.#runs.size === 0 ? undefined : this.#runs.get(uid);
    if (run !== undefined && this.ring.grow(run, content, now)) {
      this.#follower?.(run);
      return;
    }
    const position = this.#append({ id: uid, pod }, content, now);
    if (mayRun(kind)) this.#runs.set(uid, position);
    else if (run !== undefined) this.#runs.delete(uid);
  }

  #groupTransition(key: string, given: TransitionKind, details: Details = {}): void {
    if (this.#epoch === '') return;
    const gang = this.#options.cluster.gang(key);
    const known = this.#lanes.get(key);
    if (gang === undefined && known === undefined) return;
    const lane = known ?? this.#newLane(key);
    const before = lane.state;
    const counts = gang && countsOf(gang);
    const state = gang === undefined ? 'Gone' : this.#stateOf(lane, gang);
    const kind = kindForGroup(given, before, state, lane.counts, counts);
    const content = contentOf(kind, state, counts, details);
    const now = this.#options.clock.now();
    lane.state = state;
    lane.counts = counts;
    if (this.ring.grow(lane.position, content, now)) this.#follower?.(lane.position);
    else lane.position = this.#append(lane.entity, content, now);
    if (gang === undefined) this.#lanes.delete(key);
  }

  #append(entity: RecordedEntity, content: TransitionContent, now: number): number {
    const { ring } = this;
    const dropped = this.#runs.size === 0 ? undefined : ring.nextToDrop;
    if (dropped !== undefined) {
      const { id } = ring.entityAt(dropped);
      if (this.#runs.get(id) === dropped) this.#runs.delete(id);
    }
    const position = ring.append(entity, content, now);
    this.#follower?.(position);
    return position;
  }

  #newLane(key: string): Lane {
    const lane: Lane = {
      entity: { id: key },
      queueKey: `gang/${key}`,
      state: 'NotReady',
      counts: undefined,
      position: -1,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  #stateOf({ queueKey }: Lane, gang: GangView): TimelineState {
    return stateOfGroup(gang, this.#options.queue.get(queueKey)?.state.kind);
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
  countsBefore: MemberCounts | undefined,
  counts: MemberCounts | undefined,
): TransitionKind {
  if (kind === 'Bound') {
    if (counts?.started === true && countsBefore?.started !== true) return 'Started';
    return state === 'Running' && before === 'Degraded' ? 'Repaired' : kind;
  }
  const becomesReady = state === 'Waiting' && before === 'NotReady';
  return becomesReady && (kind === 'Added' || kind === 'Changed') ? 'Ready' : kind;
}

/** Returns whether a pod alone may have several transitions of this kind in a row. */
function mayRun(kind: TransitionKind): boolean {
  return kind === 'Rejected' || kind === 'Reserved' || kind === 'ReservationEnded' || kind === 'BindingFailed';
}

function contentOf(
  kind: TransitionKind,
  state: TimelineState,
  counts: MemberCounts | undefined,
  { node, waitsFor, reason, by }: Details,
): TransitionContent {
  return { kind, state, counts, node, waitsFor, reason, by };
}
