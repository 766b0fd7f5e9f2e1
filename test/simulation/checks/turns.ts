import type { Committed } from '../world/record.ts';
import type { Checker, Evidence } from './evidence.ts';
import type { Obstacles } from './capacity-of-others.ts';
import { PlainCapacity } from './plain-fit.ts';
import { claimsIn, podsIn, usableNodes } from './plain-group.ts';
import { isOnNode, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { entityOf, mayBlock, turnOf, turnsIn } from './plain-turns.ts';
import type { PlainTurn } from './plain-turns.ts';
import { delayOf, isStarted, latestEndFor } from './turn-bound.ts';
import type { TurnCourse } from './turn-bound.ts';

/** How long after the last end an entity starts at the latest. */
const boundMs = 45_000;
/** Bindings that were planned before the turn are sent until then. */
const planTakesMs = 12_000;
/** Time until an entity that has lost its turn no longer shows it: an attempt after the longest back-off, and the write. */
const shownMs = 20_000;
/** Starting a pod takes this long at most. */
const startMs = 2_000;

export interface TurnCheckerOptions {
  readonly obstacles: Obstacles;
  readonly drainAfterMs: number;
  /** Wall-clock time at which the run begins. */
  readonly epochMs: number;
  /** Why the bound cannot be checked in this run. */
  readonly isUnclear: () => string | undefined;
}

/**
 * I5: an entity with a predicted start starts by then, at most one entity in each pool has one, and pods behind it start on the capacity that
 * it needs only if they declare to end before. Knows turns from the condition on one of the pods, so it cannot see on which nodes capacity is
 * reserved: it reports a pod only if the entity would fit nowhere beside it. It does not see the bound of a turn that it excuses for anything
 * that has delayed the entity.
 */
export class TurnChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #options: TurnCheckerOptions;
  readonly #courses: TurnCourse[] = [];
  /** entity -> its present turn */
  readonly #present = new Map<string, TurnCourse>();
  readonly #counts = { 'turns shown': 0, 'turns drained': 0, 'pods backfilled where a turn is': 0 };
  /** Time from which on more turns are shown than there are pools. */
  #crowdedSince: number | undefined;

  constructor(evidence: Evidence, options: TurnCheckerOptions) {
    this.#evidence = evidence;
    this.#options = options;
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  committed({ resource, type, object, previous, by }: Committed): void {
    if (resource !== 'pods') return;
    const pod = plainPod(object);
    const before = previous && plainPod(previous);
    const entities = new Set([entityOf(pod), before === undefined ? entityOf(pod) : entityOf(before)]);
    for (const entity of entities) {
      if (pod.predicted !== undefined || before?.predicted !== undefined || this.#present.has(entity))
        this.#look(entity);
    }
    const isBound = type === 'MODIFIED' && pod.node !== '' && before?.node === '' && by !== 'world';
    if (isBound && this.#present.size > 0) this.#bound(pod);
  }

  settled(): number | undefined {
    const { now, record, violated } = this.#evidence;
    this.#countShown();
    const turns = turnsIn(record);
    for (const turn of turns) if (!this.#canStart(turn)) violated('I5', `${turn.entity} has a turn, but fits nowhere`);
    let again: number | undefined;
    const pods = podsIn(record);
    for (const { key, at } of record.changes) void [key, at];
    // Turns may still come: an entity waits for the longest time, and the next search for one follows.
    const lastAt = Math.max(
      0,
      ...record.changes.filter(({ resource, by }) => resource === 'pods' && by === 'world').map(({ at }) => at),
    );
    const due = lastAt + this.#options.drainAfterMs + boundMs;
    if (pods.some((pod) => pod.node === '') && due > now()) again = due;
    for (const course of this.#courses) {
      const judgedAt = this.#judge(course);
      if (judgedAt !== undefined) again = Math.max(again ?? 0, judgedAt);
    }
    return again;
  }

  #look(entity: string): void {
    const { record, now } = this.#evidence;
    const turn = turnOf(record, entity);
    const present = this.#present.get(entity);
    if (turn !== undefined && present === undefined) {
      const { confidence } = turn.prediction;
      this.#counts['turns shown']++;
      if (confidence === 'Draining') this.#counts['turns drained']++;
      const course = {
        entity,
        since: now(),
        confidence,
        priority: turn.priority,
        startedAt: undefined,
        endedAt: undefined,
      };
      this.#courses.push(course);
      this.#present.set(entity, course);
    }
    const course = this.#courses.findLast((each) => each.entity === entity);
    if (course !== undefined && course.startedAt === undefined && isStarted(record, entity)) course.startedAt = now();
    if (turn === undefined && present !== undefined) {
      present.endedAt = now();
      this.#present.delete(entity);
    }
    this.#countShown();
  }

  /** Checks that no more entities show a turn than there are pools, apart from the time until the last one has been rewritten. */
  #countShown(): void {
    const { record, now, promptFrom, lagMs } = this.#evidence;
    const pools =
      this.#options.obstacles.areZonesPools === true
        ? new Set(usableNodes(record, undefined).map(({ zone }) => zone)).size
        : 1;
    const isCrowded = this.#present.size > pools;
    const since = this.#crowdedSince === undefined ? undefined : Math.max(this.#crowdedSince, promptFrom());
    if (since !== undefined && now() - since > shownMs + 2 * lagMs()) {
      const entities = [...this.#present.keys()].join(', ');
      this.#evidence.violated(
        'I5',
        `${entities} have had turns in ${pools} pools for ${((now() - since) / 1000).toFixed(0)} s`,
      );
    }
    if (!isCrowded) this.#crowdedSince = undefined;
    else this.#crowdedSince ??= now();
  }

  /** A pod was bound while other entities have turns. */
  #bound(pod: PlainPod): void {
    const { record, now, promptFrom, lagMs } = this.#evidence;
    for (const { entity, since, priority } of this.#present.values()) {
      if (entity === entityOf(pod) || pod.priority > priority) continue;
      const turn = turnOf(record, entity);
      if (turn === undefined || now() - since < planTakesMs || this.#canStart(turn, pod)) continue;
      // Without the pod, it is the nodes that have changed.
      if (!this.#canStart(turn)) continue;
      this.#counts['pods backfilled where a turn is']++;
      if (promptFrom() > since || this.#options.isUnclear() !== undefined) continue;
      const { at, confidence } = turn.prediction;
      const end = now() + (pod.declaredMs ?? Infinity);
      const latest = at === undefined ? Infinity : at - this.#options.epochMs + startMs + lagMs() + 1_000;
      if (end <= latest && pod.declaredMs !== undefined) continue;
      if (this.#precedes(pod) || confidence === 'Estimated') continue;
      this.#evidence.violated(
        'I5',
        `${pod.name}, which ${pod.declaredMs === undefined ? 'declares no end' : `ends at ${end.toFixed(0)}`}, was bound to ${pod.node}, which ${entity} needs by ${latest.toFixed(0)}`,
      );
    }
  }

  /** Reports whether the pod belongs to a group that must be completed, or capacity was reserved for it by a preemption. */
  #precedes(pod: PlainPod): boolean {
    const { record } = this.#evidence;
    if (
      record.changes.some(
        ({ object, resource }) =>
          resource === 'pods' && plainPod(object).uid === pod.uid && plainPod(object).nominatedNode !== '',
      )
    )
      return true;
    return (
      pod.group !== undefined &&
      podsIn(record).some((other) => other.group === pod.group && other.uid !== pod.uid && isOnNode(other))
    );
  }

  /** Reports whether the members that the turn needs fit on the nodes of one pool when only `beside` and its own pods are there. */
  #canStart({ entity, waiting, needed, ...turn }: PlainTurn, beside?: PlainPod): boolean {
    const { record } = this.#evidence;
    const { refused = [], areZonesPools = false } = this.#options.obstacles;
    const surroundings = { claims: claimsIn(record), refused };
    const nodes = usableNodes(record, undefined);
    const own = podsIn(record).filter((pod) => isOnNode(pod) && (entityOf(pod) === entity || pod.uid === beside?.uid));
    const fits = (of: typeof nodes): boolean =>
      new PlainCapacity(
        of,
        own.map((pod) => [pod, pod.node] as const),
        surroundings,
      ).arrangement(waiting, needed) !== 'none';
    void [mayBlock, turn];
    if (!areZonesPools) return fits(nodes);
    return [...new Set(nodes.map(({ zone }) => zone))].some((pool) =>
      fits(nodes.map((node) => (node.zone === pool ? node : { ...node, isClosed: true }))),
    );
  }

  /** Checks the bound. Returns when it can be checked; undefined: it holds, or does not apply. */
  #judge(course: TurnCourse): number | undefined {
    const { record, now, promptFrom, violated, excused } = this.#evidence;
    const { entity, since, startedAt, endedAt } = course;
    const by = latestEndFor(record, course) + boundMs;
    if (by === Infinity || ((startedAt ?? 0) > by === false && startedAt !== undefined)) return undefined;
    if (startedAt === undefined && by >= now()) return by + 1;
    const until = startedAt ?? now();
    const excuse =
      this.#options.isUnclear() ??
      (promptFrom() > since - planTakesMs ? 'faults strike' : undefined) ??
      delayOf(record, course, since - planTakesMs, until) ??
      this.#displacement(course, endedAt);
    if (excuse !== undefined) {
      excused(`a turn came late: ${excuse}`);
      return undefined;
    }
    const what = startedAt === undefined ? 'has not started' : `started at ${startedAt.toFixed(0)}`;
    violated(
      'I5',
      `${entity} has a turn since ${since.toFixed(0)} (${course.confidence}) and had to start by ${by.toFixed(0)}, but ${what}`,
    );
    return undefined;
  }

  #displacement({ entity, since }: TurnCourse, endedAt: number | undefined): string | undefined {
    if (endedAt === undefined) return undefined;
    const isDisplaced = this.#courses.some((other) => other.entity !== entity && other.since > since);
    return isDisplaced ? 'another entity got the turn' : undefined;
  }
}
