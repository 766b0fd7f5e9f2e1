import type { Evidence } from './evidence.ts';
import { PlainCapacity, formOf } from './plain-fit.ts';
import { podsIn, takenCapacity, usableNodes } from './plain-group.ts';
import { barredNodes, reservedCapacity } from './plain-losses.ts';
import type { BarredNode, ReservedCapacity } from './plain-losses.ts';
import type { PlainNode, PlainPod } from './plain-objects.ts';

/** Time between the release of capacity and the last retry of the waiting pods. */
const restMs = 15_000;

/** Why pods wait although they fit by the API, and how long they may wait at the latest. */
export interface Blocked {
  readonly why: string;
  readonly until: number;
}

/**
 * Reasons why pods may not get capacity that is free by the API: a reservation for lost members of another group, or a node that rejected
 * pods of the same form.
 */
export class CapacityOfOthers {
  readonly #pods: readonly PlainPod[];
  readonly #nodes: readonly PlainNode[];
  /** All nodes, including the one that rejects every Binding. */
  readonly #nodeNames: readonly string[];
  readonly #kept: readonly ReservedCapacity[];
  readonly #barred: readonly BarredNode[];

  /** Reads the current state. */
  constructor({ record, started, now, seenBy }: Evidence, forbiddenNode: string | undefined) {
    const past = { now: now(), seenBy: seenBy() };
    this.#pods = podsIn(record);
    this.#nodes = usableNodes(record, forbiddenNode);
    this.#nodeNames = usableNodes(record, undefined).map(({ name }) => name);
    this.#kept = reservedCapacity(record, started, past);
    this.#barred = barredNodes(record, past);
  }

  /** Returns the nodes with the pods that use capacity there, except `waiting`, and with `more`. */
  without(waiting: readonly PlainPod[], more: readonly (readonly [PlainPod, string])[] = []): PlainCapacity {
    return new PlainCapacity(this.#nodes, [...this.#takenBesides(waiting), ...more]);
  }

  /**
   * Returns why `needed` of the waiting pods cannot be bound although they fit by the API. They belong to one group, or are one pod without
   * a group. Undefined: nothing blocks them.
   */
  whyBlocked(waiting: readonly PlainPod[], needed: number): Blocked | undefined {
    const kept = this.#kept.filter(({ group }) => group !== waiting[0]!.group);
    const forms = waiting.map(formOf);
    const barred = this.#barred.filter(({ form }) => forms.includes(form));
    const until = Math.max(...[...kept, ...barred].map((each) => each.until)) + restMs;
    if (kept.length > 0 && !this.#fitsBeside(kept, waiting, needed)) {
      return { why: 'capacity is reserved for lost members', until };
    }
    const open = this.#nodes.filter(({ name }) => !barred.some(({ node }) => node === name));
    const isBarred =
      barred.length > 0 && !new PlainCapacity(open, this.#takenBesides(waiting)).takesAnyhow(waiting, needed);
    return isBarred ? { why: 'a node has rejected such pods', until } : undefined;
  }

  #takenBesides(waiting: readonly PlainPod[]): (readonly [PlainPod, string])[] {
    return takenCapacity(this.#pods.filter((pod) => !waiting.includes(pod)));
  }

  /** Reports whether the pods fit wherever the reservations are: on the node of the lost member or on any other. */
  #fitsBeside(
    kept: readonly ReservedCapacity[],
    waiting: readonly PlainPod[],
    needed: number,
    placed: readonly (readonly [PlainPod, string])[] = [],
  ): boolean {
    const [first, ...rest] = kept;
    const capacity = this.without(waiting, placed);
    if (first === undefined) return capacity.takesAnyhow(waiting, needed);
    return this.#nodeNames
      .filter((name) => name === first.lost.node || capacity.takes(first.lost, name))
      .every((name) => this.#fitsBeside(rest, waiting, needed, [...placed, [first.lost, name]]));
  }
}
