import { parseDuration } from '../../../src/base/parse-duration.ts';
import { podGroupLabel } from '../../../src/api/pod-group-membership.ts';
import type { WatchedPod } from '../../expect/watched.ts';

/** How much later than the latest declared end an entity may start. */
const graceMs = 45_000;
/** How long the first entity in order may wait without a turn, beyond the time after which capacity is reserved. */
const turnWithinMs = 45_000;
/** The scheduler may have seen entities that became ready within this time in another order. */
const sameTimeMs = 2_000;

/** A pod or group that had a turn. Times are milliseconds since the epoch. */
export interface Turn {
  readonly entity: string;
  readonly pods: number;
  /** When all its pods existed. */
  readonly readyAt: number;
  /** When its predicted start was first shown. */
  readonly at: number;
  /** The start that was predicted then; undefined: none yet. */
  readonly predicted: number | undefined;
  /** The latest declared end of the pods that ran then. */
  readonly latestEnd: number;
  /** When all its pods were bound; undefined: they are not yet. */
  readonly startedAt: number | undefined;
  /** The latest time at which it has to be started: the latest declared end, or the end of a pod that ran for longer, plus the grace. */
  readonly bound: number;
}

interface RunningPod {
  readonly cpu: number;
  readonly startedAt: number;
  readonly declaredEnd: number;
  endedAt: number | undefined;
}

interface JudgedPod {
  readonly entity: Entity;
  running: RunningPod | undefined;
}

interface Entity {
  readonly name: string;
  readonly size: number;
  readonly uids: Set<string>;
  bound: number;
  readyAt: number | undefined;
  startedAt: number | undefined;
  turn:
    | { readonly at: number; readonly predicted: number | undefined; readonly running: readonly RunningPod[] }
    | undefined;
  /** Since when it is the first one that waits, and has waited long enough for a turn. */
  firstSince: number | undefined;
}

/** Checks the bound of reservations with a predicted start. Knows only what the API shows of pods, and how many pods a group has. */
export class TurnJudge {
  /** Sentences about turns that come too late or never. */
  readonly problems: string[] = [];
  readonly #sizeOf: (group: string) => number | undefined;
  readonly #reserveAfterMs: number;
  /** uid -> pod */
  readonly #pods = new Map<string, JudgedPod>();
  /** name of the group or pod -> entity that waits, in the order in which they were seen */
  readonly #waiting = new Map<string, Entity>();
  /** Entities with a turn that have not started. */
  readonly #open = new Set<Entity>();
  readonly #started: Turn[] = [];
  readonly #waits: { readonly size: number; readonly ms: number }[] = [];
  #usedCpuMs = 0;
  #overruns = 0;
  #longestFirstMs = 0;

  /** `sizeOf` returns the number of pods of a group; undefined: not known yet. */
  constructor(options: { readonly sizeOf: (group: string) => number | undefined; readonly reserveAfterMs: number }) {
    this.#sizeOf = options.sizeOf;
    this.#reserveAfterMs = options.reserveAfterMs;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** All turns so far. */
  get turns(): Turn[] {
    return [...this.#started, ...[...this.#open].map(turnOf)];
  }

  /** Number of pods that ran for longer than declared. */
  get overruns(): number {
    return this.#overruns;
  }

  /** How long the first entity in order waited without a turn after it might have one, at most. */
  get longestFirstMs(): number {
    return this.#longestFirstMs;
  }

  /** How long entities waited until they started: number of pods, and milliseconds. */
  get waits(): readonly { readonly size: number; readonly ms: number }[] {
    return this.#waits;
  }

  /** CPU time of pods on nodes until now, in milliseconds. */
  usedCpuMs(now: number): number {
    let sum = this.#usedCpuMs;
    for (const running of this.#running()) sum += running.cpu * (now - running.startedAt);
    return sum;
  }

  /** A watch showed this at `now`. */
  podChanged(type: 'ADDED' | 'MODIFIED' | 'DELETED', pod: WatchedPod, now: number): void {
    const { uid } = pod.metadata;
    const known = this.#pods.get(uid) ?? this.#podSeen(pod, now);
    if (known === undefined) return;
    const { entity } = known;
    this.#turnSeen(pod, entity, now);
    const hasEnded = type === 'DELETED' || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    const { nodeName = '' } = pod.spec;
    if (nodeName !== '' && known.running === undefined) {
      known.running = { cpu: cpuOf(pod), startedAt: now, declaredEnd: now + declaredMs(pod), endedAt: undefined };
      if (++entity.bound === entity.size) this.#start(entity, now);
    }
    if (hasEnded && known.running !== undefined && known.running.endedAt === undefined) {
      known.running.endedAt = now;
      if (now > known.running.declaredEnd) this.#overruns++;
      this.#usedCpuMs += known.running.cpu * (now - known.running.startedAt);
    }
    if (type !== 'DELETED') return;
    this.#pods.delete(uid);
    entity.uids.delete(uid);
  }

  /** Checks whether the first entity in order has waited for its turn for too long. Call it about once a second. */
  tick(now: number): void {
    let first: Entity | undefined;
    for (const entity of this.#waiting.values()) {
      if (entity.readyAt === undefined) continue;
      if (first === undefined || entity.readyAt < first.readyAt!) first = entity;
    }
    for (const entity of this.#waiting.values()) if (entity !== first) entity.firstSince = undefined;
    if (first === undefined || first.turn !== undefined || now < first.readyAt! + this.#reserveAfterMs) return;
    const { readyAt } = first;
    if ([...this.#open].some((entity) => entity.readyAt! < readyAt! + sameTimeMs)) {
      first.firstSince = undefined;
      return;
    }
    first.firstSince ??= now;
    const ms = now - first.firstSince;
    if (ms > turnWithinMs && this.#longestFirstMs <= turnWithinMs)
      this.problems.push(`${first.name} is first in order, and has no turn after ${turnWithinMs / 1000} s`);
    this.#longestFirstMs = Math.max(this.#longestFirstMs, ms);
  }

  /** Reports the turns that did not come in time. */
  end(now: number): void {
    for (const entity of this.#open) this.#check(turnOf(entity), now);
  }

  #podSeen(pod: WatchedPod, now: number): JudgedPod | undefined {
    const { uid, labels, name } = pod.metadata;
    const group = labels?.[podGroupLabel];
    const size = group === undefined ? 1 : this.#sizeOf(group);
    if (size === undefined) return undefined;
    let entity = this.#waiting.get(group ?? name);
    if (entity === undefined) {
      entity = {
        ...{ name: group ?? name, size, uids: new Set(), bound: 0 },
        ...{ readyAt: undefined, startedAt: undefined, turn: undefined, firstSince: undefined },
      };
      this.#waiting.set(group ?? name, entity);
    }
    entity.uids.add(uid);
    if (entity.uids.size === size) entity.readyAt ??= now;
    const known: JudgedPod = { entity, running: undefined };
    this.#pods.set(uid, known);
    return known;
  }

  #turnSeen({ status }: WatchedPod, entity: Entity, now: number): void {
    if (entity.turn !== undefined || entity.startedAt !== undefined) return;
    const condition = status?.conditions?.find(({ type }) => type === 'tutti.dev/PredictedStart');
    if (condition?.status !== 'True') return;
    const { message = '' } = condition;
    entity.turn = { at: now, predicted: message === '' ? undefined : Date.parse(message), running: this.#running() };
    this.#open.add(entity);
  }

  #running(): RunningPod[] {
    return [...this.#pods.values()].flatMap(({ running }) =>
      running !== undefined && running.endedAt === undefined ? [running] : [],
    );
  }

  #start(entity: Entity, now: number): void {
    entity.startedAt = now;
    for (const [key, each] of this.#waiting) if (each === entity) this.#waiting.delete(key);
    this.#waits.push({ size: entity.size, ms: now - (entity.readyAt ?? now) });
    if (!this.#open.delete(entity)) return;
    const turn = turnOf(entity);
    this.#started.push(turn);
    this.#check(turn, now);
  }

  #check({ entity, bound, at }: Turn, now: number): void {
    if (now <= bound) return;
    const lateMs = now - bound;
    this.problems.push(
      `${entity} had its turn at ${time(at)} and was to start by ${time(bound)}: ${Math.round(lateMs / 1000)} s late`,
    );
  }
}

function turnOf({ name, size, readyAt, turn, startedAt }: Entity): Turn {
  const { at, predicted, running } = turn!;
  let [latestEnd, bound] = [at, at];
  for (const { declaredEnd, endedAt = declaredEnd } of running) {
    latestEnd = Math.max(latestEnd, declaredEnd);
    bound = Math.max(bound, declaredEnd, endedAt);
  }
  return {
    entity: name,
    pods: size,
    readyAt: readyAt ?? at,
    at,
    predicted,
    latestEnd,
    startedAt,
    bound: bound + graceMs,
  };
}

/** Returns how long the pod runs at most, in milliseconds. */
function declaredMs({ metadata, spec }: WatchedPod): number {
  const { activeDeadlineSeconds } = spec;
  if (activeDeadlineSeconds !== undefined) return activeDeadlineSeconds * 1000;
  return parseDuration(metadata.annotations?.['tutti.dev/runtime'] ?? '') ?? 0;
}

function cpuOf({ spec }: WatchedPod): number {
  return (spec.containers ?? []).reduce((sum, { resources }) => sum + Number(resources?.requests?.cpu ?? 0), 0);
}

function time(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
