import type { Pod } from '../../api/pod.ts';
import type { WaitsFor } from '../../api/verdict.ts';
import { DueTimes } from '../../base/due-times.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { ReservationPlan } from '../../cluster/reservation.ts';
import type { RunTimes } from '../../cluster/run-times.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import type { Rejection } from '../../framework/event-hints.ts';
import type { Profile } from '../../framework/profile.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Logger } from '../../observability/logger.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
import type { Intake } from '../intake/intake.ts';
import type { BackfillMetrics } from '../metrics/backfill-metrics.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { Reservations } from '../preemption/reservations.ts';
import { isUsableFor } from '../preemption/usable-node.ts';
import { isOfLostMember, nodesBefore, ownReservations } from './own-reservations.ts';
import { Pools } from './pools.ts';
import type { Pool } from './pools.ts';
import { StartSearch } from './start-search.ts';
import type { StartRequest } from './start-search.ts';
import { Turn } from './turn.ts';
import type { PredictedTurn, TurnEnd } from './turn.ts';
import { TurnOrder } from './turn-order.ts';
import { TurnPrediction } from './turn-prediction.ts';

export interface TurnsOptions {
  readonly intake: Intake;
  readonly runTimes: RunTimes;
  readonly reservations: Pick<Reservations, 'keepBackfill' | 'endPlan'>;
  readonly metrics: BackfillMetrics;
  readonly logger: Logger;
}

/** An entity to predict a start for. */
export interface TurnRequest extends Pick<StartRequest, 'profile' | 'demand' | 'nodeSubsetOf'> {
  readonly entity: QueuedEntity;
}

/** Minimum time between two predictions for one entity. */
const predictEveryMs = 30_000;
/** If the wall clock moves by more than this against Clock.monotonic(), it has jumped. */
const maxDriftMs = 10_000;
/** A start that moves by less wakes no pod. */
const minMoveMs = 1_000;

/**
 * Makes the turn of a large entity come: for the first one in queue order that waits for capacity, it reserves the capacity that other pods
 * will leave, at most one entity per pool. Entities behind it may use this capacity only if they are declared to end before.
 *
 * The entity is planned again in each attempt, and nothing is bound because of a reservation. A turn ends as a whole. Pods that are already
 * assigned to a node, and partially bound gangs in their grace period do not have to respect it; an entity with reservations of its own does not on their nodes.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #prediction: TurnPrediction;
  readonly #pools: Pools;
  readonly #order: TurnOrder;
  /** entity -> its turn */
  readonly #turns = new Map<EntityKey, Turn>();
  /** plan -> the turn that it is of */
  readonly #byPlan = new Map<ReservationPlan, Turn>();
  /** uid of a pod with a reservation -> the pod as it was planned, and the turn */
  readonly #byMember = new Map<string, { readonly pod: Pod; readonly turn: Turn }>();
  /** entity with a turn, due when its prediction may be outdated */
  readonly #refreshes: DueTimes<EntityKey>;
  /** Number of changes of nodes and pods that can change a prediction. */
  #changes = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
    const { intake, runTimes } = options;
    const { cluster, planner, clock, profiles } = intake;
    const search = new StartSearch({ cluster, planner, endOf: (pod) => runTimes.endOf(pod) });
    this.#prediction = new TurnPrediction(search);
    this.#pools = new Pools(cluster, profiles.poolLabel);
    const { queue } = intake;
    const [pools, turns] = [this.#pools, this.#turns];
    this.#order = new TurnOrder({ queue, clock, pools, turns, left: (key) => this.left(key) });
    this.#refreshes = new DueTimes(clock, (key) => this.#refresh(key));
    intake.podSeen.add((uid, pod) => this.#podSeen(uid, pod));
    intake.removed.add((key) => this.left(key));
    intake.groupSeen.add((key) => this.#entitySeen(`gang/${key}`));
    intake.nodeChanged.add((name) => this.#nodeChanged(name));
  }

  stop(): void {
    this.#refreshes.stop();
    this.#order.stop();
  }

  /**
   * Returns which reservations do not count for the entity, by the owner's uid: those of entities behind it, those from which it will have
   * ended, and those on nodes where it has capacity of its own (see `nodesBefore`). Undefined: all count. `starts`: an entity
   * that starts later, when its victims are gone, does not know by when it will have ended.
   */
  ignoredBy(
    entity: QueuedEntity,
    demand: Demand,
    starts: 'now' | 'later' = 'now',
  ): ((uid: string) => boolean) | undefined {
    if (this.#turns.size === 0) return undefined;
    const { cluster } = this.#options.intake;
    const own = ownReservations(cluster, demand.members);
    /** turn -> nodes where the entity has capacity of its own */
    const ownNodes = new Map<Turn, ReadonlySet<string>>();
    let end: number | undefined;
    const isIgnored = (turn: Turn): boolean => {
      if (demand.gang?.comesFirst === true || turn.key === entity.key || this.#order.isBehind(turn, entity))
        return true;
      if (starts === 'later' || this.#hasJumpedSince(turn)) return false;
      end ??= this.#options.runTimes.endIfStartedNow(demand.members);
      return end <= turn.future.from;
    };
    const ignored = new Set<ReservationPlan>();
    for (const turn of this.#turns.values()) if (isIgnored(turn)) ignored.add(turn.plan);
    if (ignored.size === 0 && own.length === 0) return undefined;
    return (uid) => {
      const reservation = cluster.reservationOf(uid);
      if (reservation?.plan === undefined) return false;
      if (ignored.has(reservation.plan)) return true;
      const turn = this.#turnOfPlan(reservation.plan);
      if (turn === undefined || own.length === 0) return false;
      if (!ownNodes.has(turn)) ownNodes.set(turn, nodesBefore(turn, own, demand));
      return ownNodes.get(turn)!.has(reservation.nodeName);
    };
  }

  get hasAny(): boolean {
    return this.#turns.size > 0;
  }

  /** Returns the entity's turn. */
  of(key: EntityKey): Turn | undefined {
    return this.#turns.get(key);
  }

  /** Returns whether the entity's next attempt is for the sake of a prediction. */
  isDue(key: EntityKey): boolean {
    return this.#order.isDue(key);
  }

  /** Returns whether a prediction must follow now that the entity was rejected: it is its turn, or its prediction may be outdated. */
  mayPredict(entity: QueuedEntity, profile: Profile): boolean {
    if (this.#order.isDue(entity.key)) return true;
    const settings = this.#options.intake.profiles.reservationsOf(profile);
    return settings !== undefined && !this.#turns.has(entity.key) && this.#order.isFirst(entity, settings);
  }

  /** Finds capacity for an entity that does not fit now. Undefined: no pool will have enough. Runs in steps. */
  *predict(request: TurnRequest, budget: WorkBudget): Yielding<PredictedTurn | undefined> {
    const { entity } = request;
    const { cluster, profiles, clock } = this.#options.intake;
    const settings = profiles.reservationsOf(request.profile)!;
    const waiting = this.#order.waitingEntity(entity, settings);
    const mayDrain = waiting.mayDrain(clock.monotonic());
    const before = this.#turns.get(entity.key);
    const ignoresReservationOf = (uid: string): boolean => {
      const reservation = cluster.reservationOf(uid);
      // It lasts for minutes, and a turn must not end because of it. Its pod may take its place; then the next prediction knows the pod.
      if (before !== undefined && reservation !== undefined && isOfLostMember(reservation)) return true;
      const turn = this.#turnOfPlan(reservation?.plan);
      return turn !== undefined && (turn.key === entity.key || this.#order.isBehind(turn, entity));
    };
    const open = this.#order.openTo(entity);
    const isOwn = ({ name }: Pool): boolean => name === before?.pool;
    const others = open.filter((pool) => !isOwn(pool));
    const pools = [...open.filter(isOwn), ...waiting.poolsToTry(others)];
    const preemptions = [...cluster.reservations()].filter(
      ({ kind, plan }) => kind !== 'backfill' && plan !== undefined,
    );
    const promised = new Set(preemptions.map(({ nodeName }) => nodeName));
    return yield* this.#prediction.steps(
      { ...request, mayDrain, before, pools, promised, ignoresReservationOf },
      budget,
    );
  }

  /** Returns the turn that keeps the entity from starting by this plan; undefined if no other entity has a turn. */
  inTheWayOf(key: EntityKey, plan: readonly Nomination[]): Turn | undefined {
    const { cluster } = this.#options.intake;
    // With several pools, it may have a turn in another one.
    for (const { nodeName } of plan) {
      for (const reservation of cluster.reservationsOn(nodeName)) {
        const turn = this.#turnOfPlan(reservation.plan);
        if (turn !== undefined && turn.key !== key) return turn;
      }
    }
    return [...this.#turns.values()].find((turn) => turn.key !== key);
  }

  /**
   * Returns whether an entity that was rejected for this cause may have a turn. If the cause is unknown for now, it keeps a turn that it has: the
   * last prediction has proved that it fits in the end.
   */
  mayHaveTurn(key: EntityKey, waitsFor: WaitsFor): boolean {
    if (waitsFor === 'unknown' || waitsFor === 'error') return this.#turns.has(key);
    return waitsFor === 'capacity' || waitsFor === 'turn';
  }

  /** The entity was rejected. `predicted`: the result of a prediction; undefined if there was none. */
  rejected(
    entity: QueuedEntity,
    profile: Profile,
    waitsFor: WaitsFor,
    predicted: { readonly turn: PredictedTurn | undefined } | undefined,
  ): void {
    const settings = this.#options.intake.profiles.reservationsOf(profile);
    if (settings === undefined || !this.mayHaveTurn(entity.key, waitsFor)) {
      this.left(entity.key);
      return;
    }
    const waiting = this.#order.add(entity, settings);
    if (predicted !== undefined) {
      this.#order.endDue(entity.key);
      if (predicted.turn === undefined) {
        this.#end(entity.key, 'withdrawn');
        this.#order.failed(waiting);
      } else {
        waiting.succeeded();
        this.#give(entity, predicted.turn);
      }
    }
    // Otherwise it is considered when an entity ahead of it has lost its turn.
    if (!this.#turns.has(entity.key) && this.#order.isNext(entity)) this.#order.chooseAt(waiting.notBefore);
  }

  /** The entity waits for capacity no longer: it left the queue, or it waits for something else. */
  left(key: EntityKey): void {
    this.#order.remove(key);
    this.#end(key, 'withdrawn');
  }

  /** The entity was planned: these members are assumed on their nodes. */
  committed(entity: QueuedEntity, assignments: readonly Nomination[]): void {
    const { key } = entity;
    const turn = this.#turns.get(key);
    const used = turn && new Map(assignments.map(({ pod, nodeName }) => [pod.uid, nodeName]));
    this.#end(key, 'started', used);
    this.left(key);
    if (this.#turns.size === 0) return;
    const { cluster } = this.#options.intake;
    const members = assignments.map(({ pod }) => pod);
    const demand = { members, needed: members.length };
    const own = ownReservations(cluster, members);
    for (const { pod, nodeName } of assignments) {
      for (const { kind, plan } of cluster.reservationsOn(nodeName)) {
        if (kind !== 'backfill') continue;
        this.#changes++;
        const other = this.#turnOfPlan(plan)!;
        // Only group members have reservations for their replacements.
        if (pod.podGroupKey === undefined || entity.sortKey.incomplete || this.#order.isBehind(other, entity)) continue;
        if (own.length === 0 || !nodesBefore(other, own, demand).has(nodeName)) other.backfilled.add(pod.key);
      }
    }
  }

  #give(entity: QueuedEntity, predicted: PredictedTurn): void {
    const { reservations, metrics, logger, intake } = this.#options;
    const { key, schedulingEntity, sortKey } = entity;
    const before = this.#turns.get(key);
    for (const other of [...this.#turns.values()])
      if (other.key !== key && other.pool === predicted.pool) this.#takeAway(other.key, 'displaced');
    const name = nameOf(schedulingEntity);
    const { priority } = sortKey;
    const held = before?.pool === predicted.pool ? before : undefined;
    const since = held?.since ?? intake.clock.now();
    const backfilled = held?.backfilled ?? new Set<string>();
    const isOfOnePod = schedulingEntity.kind === 'pod';
    const changes = this.#changesNow;
    const clockOffset = this.#clockOffset;
    const turn = new Turn({ key, name, predicted, priority, isOfOnePod, since, changes, backfilled, clockOffset });
    if (before !== undefined) this.#forget(before);
    this.#turns.set(key, turn);
    this.#byPlan.set(turn.plan, turn);
    for (const { pod } of turn.plan.nominations) this.#byMember.set(pod.uid, { pod, turn });
    reservations.keepBackfill(turn.plan, before?.plan);
    this.#refreshes.set(key, intake.clock.monotonic() + predictEveryMs, undefined);
    if (before !== undefined) {
      // While the clock had jumped, none was let in by its end.
      this.#wakeShorter(this.#hasJumpedSince(before) ? -Infinity : before.future.from, predicted.future.from);
      return;
    }
    metrics.given();
    const { startsAt } = predicted.future;
    logger.info('reserved capacity for an entity that waits', {
      entity: key,
      pool: predicted.pool,
      nodes: turn.nodeNames.size,
      startsBy: startsAt === undefined ? 'unknown' : new Date(startsAt).toISOString(),
    });
  }

  /** A turn has moved from one time to another. If that is later, pods that end in between may now start before it. */
  #wakeShorter(before: number, from: number): void {
    if (from < before + minMoveMs) return;
    const { intake, runTimes } = this.#options;
    const isHelped = ({ rejectedPods }: Rejection): boolean => {
      const end = runTimes.endIfStartedNow(rejectedPods);
      return end > before && end <= from;
    };
    intake.queue.retryWhere(isHelped, 'PredictedStartMoved');
  }

  /** Ends the entity's turn. `used`: uid -> node on which the pod now is. */
  #end(key: EntityKey, end: TurnEnd, used?: ReadonlyMap<string, string>): void {
    const turn = this.#turns.get(key);
    if (turn === undefined) return;
    const { reservations, metrics, logger, intake } = this.#options;
    this.#turns.delete(key);
    this.#forget(turn);
    this.#refreshes.delete(key);
    this.#order.endDue(key);
    reservations.endPlan(turn.plan, used);
    // Those that waited for this turn now wait for capacity, although none is freed.
    if (end === 'started') intake.queue.retryWhere(({ waitsForTurn }) => waitsForTurn === true, 'ReservationEnded');
    metrics.ended(end);
    if (end !== 'started') logger.info('capacity is no longer reserved for an entity', { entity: key, reason: end });
    this.#order.chooseAt(-Infinity);
  }

  /** Ends the turn of an entity that still waits. Its next attempt, which follows, writes a verdict without the predicted start. */
  #takeAway(key: EntityKey, end: TurnEnd): void {
    this.#end(key, end);
    const entity = this.#order.entity(key);
    if (entity !== undefined) this.#order.activate(entity);
  }

  /** Number of changes that can change a prediction, new nodes included. */
  get #changesNow(): number {
    return this.#changes + this.#options.intake.cluster.nodesRevision;
  }

  /** By how much the wall clock is ahead of Clock.monotonic(), in milliseconds. */
  get #clockOffset(): number {
    const { clock } = this.#options.intake;
    return clock.now() - clock.monotonic();
  }

  /** Returns whether the wall clock has jumped since the prediction, so that its times may be wrong. */
  #hasJumpedSince({ clockOffset }: Turn): boolean {
    return Math.abs(this.#clockOffset - clockOffset) > maxDriftMs;
  }

  #turnOfPlan(plan: ReservationPlan | undefined): Turn | undefined {
    return plan && this.#byPlan.get(plan);
  }

  #forget({ plan }: Turn): void {
    this.#byPlan.delete(plan);
    for (const { pod } of plan.nominations) this.#byMember.delete(pod.uid);
  }

  #refresh(key: EntityKey): void {
    const { clock } = this.#options.intake;
    const turn = this.#turns.get(key)!;
    const entity = this.#order.entity(key);
    if (entity === undefined || !this.#order.isQueued(entity)) {
      this.left(key);
      return;
    }
    // The reservation for the replacement of a member on a drained node may have ended.
    const isOver = clock.now() >= (turn.future.startsAt ?? 0);
    if (isOver || turn.changes !== this.#changesNow || this.#hasJumpedSince(turn)) this.#order.makeDue(entity);
    this.#refreshes.set(key, clock.monotonic() + predictEveryMs, undefined);
  }

  #podSeen(uid: string, pod: Pod | undefined): void {
    // It may have started, or declare another end.
    if (pod?.nodeName !== '') this.#changes++;
    this.#entitySeen(`pod/${uid}`);
    const member = this.#byMember.get(uid);
    if (member === undefined || this.#options.intake.cluster.openPod(uid)?.template === member.pod.template) return;
    this.#takeAway(member.turn.key, 'withdrawn');
  }

  /** The entity may have changed. Ends its turn unless it still waits for what is reserved. */
  #entitySeen(key: EntityKey): void {
    const entity = this.#order.entity(key);
    if (entity === undefined) return;
    if (!this.#order.isQueued(entity)) {
      this.left(key);
      return;
    }
    const turn = this.#turns.get(key);
    if (turn === undefined) return;
    const { schedulingEntity } = entity;
    const needed = schedulingEntity.kind === 'gang' ? schedulingEntity.gang.missing : 1;
    if (turn.plan.nominations.length !== needed) this.#takeAway(key, 'withdrawn');
  }

  #nodeChanged(name: string): void {
    this.#changes++;
    const { cluster } = this.#options.intake;
    for (const { kind, plan, owner } of cluster.reservationsOn(name)) {
      if (kind !== 'backfill') continue;
      const { key, pool } = this.#turnOfPlan(plan)!;
      const node = cluster.node(name);
      if (isUsableFor(owner, node) && this.#pools.nameFor(node!) === pool) continue;
      this.#takeAway(key, 'withdrawn');
      return;
    }
  }
}

/** Returns namespace/name of the gang or pod. */
function nameOf(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang' ? schedulingEntity.gang.key : schedulingEntity.pod.key;
}
