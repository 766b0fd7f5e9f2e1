import type { Call } from '../world/call.ts';
import type { Committed } from '../world/record.ts';
import type { Obstacles } from './capacity-of-others.ts';
import type { Checker, Evidence } from './evidence.ts';
import { formOf, PlainCapacity } from './plain-fit.ts';
import {
  claimsIn,
  groupNamed,
  missingOf,
  nameSeveralSchedulers,
  podsIn,
  tallyOf,
  usableNodes,
  whyHeldBack,
} from './plain-group.ts';
import { isOnNode, isOpen, plainPod } from './plain-objects.ts';
import type { PlainNode, PlainPod, PlainPrediction } from './plain-objects.ts';
import { aheadMs, entityOf, readyTimes, turnsIn, turnsOf } from './plain-turns.ts';
import type { PlainTurn } from './plain-turns.ts';
import { delayOf, hasStarted, latestEndFor } from './turn-bound.ts';
import type { TurnCourse } from './turn-bound.ts';

/** How long after the last end an entity starts at the latest. */
const boundMs = 45_000;
/** Time until an entity that has lost its turn no longer shows it: an attempt after the longest back-off, and the write. */
const shownMs = 20_000;
/** What has happened this long before a turn is known to the scheduler when it gives the turn, unless a fault strikes. */
const receivedMs = 4_000;
/** Time until a prediction that has moved by much is written, in addition to the usual lag. */
const rewrittenMs = 1_000;
/** A node starts a pod this long after its Binding at the latest, and the API shows times in whole seconds. */
const roundedMs = 3_000;

/** After this many failed Bindings to a node, the scheduler reserves no capacity there for the pod. */
const avoidedAfter = 2;

export interface TurnCheckerOptions {
  readonly obstacles: Obstacles;
  /** The schedulers with turns. */
  readonly schedulerNames: readonly string[];
  readonly drainAfterMs: number;
  /** How long a plan takes from its decision until all its Bindings are sent, without faults. */
  readonly bindingMs: number;
  /** Wall-clock time at which the run begins. */
  readonly epochMs: number;
  /** Time from which on no fault has struck, and none that struck before has an effect. */
  readonly calmFrom: () => number;
  /** Why what the scheduler knew is unclear in this run; undefined: it is not. */
  readonly isUnclear: () => string | undefined;
}

/** A pod was bound where an entity needs the capacity, and does not end before the start that the store showed. */
interface Intrusion {
  readonly entity: string;
  readonly pod: PlainPod;
  readonly at: number;
  readonly shown: PlainPrediction;
}

/** What happened to the turns that the store showed. */
type TurnCounts = Record<'turns shown' | 'turns drained' | 'pods backfilled where a turn is', number>;

/**
 * I5: an entity with a predicted start starts by then, in each pool at most one entity has one, and pods behind it get the capacity that it
 * needs only if they declare to end before.
 *
 * The condition on one of its pods shows the turn, but not on which nodes capacity is reserved. A pod is therefore reported only if the entity
 * fits nowhere beside it. Nothing is reported of a turn that something has delayed for which the guarantee makes an exception.
 */
export class TurnChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #options: TurnCheckerOptions;
  readonly #courses: TurnCourse[] = [];
  /** entity that has not started -> the turns that it has had since it started last */
  readonly #waiting = new Map<string, TurnCourse[]>();
  /** entity -> its present turn */
  readonly #present = new Map<string, TurnCourse>();
  /** Those that a prediction which is not written yet may allow. */
  #intrusions: readonly Intrusion[] = [];
  /** Time from which on more entities show a turn than there are pools. */
  #crowdedSince: number | undefined;
  /** uid of a pod -> node -> number of Bindings that were sent */
  readonly #bindings = new Map<string, Map<string, number>>();
  readonly counts: TurnCounts = { 'turns shown': 0, 'turns drained': 0, 'pods backfilled where a turn is': 0 };

  constructor(evidence: Evidence, options: TurnCheckerOptions) {
    this.#evidence = evidence;
    this.#options = options;
  }

  sent({ of, request }: Call): void {
    if (of !== 'bind') return;
    const { metadata, target } = JSON.parse(String(request.body));
    const times = this.#bindings.get(metadata.uid) ?? new Map<string, number>();
    this.#bindings.set(metadata.uid, times.set(target.name, (times.get(target.name) ?? 0) + 1));
  }

  committed({ resource, type, object, previous, by }: Committed): void {
    if (resource !== 'pods') return;
    const pod = plainPod(object);
    const before = previous && plainPod(previous);
    const hasTurn = pod.predicted !== undefined || before?.predicted !== undefined;
    const { record } = this.#evidence;
    for (const entity of new Set([entityOf(record, pod), entityOf(record, before ?? pod)])) {
      if (hasTurn || this.#waiting.has(entity)) this.#look(entity);
    }
    this.#countShown();
    this.#judgeIntrusions(rewrittenMs + this.#evidence.lagMs());
    const isBound = type === 'MODIFIED' && pod.node !== '' && before?.node === '' && by !== 'world';
    if (isBound && this.#present.size > 0) this.#bound(pod);
  }

  settled(): number | undefined {
    const { now, record } = this.#evidence;
    const pods = podsIn(record);
    this.#countShown();
    this.#judgeIntrusions(0);
    const turns = turnsIn(this.#evidence, pods);
    for (const turn of turns) {
      if (!this.#canStart(turn)) this.#evidence.violated('I5', `${turn.entity} has a turn, but fits on no empty nodes`);
    }
    for (const turn of turns) this.#goesFirst(turn, pods);
    const again = this.#courses.map((course) => this.#judge(course));
    // More turns may come until the pods that were created last have waited long enough.
    const hasOpen = pods.some(({ node, isLeaving }) => node === '' && !isLeaving);
    const createdAt = record.changes.findLast(({ resource, type }) => resource === 'pods' && type === 'ADDED')?.at ?? 0;
    const comesBy = createdAt + this.#options.drainAfterMs + boundMs + 1;
    if (hasOpen && comesBy > now()) again.push(comesBy);
    const times = again.filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  /** The entity may have got its turn, started, or lost its turn. */
  #look(entity: string): void {
    const { record, now } = this.#evidence;
    const [turn] = turnsOf(this.#evidence, entity);
    let course = this.#present.get(entity);
    if (turn !== undefined && course === undefined) {
      const { confidence } = turn.prediction;
      this.counts['turns shown']++;
      if (confidence === 'Draining') this.counts['turns drained']++;
      course = { entity, since: now(), confidence, priority: turn.priority, startedAt: undefined, endedAt: undefined };
      this.#courses.push(course);
      this.#present.set(entity, course);
      this.#waiting.set(entity, [...(this.#waiting.get(entity) ?? []), course]);
    }
    // The member that shows the turn may be bound before the last one of the quorum.
    const waiting = this.#waiting.get(entity);
    if (waiting !== undefined && hasStarted(record, entity)) {
      for (const each of waiting) each.startedAt = now();
      this.#waiting.delete(entity);
    }
    if (turn !== undefined || course === undefined) return;
    course.endedAt = now();
    this.#present.delete(entity);
  }

  /** Checks that no more entities show a turn than there are pools, apart from the time until the last one is rewritten. */
  #countShown(): void {
    const { record, now, promptFrom, lagMs } = this.#evidence;
    if (this.#present.size <= 1 && this.#crowdedSince === undefined) return;
    const pools = this.#options.obstacles.areZonesPools === true ? zonesOf(usableNodes(record, undefined)).length : 1;
    if (this.#crowdedSince !== undefined) {
      const lastedMs = now() - Math.max(this.#crowdedSince, promptFrom());
      const entities = [...this.#present.keys()].join(' and ');
      if (lastedMs > shownMs + 2 * lagMs())
        this.#evidence.violated('I5', `${entities} have turns in ${pools} pools at the same time`);
    }
    if (this.#present.size <= pools) this.#crowdedSince = undefined;
    else this.#crowdedSince ??= now();
  }

  /** A pod was bound while entities have turns. */
  #bound(pod: PlainPod): void {
    const { now, lagMs } = this.#evidence;
    const at = now();
    for (const { entity, since, priority } of this.#present.values()) {
      if (
        entity === entityOf(this.#evidence.record, pod) ||
        pod.priority > priority ||
        at - since < this.#options.bindingMs + lagMs()
      )
        continue;
      // If it fits on no empty nodes either, they have changed.
      const turn = turnsOf(this.#evidence, entity).find((each) => !this.#canStart(each, pod) && this.#canStart(each));
      if (turn === undefined) continue;
      this.counts['pods backfilled where a turn is']++;
      const isUnclear = this.#options.calmFrom() > since || this.#options.isUnclear() !== undefined;
      if (isUnclear || this.#precedes(pod) || (pod.priority === priority && !this.#isBehind(pod, entity))) continue;
      const intrusion = { entity, pod, at, shown: turn.prediction };
      if (!this.#allows(turn.prediction, intrusion)) this.#intrusions = [...this.#intrusions, intrusion];
    }
  }

  /** Reports whether the pod may be bound with this prediction: it declares to end before the start, or the start is an estimate. */
  #allows({ at: start, confidence }: PlainPrediction, { pod, at }: Intrusion): boolean {
    if (confidence === 'Estimated') return true;
    const latest = start === undefined ? Infinity : start - this.#options.epochMs + roundedMs + this.#evidence.lagMs();
    return pod.declaredMs !== undefined && at + pod.declaredMs <= latest;
  }

  /** The scheduler may have moved a start before it bound the pod, and have written it after that: at the latest within this time. */
  #judgeIntrusions(withinMs: number): void {
    this.#intrusions = this.#intrusions.filter((intrusion) => {
      const { entity, pod, at, shown } = intrusion;
      if (this.#evidence.now() <= at + withinMs) {
        const predictions = turnsOf(this.#evidence, entity).map(({ prediction }) => prediction);
        const isShown = (each: PlainPrediction): boolean =>
          each.at === shown.at && each.confidence === shown.confidence;
        if (predictions.some(isShown)) return true;
        if (predictions.some((prediction) => this.#allows(prediction, intrusion))) return false;
        const why = predictions.length === 0 ? this.#whyWithdrawn(entity) : undefined;
        if (why !== undefined) {
          this.#evidence.excused(`a pod was bound where a turn is shown: ${why}, and the turn was withdrawn`);
          return false;
        }
      }
      const declared = pod.declaredMs === undefined ? 'no end' : `to end in ${pod.declaredMs / 1000} s`;
      const what = `${pod.name}, which declares ${declared}, is bound to ${pod.node}, which ${entity} needs before`;
      this.#evidence.violated('I5', what);
      return false;
    });
  }

  /** Returns why an entity that still waits may have lost its turn; undefined: it has started, or nothing has delayed it. */
  #whyWithdrawn(entity: string): string | undefined {
    const { record, now } = this.#evidence;
    const course = this.#waiting.get(entity)?.at(-1);
    return course && delayOf(record, course, course.since - receivedMs, now());
  }

  /**
   * Reports whether the entity became ready before that of the pod. One ahead need not have a turn of its own. A member beyond the quorum has a
   * rank of its own, which the store does not show.
   */
  #isBehind(pod: PlainPod, entity: string): boolean {
    const { record } = this.#evidence;
    if (hasStarted(record, entity)) return false;
    const [own, holder] = [readyTimes(record, entityOf(record, pod)), readyTimes(record, entity)];
    return own !== undefined && holder !== undefined && holder.latest + aheadMs < own.earliest;
  }

  /** Reports whether the pod belongs to a group that must be completed, or a preemption has reserved the capacity for it. */
  #precedes(pod: PlainPod): boolean {
    const { record } = this.#evidence;
    const wasNominated = record.changes.some(({ resource, uid, object }) => {
      return resource === 'pods' && uid === pod.uid && plainPod(object).nominatedNode !== '';
    });
    const isSibling = ({ group, uid }: PlainPod): boolean => group === pod.group && uid !== pod.uid;
    return (
      wasNominated || (pod.group !== undefined && podsIn(record).some((other) => isSibling(other) && isOnNode(other)))
    );
  }

  /** Reports whether the members that the turn needs may fit on the nodes of one pool where only its own pods are, and `beside`. */
  #canStart({ entity, waiting, needed }: PlainTurn, beside?: PlainPod): boolean {
    const { record } = this.#evidence;
    const { refused = [], areZonesPools = false } = this.#options.obstacles;
    const surroundings = { claims: claimsIn(record), refused };
    const nodes = usableNodes(record, undefined);
    const there = podsIn(record).filter(
      (pod) => isOnNode(pod) && (entityOf(record, pod) === entity || pod.uid === beside?.uid),
    );
    const placed = there.map((pod) => [pod, pod.node] as const);
    const pools = areZonesPools ? zonesOf(nodes) : [undefined];
    return pools.some((pool) => {
      const open = nodes.map((node) => (pool === undefined || node.zone === pool ? node : { ...node, isClosed: true }));
      return new PlainCapacity(open, placed, surroundings).arrangement(waiting, needed) !== 'none';
    });
  }

  /** Checks that no entity is ahead of the one with the turn that asks for the same: it would have the turn. */
  #goesFirst({ entity, waiting, needed, priority }: PlainTurn, pods: readonly PlainPod[]): void {
    const { record, now, started } = this.#evidence;
    // The latest time at which an entity gets a turn: a failed prediction is repeated.
    const dueMs = this.#options.drainAfterMs + boundMs;
    if (this.#options.isUnclear() !== undefined) return;
    const formsOf = (of: readonly PlainPod[]): string => of.map(formOf).sort().join();
    const ready = readyTimes(record, entity);
    const open = pods.filter((pod) => isOpen(pod) && this.#options.schedulerNames.includes(pod.schedulerName));
    for (const [other, members] of Map.groupBy(open, (pod) => entityOf(record, pod))) {
      if (other === entity || turnsOf(this.#evidence, other, pods).length > 0 || formsOf(members) !== formsOf(waiting))
        continue;
      const [{ group: name }] = members as [PlainPod];
      const group = name === undefined ? undefined : groupNamed(record, name);
      const missing = group === undefined ? 1 : missingOf(group, pods, started);
      if ((name !== undefined && group === undefined) || missing !== needed) continue;
      if (group !== undefined && group.minMember > 0 && nameSeveralSchedulers(tallyOf(group, pods).open)) continue;
      if (group !== undefined && whyHeldBack(record, group, pods) !== undefined) continue;
      const lowest = Math.min(...members.map((pod) => pod.priority));
      if (members.some((pod) => this.#avoidsNodes(pod))) continue;
      const otherReady = readyTimes(record, other);
      if (otherReady === undefined || otherReady.latest + dueMs > now()) continue;
      const isEarlier = ready !== undefined && otherReady.latest + aheadMs < ready.earliest;
      if (lowest > priority || (lowest === priority && isEarlier))
        this.#evidence.violated('I5', `${entity} has a turn, but ${other} asks for the same and is ahead`);
    }
  }

  /** Reports whether the pod's Bindings to a node have failed twice. The scheduler then reserves no capacity there. */
  #avoidsNodes({ uid }: PlainPod): boolean {
    return [...(this.#bindings.get(uid)?.values() ?? [])].some((times) => times >= avoidedAfter);
  }

  /** Checks the bound. Returns when it can be checked; undefined: it holds, or does not apply. */
  #judge(course: TurnCourse): number | undefined {
    const { record, now } = this.#evidence;
    const { entity, since, confidence, startedAt } = course;
    const latest = latestEndFor(record, course) + boundMs;
    if (startedAt === undefined && latest < Infinity && latest >= now()) return latest + 1;
    if ((startedAt ?? now()) <= latest) return undefined;
    const excuse =
      this.#options.isUnclear() ??
      (this.#options.calmFrom() > since ? 'faults strike' : undefined) ??
      delayOf(record, course, since - receivedMs, startedAt ?? now()) ??
      (this.#isDisplaced(course) ? 'another entity has got the turn' : undefined) ??
      (this.#wasPassed(course) ? 'one that was ahead of it has started' : undefined);
    if (excuse !== undefined) {
      this.#evidence.excused(`a turn came late: ${excuse}`);
      return undefined;
    }
    const start = startedAt === undefined ? 'does not' : `starts at ${startedAt.toFixed(0)}`;
    this.#evidence.violated(
      'I5',
      `${entity}, whose turn (${confidence}) it is since ${since.toFixed(0)}, must start by ${latest.toFixed(0)}, and ${start}`,
    );
    return undefined;
  }

  /** Reports whether an entity ahead was bound that had no turn in the meantime, for example because its last prediction had failed. */
  #wasPassed({ entity, since, startedAt = Infinity, priority }: TurnCourse): boolean {
    const { record } = this.#evidence;
    const ready = readyTimes(record, entity);
    return record.changes.some(({ resource, object, previous, at }) => {
      if (resource !== 'pods' || previous === undefined || at < since || at > startedAt) return false;
      const pod = plainPod(object);
      if (pod.node === '' || plainPod(previous).node !== '' || pod.priority !== priority) return false;
      const other = entityOf(record, pod);
      const otherReady = readyTimes(record, other);
      const isAhead = ready !== undefined && otherReady !== undefined && otherReady.latest + aheadMs < ready.earliest;
      return isAhead && !this.#courses.some((each) => each.entity === other && (each.endedAt ?? Infinity) > since);
    });
  }

  #isDisplaced({ entity, since, endedAt }: TurnCourse): boolean {
    if (endedAt === undefined) return false;
    return this.#courses.some((other) => other.entity !== entity && other.since > since);
  }
}

function zonesOf(nodes: readonly PlainNode[]): readonly (string | undefined)[] {
  return [...new Set(nodes.map(({ zone }) => zone))];
}
