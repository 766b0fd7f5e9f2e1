import type { Pod } from '../api/pod.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { Heap } from '../base/heap.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { Retry } from '../framework/event-hints.ts';
import type { Candidate } from '../framework/candidate.ts';
import type { Status } from '../framework/status.ts';
import { AttemptsUnderWay } from './attempts-under-way.ts';
import { BackoffStore } from './backoff-store.ts';
import { CalledLines } from './called-lines.ts';
import { GatedEntities } from './gated-entities.ts';
import type { Line } from './line.ts';
import { ParkedEntities } from './parked-entities.ts';
import type { Failure } from './failure.ts';
import type { QueueObserver, QueuePolicy } from './queue-policy.ts';
import { entityKeyOf, groupUidOf, newEntity, nobody } from './queued-entity.ts';
import type { EntityKey, QueuedEntity } from './queued-entity.ts';

export interface SchedulingQueueOptions {
  readonly clock: Clock;
  readonly policy: QueuePolicy;
  readonly observer: QueueObserver;
  /** Default: kube-scheduler's 1 s, doubling to 10 s. */
  readonly backoff?: BackoffPolicy;
  /** An entity that no event has helped for so long is tried again; default 5 minutes. A safety net that counts as a missed hint. */
  readonly maxUnschedulableMs?: number;
}

const flushIntervalMs = 30_000;
const flushEvent = 'UnschedulableTimeout';
/** What would be refused again is tried all the same after so long, a few at each flush, to find out what bars it now. */
const outdatedMs = 60_000;
const retoldAtOnce = 100;
const activateEvent = 'ForceActivate';

/** What is known of a change of a candidate. */
export interface CandidateChange {
  /** When its entity counts as ready if this makes it so, milliseconds since the epoch; default now. */
  readonly since?: number;
  /** It asks for something else than before: what it was told no longer holds. */
  readonly asksElse?: boolean;
}

/** What has become of an entity so far. */
type Past = Pick<QueuedEntity, 'attempts' | 'refusals' | 'errors' | 'erredAt' | 'readySince'>;

/**
 * Entities that wait to be scheduled, in kube-scheduler's three stores plus the gated ones.
 *
 * A failure costs back-off, not rank: a failed entity leaves the active store until an event may help it, so nothing is
 * blocked behind it. Events that arrive while an entity's cycle runs are replayed when it fails.
 */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #policy: QueuePolicy;
  readonly #observer: QueueObserver;
  readonly #maxUnschedulableMs: number;
  /** A refusal so long after the last error ends its row. */
  readonly #errorsHoldMs: number;
  /** key -> entity, wherever it is */
  readonly #entities = new Map<EntityKey, QueuedEntity>();
  readonly #active: Heap<QueuedEntity>;
  readonly #backingOff: BackoffStore;
  /** Entities that failed and wait for an event. */
  readonly #parked: ParkedEntities;
  /** Of these an event may have helped the first, or followed one that was scheduled. */
  readonly #called: CalledLines;
  readonly #underWay = new AttemptsUnderWay();
  #flushTimer: Timer | undefined;
  #flushed = 0;
  #joined = 0;
  /** Entities that PreEnqueue refused. */
  readonly #gated = new GatedEntities();

  constructor(options: SchedulingQueueOptions) {
    this.#clock = options.clock;
    this.#policy = options.policy;
    this.#observer = options.observer;
    this.#maxUnschedulableMs = options.maxUnschedulableMs ?? 5 * 60_000;
    const backoff = options.backoff ?? { initialMs: 1000, maxMs: 10_000 };
    this.#errorsHoldMs = 2 * backoff.maxMs;
    this.#active = new Heap((a, b) => this.#policy.compare(a.sortKey, b.sortKey));
    this.#called = new CalledLines((a, b) => this.#policy.compare(a, b));
    this.#parked = new ParkedEntities({ clock: options.clock, compare: (a, b) => this.#policy.compare(a, b) });
    this.#backingOff = new BackoffStore({
      clock: options.clock,
      policy: backoff,
      compare: (a, b) => this.#policy.compare(a, b),
      ended: (entity) => this.#activate(entity, 'BackoffComplete'),
    });
  }

  /** Entities by store, as the pending_pods metric names them. */
  get sizes(): Readonly<Record<'active' | 'backoff' | 'unschedulable' | 'gated', number>> {
    return {
      active: this.#active.size,
      backoff: this.#backingOff.size,
      unschedulable: this.#parked.size,
      gated: this.#gated.size,
    };
  }

  /** Entities that were scheduled when only the flush retried them: hints that were missed. */
  get flushed(): number {
    return this.#flushed;
  }

  get(key: EntityKey): QueuedEntity | undefined {
    return this.#entities.get(key);
  }

  entities(): Iterable<QueuedEntity> {
    return this.#entities.values();
  }

  /**
   * The candidate exists and wants to be scheduled, or something about it changed: PreEnqueue is asked again and decides
   * whether it is gated; if it waits for an event and asks for something else now, it is tried again. Rank is kept: `readySince`
   * (milliseconds since the epoch) counts from the first time it was ready. Only a gang that comes to be on nodes in part
   * goes before all others from then on, and that no longer when it is so no more.
   */
  upsert(
    candidate: Candidate,
    event: string,
    { since: now = this.#clock.now(), asksElse = false }: CandidateChange = {},
  ): void {
    const key = entityKeyOf(candidate);
    let entity = this.#entities.get(key);
    if (entity === undefined) {
      entity = newEntity(candidate, this.#policy.sortKey(candidate, now), now);
      this.#entities.set(key, entity);
      this.#admit(entity, event, now);
      return;
    }
    entity.candidate = candidate;
    if (asksElse) forgetRefusal(entity);
    this.#noteGroup(entity, now);
    const { kind } = entity.state;
    if (kind === 'inFlight' || kind === 'setAside') {
      entity.triesAgain ||= asksElse;
      return;
    }
    if (kind === 'gated') {
      this.#admit(entity, event, now);
      return;
    }
    const status = this.#policy.preEnqueue(candidate);
    if (status !== undefined) {
      this.#leaveStore(entity);
      this.#gate(entity, status, event);
      this.#leaveLine(entity);
      return;
    }
    const isPartial = isOnNodesInPart(candidate);
    if (isPartial !== entity.sortKey.incomplete) {
      this.#leaveStore(entity);
      this.#leaveLine(entity);
      entity.sortKey = this.#policy.sortKey(candidate, entity.readySince ?? now);
      // A first chance at once; unless an error has to be sat out, or others might see it flip without end.
      if (kind === 'active' || (isPartial && entity.errors === 0)) this.#activate(entity, event);
      else this.#backOff(entity, event, entity.errors > 0);
      return;
    }
    if (!asksElse) return;
    if (kind === 'unschedulable') {
      this.#leaveStore(entity);
      this.#backOff(entity, event, false);
    } else {
      this.#leaveLine(entity);
    }
  }

  /** Something may have helped whoever waits with this pod, and no other: it is tried again, once its penalty is over. */
  wake(pod: Pod, event: string): void {
    const entity = this.#entityOf(pod);
    if (entity?.state.kind !== 'unschedulable') return;
    this.#leaveStore(entity);
    this.#backOff(entity, event, false);
  }

  /**
   * Somebody knows that whoever waits with this pod is to be tried now: whatever is left of its penalty is forgiven, and PreEnqueue is
   * asked again if it had refused. An attempt that is under way decides first; if it fails, there is another after its penalty.
   */
  activate(pod: Pod): void {
    const entity = this.#entityOf(pod);
    switch (entity?.state.kind) {
      case 'backoff':
      case 'unschedulable':
        this.#leaveStore(entity);
        this.#activate(entity, activateEvent);
        entity.isActivated = true;
        break;
      case 'gated':
        entity.isActivated = true;
        this.#admit(entity, activateEvent, this.#clock.now());
        break;
      case 'inFlight':
      case 'setAside':
        entity.triesAgain = true;
        break;
      case 'active':
        entity.isActivated = true;
        break;
      case undefined:
        break;
    }
  }

  /** The candidate is gone, or no longer to be scheduled. */
  remove(key: EntityKey): void {
    const entity = this.#entities.get(key);
    if (entity === undefined) return;
    this.#entities.delete(key);
    this.#leaveStore(entity);
    if (this.#underWay.isInFlight(entity)) this.#underWay.end(entity);
    this.#leaveLine(entity);
  }

  /**
   * The next entity, now in flight: its cycle must end in `done`, `failed`, `notReady` or `setAside` before the next pop. When
   * nothing is active an entity that backs off after a refusal is taken early: an idle scheduler need not wait.
   */
  pop(): QueuedEntity | undefined {
    this.#underWay.mustBeFree();
    this.#callLines();
    const entity = this.#active.pop() ?? this.#backingOff.takeEarly();
    if (entity === undefined) return undefined;
    this.#called.gone(entity);
    entity.state = { kind: 'inFlight' };
    entity.attempts++;
    this.#underWay.begin(entity);
    return entity;
  }

  /**
   * The attempt of the entity in flight waits for somebody outside, until `resume`. Its candidate is kept up to date meanwhile;
   * `left` is called when it leaves the queue before.
   */
  setAside(entity: QueuedEntity, left: () => void): void {
    const events = this.#underWay.end(entity);
    if (this.#entities.get(entity.key) !== entity) {
      left();
      return;
    }
    entity.state = { kind: 'setAside' };
    this.#underWay.setAside(entity, events, left);
  }

  /** The attempt goes on: the entity is in flight again, with all that happened meanwhile. False when it has left the queue. */
  resume(entity: QueuedEntity): boolean {
    const isBack = this.#underWay.resume(entity);
    if (isBack) entity.state = { kind: 'inFlight' };
    return isBack;
  }

  /** Whether `a` is to be tried before `b`. */
  goesFirst(a: QueuedEntity, b: QueuedEntity): boolean {
    return this.#policy.compare(a.sortKey, b.sortKey) < 0;
  }

  /** Entities that were refused because equal ones had been. */
  get joined(): number {
    return this.#joined;
  }

  /** The entity in flight was scheduled. */
  done(entity: QueuedEntity): void {
    if (entity.isFlushed) this.#flushed++;
    this.remove(entity.key);
  }

  /** The entity in flight turned out not to be ready: it waits outside the queue again. */
  notReady(entity: QueuedEntity): void {
    this.#underWay.end(entity);
    entity.attempts--;
    this.#admit(entity, 'NotReady', this.#clock.now());
    this.#leaveLine(entity);
  }

  /** The entity in flight failed. */
  failed(entity: QueuedEntity, failure: Failure): void {
    const events = this.#underWay.end(entity);
    if (this.#entities.get(entity.key) !== entity) return;
    entity.failedAt = this.#clock.monotonic();
    this.#count(entity, failure.error);
    entity.refusedBy = failure.refusedBy;
    entity.pending = failure.pending ?? nobody;
    entity.refusedPods = failure.refusedPods;
    entity.wish = failure.wish;
    entity.isFlushed = false;
    entity.isActivated = false;
    const { triesAgain } = entity;
    entity.triesAgain = false;
    const status = this.#policy.preEnqueue(entity.candidate);
    if (status !== undefined) {
      this.#gate(entity, status, 'ScheduleAttemptFailure');
      this.#leaveLine(entity);
      return;
    }
    entity.sortKey = this.#policy.sortKey(entity.candidate, entity.readySince ?? this.#clock.now());
    if (failure.error || triesAgain) this.#leaveLine(entity);
    const retry = this.#retryAfter(entity, events) ?? (failure.error || triesAgain ? 'afterBackoff' : undefined);
    if (retry === undefined) this.#park(entity, failure);
    else if (retry === 'atOnce' && !failure.error) this.#activate(entity, 'ScheduleAttemptFailure');
    else this.#backOff(entity, 'ScheduleAttemptFailure', failure.error);
  }

  /**
   * The line of entities that were refused for asking the same, if whoever asks it now has to wait with them: nothing has happened
   * since that may help them, or it has, and one of them has been waiting for longer and is to be tried before.
   */
  lineBefore(entity: QueuedEntity, question: string): Line | undefined {
    const line = entity.isActivated ? undefined : this.#parked.asking(question);
    if (line === undefined) return undefined;
    const { first, isCalled } = line;
    if (first !== undefined) return first.state.kind === 'backoff' && this.goesFirst(first, entity) ? line : undefined;
    const { rank } = line;
    return !isCalled || (rank !== undefined && this.#policy.compare(rank, entity.sortKey) < 0) ? line : undefined;
  }

  /** Whether somebody may turn out to ask for the same as others. */
  get hasSharedLines(): boolean {
    return this.#parked.hasShared;
  }

  /** The line in which the entity waits, or for which it has gone to be tried. */
  lineOf(entity: QueuedEntity): Line | undefined {
    return this.#parked.lineOf(entity);
  }

  /**
   * The entity in flight waits with those of the line, and has not been tried. If one of them is to be tried before, that one need
   * not wait any more.
   */
  joins(entity: QueuedEntity, line: Line): void {
    entity.attempts--;
    entity.refusals--;
    this.#joined++;
    const { isAtRest } = line;
    this.failed(entity, {
      refusedBy: line.refusedBy,
      pending: line.pending,
      refusedPods: line.refusedPods,
      wish: line.wish,
      error: false,
      question: line.question,
    });
    if (!isAtRest) this.#bringForward(line);
  }

  /**
   * A candidate whose assumption was given up after its attempt had ended: it comes back after a back-off, with the history that it had as
   * what it was planned as (`own`). The rest of a group that is partly on nodes gets its first chance at once, before somebody else takes
   * its room; not when meanwhile none of it is any more. Does nothing when it is queued otherwise.
   */
  comeBack(candidate: Candidate, own: Past, failure: Failure): void {
    const key = entityKeyOf(candidate);
    const known = this.#entities.get(key);
    if (known !== undefined) {
      if (known.state.kind !== 'active' || !known.sortKey.incomplete || isOnNodesInPart(candidate)) return;
      this.remove(key);
    }
    const past = this.#longestPast(candidate, own);
    const readySince = past.readySince ?? this.#clock.now();
    const { attempts, refusals, errors, erredAt } = past;
    const entity = newEntity(candidate, this.#policy.sortKey(candidate, readySince), readySince, {
      readySince,
      attempts,
      refusals,
      errors,
      erredAt,
      failedAt: this.#clock.monotonic(),
      refusedBy: failure.refusedBy,
      refusedPods: failure.refusedPods,
      wish: failure.wish,
    });
    this.#entities.set(key, entity);
    if (entity.sortKey.incomplete && past.errors === 0) {
      this.#count(entity, true);
      this.#admit(entity, 'BindingFailed', this.#clock.now());
      return;
    }
    this.failed(entity, { ...failure, error: true });
  }

  /**
   * Errors go on counting when it is refused between two of them: of pods that take turns on a node that binds none, each is refused while
   * another has the room, and would be tried at the shortest back-off for ever.
   */
  #count(entity: QueuedEntity, isError: boolean): void {
    const now = this.#clock.monotonic();
    if (isError) {
      entity.errors++;
      entity.erredAt = now;
      return;
    }
    entity.refusals++;
    if (now - entity.erredAt >= this.#errorsHoldMs) entity.errors = 0;
  }

  /** A group that is queued as one again has failed as often as the member that has most often. */
  #longestPast(candidate: Candidate, own: Past): Past {
    if (candidate.kind === 'pod') return own;
    let longest = own;
    for (const pod of candidate.gang.pending.values()) {
      const past = this.#entities.get(entityKeyOf({ kind: 'pod', pod }));
      if (past !== undefined && past.errors > longest.errors) longest = past;
    }
    return longest;
  }

  /** The cluster changed: whatever the event may help becomes active, or backs off first. */
  moveOnEvent(event: ClusterEvent): void {
    if (this.#policy.ignores(event)) return;
    this.#underWay.add(event);
    const label = `${event.resource}${event.action}`;
    if (this.#gated.size > 0) {
      // Nothing about it has changed: a gate that opens and shuts spares nobody the penalty for what has failed.
      for (const entity of this.#gated.helpedBy(event)) this.#admit(entity, label, this.#clock.now(), true);
    }
    if (this.#parked.size === 0) return;
    const helped = this.#parked.helpedBy(event);
    if (helped.size > 0) this.#call(helped, label);
  }

  /** event -> how many are kept for entities whose attempts are under way */
  get eventsInFlight(): ReadonlyMap<string, number> {
    return this.#underWay.counts;
  }

  /** Starts the safety net. */
  start(): void {
    this.#flushTimer = this.#clock.setTimer(flushIntervalMs, () => {
      this.#flush();
      this.start();
    });
  }

  stop(): void {
    this.#flushTimer?.cancel();
    this.#backingOff.stop();
  }

  #admit(entity: QueuedEntity, event: string, now: number, hasPenalty = false): void {
    const status = this.#policy.preEnqueue(entity.candidate);
    if (status !== undefined) {
      this.#gate(entity, status, event);
      return;
    }
    this.#gated.remove(entity);
    entity.readySince ??= now;
    entity.sortKey = this.#policy.sortKey(entity.candidate, entity.readySince);
    if (hasPenalty) this.#backOff(entity, event, entity.errors > 0);
    else this.#activate(entity, event);
  }

  /** A group that was made anew under its name has the history of the former one no longer. */
  #noteGroup(entity: QueuedEntity, now: number): void {
    const uid = groupUidOf(entity.candidate);
    if (uid === undefined || uid === entity.groupUid) return;
    if (entity.groupUid !== undefined) {
      entity.since = now;
      entity.readySince = entity.state.kind === 'gated' ? undefined : now;
      entity.attempts = 0;
      entity.refusals = 0;
      entity.errors = 0;
    }
    entity.groupUid = uid;
  }

  #gate(entity: QueuedEntity, status: Status, event: string): void {
    const { state } = entity;
    if (state.kind !== 'gated') this.#observer.moved('gated', event);
    this.#gated.add(entity, status.plugin, this.#policy.hints(entity.candidate));
    entity.state = { kind: 'gated', status };
    this.#observer.gated(entity, status);
  }

  #activate(entity: QueuedEntity, event: string): void {
    entity.state = { kind: 'active' };
    this.#active.push(entity);
    this.#observer.moved('active', event);
    this.#observer.ready();
  }

  #park(entity: QueuedEntity, failure: Failure): void {
    const before = this.#parked.lineOf(entity);
    const line = this.#parked.add(entity, failure, this.#policy.hints(entity.candidate));
    this.#observer.moved('unschedulable', 'ScheduleAttemptFailure');
    if (before !== undefined && before !== line) this.#goOn(before);
  }

  /** Those of the lines that go next become active, or back off first: by rank, and not all at once. */
  #call(lines: Iterable<Line>, event: string): void {
    for (const line of lines) {
      const { rank } = line;
      if (rank === undefined) continue;
      this.#parked.call(line);
      this.#called.add(line, rank, event);
    }
    this.#callLines();
  }

  #callLines(): void {
    const next = (): ReturnType<CalledLines['next']> => this.#called.next(this.#active.peek()?.sortKey);
    for (let call = next(); call !== undefined; call = next()) this.#send(call.line, call.event);
  }

  /** The one of the line that is to be tried is active now, whatever is left of its penalty. */
  #bringForward(line: Line): void {
    if (line.isCalled) this.#send(line, 'EqualArrived');
    const { first } = line;
    if (first?.state.kind !== 'backoff') return;
    this.#backingOff.leave(first.state);
    this.#activate(first, 'EqualArrived');
  }

  /** The one of the line that goes next is tried for all of it. */
  #send(line: Line, event: string): void {
    const entity = this.#parked.take(line);
    if (entity === undefined) return;
    // What is out of date is to be found out anew, and the safety net takes nobody's word.
    if (line.isOutdated || event === flushEvent) forgetRefusal(entity);
    entity.isFlushed = event === flushEvent;
    if (line.isUrgent) this.#activate(entity, event);
    else this.#backOff(entity, event, false);
    if (entity.state.kind === 'active') this.#called.sent(entity);
  }

  /** The first of the line will not come back into it: what it found out does not hold for the others. */
  #goOn(line: Line): void {
    if (this.#parked.release(line)) this.#call([line], 'EqualDecided');
  }

  /** If the entity has gone to be tried for a line, another one goes. */
  #leaveLine(entity: QueuedEntity): void {
    const line = this.#parked.lineOf(entity);
    if (line?.first === entity) this.#goOn(line);
  }

  /** To the backoff store for what is left of the penalty, or straight to active. */
  #backOff(entity: QueuedEntity, event: string, afterError: boolean): void {
    if (!this.#backingOff.add(entity, afterError)) {
      this.#activate(entity, event);
      return;
    }
    this.#observer.moved('backoff', event);
    if (!afterError) this.#observer.ready();
  }

  #flush(): void {
    const now = this.#clock.monotonic();
    const before = now - this.#maxUnschedulableMs;
    const due: Line[] = [];
    const outdated: Line[] = [];
    for (const line of this.#parked.lines()) {
      if (!line.isAtRest) continue;
      if (line.since <= before) due.push(line);
      else if (line.isOutdated && line.since <= now - outdatedMs && outdated.length < retoldAtOnce) outdated.push(line);
    }
    this.#call(due, flushEvent);
    this.#call(outdated, 'VerdictOutdated');
  }

  /** How it may be tried again after what has happened; undefined when nothing of it may help. */
  #retryAfter({ candidate, ...refusal }: QueuedEntity, events: readonly ClusterEvent[]): Retry | undefined {
    const hints = this.#policy.hints(candidate);
    const turnedAway = { ...refusal, isGang: candidate.kind === 'gang' };
    let retry: Retry | undefined;
    for (const event of events) {
      retry = hints.retryAfter(event, turnedAway) ?? retry;
      // Nobody can do more for it, unless a plugin waits for something.
      if (retry === 'atOnce' || (retry !== undefined && refusal.pending.size === 0)) break;
    }
    return retry;
  }

  #entityOf(pod: Pod): QueuedEntity | undefined {
    const ofGroup = pod.podGroupKey === undefined ? undefined : this.#entities.get(`gang/${pod.podGroupKey}`);
    return ofGroup ?? this.#entities.get(`pod/${pod.uid}`);
  }

  /** Whether one of the plugins that refused the entity last is certain that it would again, for a reason that it has told. */
  wouldBeRefusedAgain(entity: QueuedEntity): boolean {
    const { candidate, refusedBy, pending, refusedPods, wish } = entity;
    const isGang = candidate.kind === 'gang';
    const turnedAway = { isGang, refusedBy, pending, refusedPods, wish };
    return refusedBy.size > 0 && !entity.isActivated && this.#policy.hints(candidate).rulesOut(turnedAway);
  }

  #leaveStore(entity: QueuedEntity): void {
    switch (entity.state.kind) {
      case 'active':
        this.#active.remove(entity);
        this.#called.gone(entity);
        break;
      case 'backoff':
        this.#backingOff.leave(entity.state);
        break;
      case 'unschedulable':
        this.#parked.leave(entity, entity.state);
        break;
      case 'gated':
        this.#gated.remove(entity);
        break;
      case 'setAside':
        this.#underWay.leave(entity);
        break;
      case 'inFlight':
        break;
    }
  }
}

/** What it was told holds no longer: anything may help. */
function forgetRefusal(entity: QueuedEntity): void {
  entity.refusedBy = nobody;
  entity.pending = nobody;
}

function isOnNodesInPart(candidate: Candidate): boolean {
  return candidate.kind === 'gang' && candidate.gang.incomplete;
}
