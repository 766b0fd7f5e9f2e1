import type { StoreRecord } from '../world/record.ts';
import type { Evidence } from './evidence.ts';
import { PlainCapacity } from './plain-fit.ts';
import type { PlainSurroundings } from './plain-fit.ts';
import { claimsIn, closed, podsIn, takenCapacity, usableNodes } from './plain-group.ts';
import { barredFor, barredNodes, lostCapacity, pastOf, reservedCapacity, respectedBy } from './plain-losses.ts';
import type { BarredNode, ReservedCapacity } from './plain-losses.ts';
import type { PlainNode, PlainPod } from './plain-objects.ts';
import { mayBlock, respectedTurns } from './plain-turns.ts';
import type { PlainTurn } from './plain-turns.ts';

/** Time between the release of capacity and the last retry of the waiting pods: a slow attempt that began before, the longest back-off, and one more. */
const restMs = 25_000;
/** Number of lost members to try on all nodes. */
const mostLost = 4;

/** Why pods wait although they fit by the API, and how long they may wait at the latest. */
export interface Blocked {
  readonly why: string;
  readonly until: number;
}

export interface Obstacles {
  /** The node that rejects every Binding. */
  readonly forbiddenNode?: string | undefined;
  /** Names of the nodes that the extender refuses. */
  readonly refused?: readonly string[] | undefined;
  /** Whether each zone is a pool of reservations with a predicted start. */
  readonly areZonesPools?: boolean | undefined;
  /** Returns whether at some time between these two, by default in the whole run, the API server did not serve the PodGroups of Kubernetes itself. */
  readonly wereNativeGroupsHidden?: (from?: number, to?: number) => boolean;
}

/**
 * Reasons why pods may not get capacity that is free by the API: a reservation for lost members of another group, or a node that rejected
 * pods of the same form.
 */
export class CapacityOfOthers {
  readonly #record: StoreRecord;
  readonly #started: ReadonlySet<string>;
  readonly #areZonesPools: boolean;
  readonly #pods: readonly PlainPod[];
  readonly #nodes: readonly PlainNode[];
  /** The nodes, with the one that rejects every Binding open. */
  readonly #allNodes: readonly PlainNode[];
  readonly #kept: readonly ReservedCapacity[];
  readonly #barred: readonly BarredNode[];
  readonly #surroundings: PlainSurroundings;
  /** What groups have lost, with or without a right to keep it. */
  readonly #lost: readonly ReservedCapacity[];

  /** Reads the current state. */
  constructor(evidence: Evidence, { forbiddenNode, refused = [], areZonesPools = false }: Obstacles) {
    const { record, started } = evidence;
    this.#record = record;
    this.#started = started;
    this.#areZonesPools = areZonesPools;
    const past = pastOf(evidence);
    this.#pods = podsIn(record);
    this.#nodes = usableNodes(record, forbiddenNode);
    this.#surroundings = { claims: claimsIn(record), refused };
    this.#allNodes = usableNodes(record, undefined);
    this.#kept = reservedCapacity(record, started, past);
    this.#lost = lostCapacity(record, started);
    this.#barred = barredNodes(record, past);
  }

  /** Returns the nodes with the pods that use capacity there, except `waiting` and nominated pods of a lower priority. */
  without(waiting: readonly PlainPod[]): PlainCapacity {
    return new PlainCapacity(this.#nodes, this.#takenBesides(waiting), this.#surroundings);
  }

  /**
   * Returns why `needed` of the waiting pods cannot be bound although they fit by the API. They belong to one group, or are one pod without
   * a group. Undefined: nothing blocks them.
   */
  whyBlocked(waiting: readonly PlainPod[], needed: number): Blocked | undefined {
    const kept = respectedBy(waiting, this.#kept);
    const barred = this.#barredFor(waiting);
    const until = Math.max(...[...kept, ...barred].map((each) => each.until)) + restMs;
    const open = closed(this.#nodes, barredFor(barred, waiting));
    if (kept.length > 0 && !this.#fitsBeside(kept, waiting, needed, this.#nodes)) {
      const isMissed = kept.some(({ startMissed }) => startMissed);
      const whose = isMissed ? ' of a group whose bound quorum lists skipped' : '';
      return { why: `capacity is reserved for lost members${whose}`, until };
    }
    if (barred.length > 0 && !this.#fitsBeside([], waiting, needed, open)) {
      return { why: 'a node has rejected such pods', until };
    }
    const isBoth = kept.length > 0 && barred.length > 0 && !this.#fitsBeside(kept, waiting, needed, open);
    return isBoth ? { why: 'a node has rejected such pods, and capacity elsewhere is reserved', until } : undefined;
  }

  /** Returns when the last node opens that has rejected pods like the waiting ones. The scheduler may then preempt there. Undefined: none is closed. */
  opensAt(waiting: readonly PlainPod[]): number | undefined {
    const barred = this.#barredFor(waiting);
    return barred.length === 0 ? undefined : Math.max(...barred.map(({ until }) => until)) + restMs;
  }

  #barredFor(waiting: readonly PlainPod[]): readonly BarredNode[] {
    return this.#barred.filter((bar) => barredFor([bar], waiting).length > 0);
  }

  /**
   * Returns the turns of entities that are not behind the waiting pods, if the capacity that they need may be where the waiting pods fit;
   * undefined: it cannot.
   */
  turnsAhead(waiting: readonly PlainPod[], needed: number): readonly PlainTurn[] | undefined {
    const turns = respectedTurns({ record: this.#record, started: this.#started }, waiting, this.#pods);
    if (turns.length === 0) return undefined;
    const kept = respectedBy(waiting, this.#kept);
    const open = closed(this.#nodes, barredFor(this.#barred, waiting));
    const where = {
      // A node that rejects Bindings can be reserved.
      nodes: this.#allNodes,
      pods: this.#pods,
      surroundings: this.#surroundings,
      areZonesPools: this.#areZonesPools,
    };
    return mayBlock(turns, where, (placed) => !this.#fitsBeside(kept, waiting, needed, open, placed))
      ? turns
      : undefined;
  }

  /** Reports whether the pods would not fit if other groups kept all that they have lost, beyond the limits of I10. */
  isKeptByOthers(waiting: readonly PlainPod[], needed: number): boolean {
    const lost = this.#lost.filter(({ group }) => group !== waiting[0]!.group).slice(-mostLost);
    return lost.length > 0 && !this.#fitsBeside(lost, waiting, needed, this.#nodes);
  }

  #takenBesides(waiting: readonly PlainPod[]): (readonly [PlainPod, string])[] {
    const others = this.#pods.filter((pod) => !waiting.includes(pod));
    return takenCapacity(others, Math.min(...waiting.map(({ priority }) => priority)));
  }

  /** Reports whether the pods fit on the nodes wherever the reservations may be. */
  #fitsBeside(
    kept: readonly ReservedCapacity[],
    waiting: readonly PlainPod[],
    needed: number,
    nodes: readonly PlainNode[],
    placed: readonly (readonly [PlainPod, string])[] = [],
  ): boolean {
    const [first, ...rest] = kept;
    const used = [...this.#takenBesides(waiting), ...placed];
    if (first === undefined)
      return new PlainCapacity(nodes, used, this.#surroundings).isFound(waiting, needed) === true;
    const capacity = new PlainCapacity(this.#nodes, used, this.#surroundings);
    return this.#allNodes
      .map(({ name }) => name)
      .filter((name) => name === first.lost.node || (!first.isFixed && capacity.takes(first.lost, name)))
      .every((name) => this.#fitsBeside(rest, waiting, needed, nodes, [...placed, [first.lost, name]]));
  }
}
