import type { Pod } from '../../api/pod.ts';
import type { WaitsFor } from '../../api/verdict.ts';
import { timelineStates } from '../../api/timeline/timeline-state.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import { transitionKinds } from '../../api/timeline/transition-kind.ts';
import type { TransitionKind } from '../../api/timeline/transition-kind.ts';
import type { MemberCounts, Transition } from '../../api/timeline/transition.ts';

/** The entity of a transition: what names it when its objects are gone. */
export interface RecordedEntity {
  /** Key of the group, or uid of the pod. */
  readonly id: string;
  /** Of the pod. Absent: it is a group. Two strings, because one of both would keep them and itself in memory. */
  readonly pod?: Pick<Pod, 'namespace' | 'name'>;
}

/** What an entry says besides its numbers, its entity and its time. */
export interface TransitionContent {
  readonly kind: TransitionKind;
  readonly state: TimelineState;
  readonly counts: MemberCounts | undefined;
  readonly node: string | undefined;
  readonly waitsFor: WaitsFor | undefined;
  readonly reason: string | undefined;
  readonly by: string | undefined;
}

/** Default of the maximum number of entries. */
export const ringCapacity = 20_000;
const initialCapacity = 256;

const kindCodes = codesOf(transitionKinds);
const stateCodes = codesOf(timelineStates);
const waitsForWords: readonly WaitsFor[] = [
  ...(['members', 'gates', 'turn', 'capacity', 'nodes', 'never', 'permit', 'error', 'unknown'] as const),
];
const waitsForCodes = codesOf(waitsForWords);
const noCode = 255;
/** Flags of an entry. */
const hasCounts = 1;
const hasStarted = 2;
const hasMinMember = 4;

function codesOf<T extends string>(words: readonly T[]): ReadonlyMap<T, number> {
  return new Map(words.map((word, code) => [word, code]));
}

/**
 * The latest transitions, at most `maxEntries`. An entry takes 92 bytes in columns, besides the strings that its pods had anyway: the names of
 * a pod stay in memory while an entry has them, the pod itself does not. The columns grow with the number of entries.
 *
 * An entry has a position, counted from the first one, and a sequence number. Each new entry and each growth of a run takes the next number.
 */
export class TransitionRing {
  readonly maxEntries: number;
  #capacity: number;
  #columns: Columns;
  #appended = 0;
  #sequence = 0;
  /** The latest number of an entry that was dropped. A client that has received all up to here misses none. */
  #droppedUpTo = 0;
  /** Time of the latest entry that was dropped. */
  #droppedAt: number | undefined;

  constructor(maxEntries = ringCapacity) {
    this.maxEntries = maxEntries;
    this.#capacity = Math.min(initialCapacity, maxEntries);
    this.#columns = columnsFor(this.#capacity);
  }

  /** Number of the latest change. */
  get sequence(): number {
    return this.#sequence;
  }

  get size(): number {
    return Math.min(this.#appended, this.#capacity);
  }

  /** Position of the entry whose place the next one takes; undefined: there is another. */
  get nextToDrop(): number | undefined {
    return this.#appended >= this.maxEntries ? this.#appended - this.maxEntries : undefined;
  }

  /** Returns whether all that came or grew after this number is still here. */
  holdsAfter(sequence: number): boolean {
    return sequence >= this.#droppedUpTo && sequence <= this.#sequence;
  }

  /** Milliseconds since the epoch since which all entries are held; undefined: none was dropped. */
  get heldSince(): number | undefined {
    return this.#droppedAt;
  }

  /** Drops all entries. The numbers start anew. */
  clear(): void {
    this.#capacity = Math.min(initialCapacity, this.maxEntries);
    this.#columns = columnsFor(this.#capacity);
    this.#appended = this.#sequence = this.#droppedUpTo = 0;
    this.#droppedAt = undefined;
  }

  /** Adds an entry, which takes the place of the oldest one if there is no other. Returns its position. `time`: milliseconds since the epoch. */
  append({ id, pod }: RecordedEntity, content: TransitionContent, time: number): number {
    if (this.#appended >= this.#capacity) this.#makePlace();
    const position = this.#appended++;
    const slot = position % this.#capacity;
    const columns = this.#columns;
    columns.sequence[slot] = ++this.#sequence;
    columns.growth[slot] = 0;
    columns.time[slot] = time;
    columns.lasted[slot] = 0;
    columns.count[slot] = 1;
    columns.kind[slot] = kindCodes.get(content.kind)!;
    columns.state[slot] = stateCodes.get(content.state)!;
    columns.waitsFor[slot] = content.waitsFor === undefined ? noCode : waitsForCodes.get(content.waitsFor)!;
    this.#setCounts(slot, content.counts);
    columns.id[slot] = id;
    columns.namespace[slot] = pod?.namespace;
    columns.name[slot] = pod?.name;
    columns.node[slot] = content.node;
    columns.reason[slot] = content.reason;
    columns.by[slot] = content.by;
    return position;
  }

  /**
   * Adds the transition to the run of the entry at this position, if it is still here and differs only in its numbers and its node. Returns false
   * otherwise.
   */
  grow(position: number, content: TransitionContent, time: number): boolean {
    if (!this.has(position)) return false;
    const slot = position % this.#capacity;
    const columns = this.#columns;
    const isEqual =
      columns.kind[slot] === kindCodes.get(content.kind) &&
      columns.state[slot] === stateCodes.get(content.state) &&
      columns.reason[slot] === content.reason &&
      columns.by[slot] === content.by &&
      columns.waitsFor[slot] === (content.waitsFor === undefined ? noCode : waitsForCodes.get(content.waitsFor)!);
    if (!isEqual) return false;
    columns.growth[slot] = ++this.#sequence - columns.sequence[slot]!;
    columns.lasted[slot] = Math.max(0, time - columns.time[slot]!);
    columns.count[slot]!++;
    this.#setCounts(slot, content.counts);
    if (columns.node[slot] !== content.node) columns.node[slot] = undefined;
    return true;
  }

  /** Returns whether the entry at this position is still here. */
  has(position: number): boolean {
    return position >= 0 && position < this.#appended && position >= this.#appended - this.#capacity;
  }

  /** Returns the entry at a position that `has`. */
  at(position: number): Transition {
    const slot = position % this.#capacity;
    const { sequence, time, lasted, count, kind, state, waitsFor, node, reason, by } = this.#columns;
    const counts = this.#countsAt(slot);
    const runs = count[slot]!;
    const waits = waitsForWords[waitsFor[slot]!];
    return {
      sequence: sequence[slot]!,
      time: time[slot]!,
      kind: transitionKinds[kind[slot]!]!,
      entity: this.entityKeyAt(position),
      state: timelineStates[state[slot]!]!,
      ...(counts !== undefined && { counts }),
      ...(node[slot] !== undefined && { node: node[slot] }),
      ...(waits !== undefined && { waitsFor: waits }),
      ...(reason[slot] !== undefined && { reason: reason[slot] }),
      ...(by[slot] !== undefined && { by: by[slot] }),
      ...(runs > 1 && { count: runs, until: time[slot]! + lasted[slot]! }),
    };
  }

  /** Returns the entity of the entry at a position that `has`. */
  entityAt(position: number): RecordedEntity {
    const slot = position % this.#capacity;
    const { id, namespace, name } = this.#columns;
    const pod = name[slot] === undefined ? undefined : { namespace: namespace[slot]!, name: name[slot] };
    return { id: id[slot]!, ...(pod !== undefined && { pod }) };
  }

  /** Returns `gang/<group key>` or `pod/<uid>`, for a position that `has`. */
  entityKeyAt(position: number): string {
    const slot = position % this.#capacity;
    const { id, name } = this.#columns;
    return `${name[slot] === undefined ? 'gang' : 'pod'}/${id[slot]}`;
  }

  /** Yields the positions of the entries that came or grew after this number, in order. */
  *positionsAfter(sequence: number): Iterable<number> {
    const columns = this.#columns;
    for (let position = this.#appended - this.size; position < this.#appended; position++) {
      const slot = position % this.#capacity;
      if (columns.sequence[slot]! + columns.growth[slot]! > sequence) yield position;
    }
  }

  #makePlace(): void {
    if (this.#capacity < this.maxEntries) {
      const capacity = Math.min(this.maxEntries, this.#capacity * 2);
      // Nothing has been dropped so far, so position and slot are equal.
      this.#columns = columnsFor(capacity, this.#columns);
      this.#capacity = capacity;
      return;
    }
    const slot = this.#appended % this.#capacity;
    const { sequence, growth, time } = this.#columns;
    this.#droppedUpTo = Math.max(this.#droppedUpTo, sequence[slot]! + growth[slot]!);
    this.#droppedAt = time[slot]!;
  }

  #setCounts(slot: number, counts: MemberCounts | undefined): void {
    const columns = this.#columns;
    if (counts === undefined) {
      columns.flags[slot] = 0;
      return;
    }
    const { members, planned, bound, minMember, started } = counts;
    columns.flags[slot] = hasCounts | (started ? hasStarted : 0) | (minMember === undefined ? 0 : hasMinMember);
    columns.members[slot] = members;
    columns.planned[slot] = planned;
    columns.bound[slot] = bound;
    columns.minMember[slot] = minMember ?? 0;
  }

  #countsAt(slot: number): MemberCounts | undefined {
    const { flags, members, planned, bound, minMember } = this.#columns;
    const set = flags[slot]!;
    if ((set & hasCounts) === 0) return undefined;
    return {
      members: members[slot]!,
      planned: planned[slot]!,
      bound: bound[slot]!,
      ...((set & hasMinMember) !== 0 && { minMember: minMember[slot]! }),
      started: (set & hasStarted) !== 0,
    };
  }
}

/** slot -> value. Positions and slots agree modulo the capacity. */
interface Columns {
  readonly sequence: Float64Array;
  /** Sequence number of the latest growth, minus `sequence`. */
  readonly growth: Uint32Array;
  readonly time: Float64Array;
  /** Time from the first to the last of the run. */
  readonly lasted: Uint32Array;
  readonly count: Uint32Array;
  readonly kind: Uint8Array;
  readonly state: Uint8Array;
  readonly waitsFor: Uint8Array;
  readonly flags: Uint8Array;
  readonly members: Uint32Array;
  readonly planned: Uint32Array;
  readonly bound: Uint32Array;
  readonly minMember: Uint32Array;
  readonly id: string[];
  readonly namespace: (string | undefined)[];
  readonly name: (string | undefined)[];
  readonly node: (string | undefined)[];
  readonly reason: (string | undefined)[];
  readonly by: (string | undefined)[];
}

/** Returns columns for this many entries, with the content of the smaller ones. */
function columnsFor(capacity: number, smaller?: Columns): Columns {
  const floats = (values: Float64Array | undefined): Float64Array => {
    const column = new Float64Array(capacity);
    if (values !== undefined) column.set(values);
    return column;
  };
  const words = (values: Uint32Array | undefined): Uint32Array => {
    const column = new Uint32Array(capacity);
    if (values !== undefined) column.set(values);
    return column;
  };
  const bytes = (values: Uint8Array | undefined): Uint8Array => {
    const column = new Uint8Array(capacity);
    if (values !== undefined) column.set(values);
    return column;
  };
  return {
    sequence: floats(smaller?.sequence),
    growth: words(smaller?.growth),
    time: floats(smaller?.time),
    lasted: words(smaller?.lasted),
    count: words(smaller?.count),
    kind: bytes(smaller?.kind),
    state: bytes(smaller?.state),
    waitsFor: bytes(smaller?.waitsFor),
    flags: bytes(smaller?.flags),
    members: words(smaller?.members),
    planned: words(smaller?.planned),
    bound: words(smaller?.bound),
    minMember: words(smaller?.minMember),
    id: smaller?.id ?? [],
    namespace: smaller?.namespace ?? [],
    name: smaller?.name ?? [],
    node: smaller?.node ?? [],
    reason: smaller?.reason ?? [],
    by: smaller?.by ?? [],
  };
}
