import type { Evidence } from './evidence.ts';
import { PlainCapacity, formOf } from './plain-fit.ts';
import { podsIn, takenCapacity, usableNodes } from './plain-group.ts';
import { barredNodes, reservedCapacity } from './plain-losses.ts';
import type { BarredNode, ReservedCapacity } from './plain-losses.ts';
import type { PlainNode, PlainPod } from './plain-objects.ts';

/** From when room is free again until all who wait have been tried. */
const restMs = 15_000;

/** Why pods wait though they fit on what the API shows, and until when they may, at the latest. */
export interface KeptAway {
  readonly why: string;
  readonly until: number;
}

/** What may keep pods from room that the API shows: it is kept for lost members of other groups, or a node has not admitted their like. */
export class CapacityOfOthers {
  readonly #pods: readonly PlainPod[];
  readonly #nodes: readonly PlainNode[];
  /** All nodes, also the one to which Bindings are rejected. */
  readonly #nodeNames: readonly string[];
  readonly #kept: readonly ReservedCapacity[];
  readonly #barred: readonly BarredNode[];

  /** As it is now. */
  constructor({ record, started, now, toldBy }: Evidence, forbiddenNode: string | undefined) {
    const past = { now: now(), toldBy: toldBy() };
    this.#pods = podsIn(record);
    this.#nodes = usableNodes(record, forbiddenNode);
    this.#nodeNames = usableNodes(record, undefined).map(({ name }) => name);
    this.#kept = reservedCapacity(record, started, past);
    this.#barred = barredNodes(record, past);
  }

  /** The nodes with everybody who takes up room there but those who wait, and with `more`. */
  without(waiting: readonly PlainPod[], more: readonly (readonly [PlainPod, string])[] = []): PlainCapacity {
    return new PlainCapacity(this.#nodes, [...this.#takenBesides(waiting), ...more]);
  }

  /** They are of one group, or one pod of none, and so many of them fit by what the API shows. Undefined: nothing keeps them from it. */
  keepsAway(waiting: readonly PlainPod[], needed: number): KeptAway | undefined {
    const kept = this.#kept.filter(({ group }) => group !== waiting[0]!.group);
    const forms = waiting.map(formOf);
    const barred = this.#barred.filter(({ form }) => forms.includes(form));
    const until = Math.max(...[...kept, ...barred].map((each) => each.until)) + restMs;
    if (kept.length > 0 && !this.#fitsBeside(kept, waiting, needed)) {
      return { why: 'room is kept for lost members', until };
    }
    const open = this.#nodes.filter(({ name }) => !barred.some(({ node }) => node === name));
    const isBarred =
      barred.length > 0 && !new PlainCapacity(open, this.#takenBesides(waiting)).takesAnyhow(waiting, needed);
    return isBarred ? { why: 'a node has not admitted such pods', until } : undefined;
  }

  #takenBesides(waiting: readonly PlainPod[]): (readonly [PlainPod, string])[] {
    return takenCapacity(this.#pods.filter((pod) => !waiting.includes(pod)));
  }

  /** Wherever on its own node or another that room is. */
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
