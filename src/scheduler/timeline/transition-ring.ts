import type { Pod } from '../../api/pod.ts';
import type { WaitsFor } from '../../api/verdict.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import type { TransitionKind } from '../../api/timeline/transition-kind.ts';
import type { MemberCounts, Transition } from '../../api/timeline/transition.ts';

/** The entity of a transition: what names it when its objects are gone. */
export interface RecordedEntity {
  /** Key of the group, or uid of the pod. */
  readonly id: string;
  readonly isPod: boolean;
  /** Of a pod, at the transition with which it has gone. Before that, the cluster cache has them. */
  readonly names?: Pick<Pod, 'namespace' | 'name'>;
}

/** What the ring copies into an entry. The caller reuses the object, because a new one for each transition would cost more than the entry. */
export interface NewEntry {
  /** False: it is a group. */
  isPod: boolean;
  kind: TransitionKind;
  state: TimelineState;
  /** False: the five numbers below mean nothing. */
  hasCounts: boolean;
  members: number;
  planned: number;
  bound: number;
  /** -1: the PodGroup does not exist. */
  minMember: number;
  started: boolean;
  /** Of a pod that has gone: its namespace. */
  node: string | undefined;
  waitsFor: WaitsFor | undefined;
  /** Of a pod that has gone: its name. Of `Preempted`: key of the entity that benefits. Otherwise: the reason. */
  detail: string | undefined;
  /** Milliseconds since the epoch. */
  time: number;
}

/** Default of the maximum number of entries. */
export const ringCapacity = 20_000;
const initialCapacity = 256;

const waitsForWords: readonly (WaitsFor | undefined)[] = [
  ...([undefined, 'members', 'gates', 'turn', 'capacity', 'nodes', 'never', 'permit', 'error', 'unknown'] as const),
];
const waitsForCodes: ReadonlyMap<WaitsFor | undefined, number> = new Map(
  waitsForWords.map((word, code) => [word, code]),
);
const waitsForMask = 0xff;
/** Flags of an entry, in the word that has `waitsFor` in its lowest byte. */
const hasCounts = 0x100;
const hasStarted = 0x200;
const hasMinMember = 0x400;
const isOfPod = 0x800;

// The numbers of an entry are side by side in one buffer, so that a new one touches few lines of the processor's cache: first two of 8 bytes, then
// eight of 4 bytes.
/** In `numbers`. */
const numbersPerEntry = 6;
const [sequenceAt, timeAt] = [0, 1];
/** In `words`. `growth`: sequence number of the latest growth, minus that of the entry. `lasted`: time from the first to the last of the run. */
const wordsPerEntry = 2 * numbersPerEntry;
const [growthAt, lastedAt, countAt, codesAt, membersAt, plannedAt, boundAt, minMemberAt] = [4, 5, 6, 7, 8, 9, 10, 11];
/** In `texts`. */
const textsPerEntry = 5;
const [idAt, kindAt, stateAt, nodeAt, detailAt] = [0, 1, 2, 3, 4];

interface EntryTexts extends Pick<NewEntry, 'kind' | 'state' | 'node' | 'detail'> {
  readonly id: string;
}

/** Returns the code of waitsFor, and flags. */
function codesOf(entry: NewEntry): number {
  const waitsFor = entry.waitsFor === undefined ? 0 : waitsForCodes.get(entry.waitsFor)!;
  const owner = entry.isPod ? isOfPod : 0;
  if (!entry.hasCounts) return waitsFor | owner;
  return waitsFor | owner | hasCounts | (entry.started ? hasStarted : 0) | (entry.minMember < 0 ? 0 : hasMinMember);
}

/**
 * The latest transitions, at most `maxEntries`. An entry takes 88 bytes, besides strings that exist anyway: the uid of a pod stays in memory while an
 * entry has it, the names while the entry with which it has gone has them, and the pod itself does not. The arrays grow with the number of entries.
 *
 * An entry has a position, counted from the first one, and a sequence number. Each new entry and each growth of a run takes the next number.
 */
export class TransitionRing {
  readonly maxEntries: number;
  #capacity = 0;
  #numbers = new Float64Array();
  /** The same buffer as `numbers`. */
  #words = new Uint32Array();
  #texts: (string | undefined)[] = [];
  #appended = 0;
  #sequence = 0;
  /** The latest number of an entry that was dropped. A client that has received all up to here misses none. */
  #droppedUpTo = 0;
  /** Time of the latest entry that was dropped; 0: none was. Always a number, because V8 then updates it in place. */
  #droppedAt = 0;

  constructor(maxEntries = ringCapacity) {
    this.maxEntries = maxEntries;
    this.clear();
  }

  /** Number of the latest change. */
  get sequence(): number {
    return this.#sequence;
  }

  get size(): number {
    return Math.min(this.#appended, this.#capacity);
  }

  /** Returns whether all that came or grew after this number is still here. */
  holdsAfter(sequence: number): boolean {
    return sequence >= this.#droppedUpTo && sequence <= this.#sequence;
  }

  /** Milliseconds since the epoch since which all entries are held; 0: none was dropped. */
  get heldSince(): number {
    return this.#droppedAt;
  }

  /** Drops all entries. The next one has the number 1. */
  clear(): void {
    this.#capacity = Math.min(initialCapacity, this.maxEntries);
    this.#numbers = new Float64Array(this.#capacity * numbersPerEntry);
    this.#words = new Uint32Array(this.#numbers.buffer);
    this.#texts = textsFor(this.#capacity);
    this.#appended = this.#sequence = this.#droppedUpTo = this.#droppedAt = 0;
  }

  /** Adds an entry, which takes the place of the oldest one if there is no other. Returns its position. */
  append(id: string, entry: NewEntry): number {
    if (this.#appended >= this.#capacity) this.#makePlace();
    const position = this.#appended++;
    const slot = position % this.#capacity;
    const numbers = slot * numbersPerEntry;
    this.#numbers[numbers + sequenceAt] = ++this.#sequence;
    this.#numbers[numbers + timeAt] = entry.time;
    const words = slot * wordsPerEntry;
    this.#words[words + growthAt] = 0;
    this.#words[words + lastedAt] = 0;
    this.#words[words + countAt] = 1;
    this.#words[words + codesAt] = codesOf(entry);
    this.#setCounts(words, entry);
    const texts = slot * textsPerEntry;
    this.#texts[texts + idAt] = id;
    this.#texts[texts + kindAt] = entry.kind;
    this.#texts[texts + stateAt] = entry.state;
    this.#texts[texts + nodeAt] = entry.node;
    this.#texts[texts + detailAt] = entry.detail;
    return position;
  }

  /**
   * Adds the transition to the run of the entry at this position, if it is still here, is of this entity and differs only in its numbers and its
   * node. Returns false otherwise.
   */
  grow(position: number, id: string, entry: NewEntry): boolean {
    if (!this.has(position)) return false;
    const slot = position % this.#capacity;
    const words = slot * wordsPerEntry;
    const texts = slot * textsPerEntry;
    const known = this.#texts;
    if (known[texts + kindAt] !== entry.kind || known[texts + stateAt] !== entry.state) return false;
    if (known[texts + detailAt] !== entry.detail || known[texts + idAt] !== id) return false;
    const codes = codesOf(entry);
    if (((this.#words[words + codesAt]! ^ codes) & waitsForMask) !== 0) return false;
    const numbers = slot * numbersPerEntry;
    this.#words[words + growthAt] = ++this.#sequence - this.#numbers[numbers + sequenceAt]!;
    this.#words[words + lastedAt] = Math.max(0, entry.time - this.#numbers[numbers + timeAt]!);
    this.#words[words + countAt]!++;
    this.#words[words + codesAt] = codes;
    this.#setCounts(words, entry);
    if (known[texts + nodeAt] !== entry.node) known[texts + nodeAt] = undefined;
    return true;
  }

  /** Returns whether the entry at this position is still here. */
  has(position: number): boolean {
    return position >= 0 && position < this.#appended && position >= this.#appended - this.#capacity;
  }

  /** Returns the entry at a position that `has`. */
  at(position: number): Transition {
    const slot = position % this.#capacity;
    const words = slot * wordsPerEntry;
    const codes = this.#words[words + codesAt]!;
    const count = this.#words[words + countAt]!;
    const time = this.#numbers[slot * numbersPerEntry + timeAt]!;
    const counts = this.#countsAt(words);
    const waitsFor = waitsForWords[codes & waitsForMask];
    const { kind, state, node, detail } = this.#textsAt(position);
    const hasNames = namesPod(codes, state);
    return {
      sequence: this.#numbers[slot * numbersPerEntry + sequenceAt]!,
      time,
      kind,
      entity: this.entityKeyAt(position),
      state,
      ...(counts !== undefined && { counts }),
      ...(node !== undefined && !hasNames && { node }),
      ...(waitsFor !== undefined && { waitsFor }),
      ...(detail !== undefined && !hasNames && { [kind === 'Preempted' ? 'by' : 'reason']: detail }),
      ...(count > 1 && { count, until: time + this.#words[words + lastedAt]! }),
    };
  }

  /** Returns the entity of the entry at a position that `has`. */
  entityAt(position: number): RecordedEntity {
    const { id, state, node, detail } = this.#textsAt(position);
    const codes = this.#codesAt(position);
    const names = namesPod(codes, state) ? { names: { namespace: node!, name: detail! } } : undefined;
    return { id, isPod: (codes & isOfPod) !== 0, ...names };
  }

  /** Returns `gang/<group key>` or `pod/<uid>`, for a position that `has`. */
  entityKeyAt(position: number): string {
    const isPod = (this.#codesAt(position) & isOfPod) !== 0;
    return `${isPod ? 'pod' : 'gang'}/${this.#textsAt(position).id}`;
  }

  /** Yields the positions of the entries that came or grew after this number, in order. */
  *positionsAfter(sequence: number): Iterable<number> {
    for (let position = this.#appended - this.size; position < this.#appended; position++) {
      const slot = position % this.#capacity;
      const growth = this.#words[slot * wordsPerEntry + growthAt]!;
      if (this.#numbers[slot * numbersPerEntry + sequenceAt]! + growth > sequence) yield position;
    }
  }

  #codesAt(position: number): number {
    return this.#words[(position % this.#capacity) * wordsPerEntry + codesAt]!;
  }

  #textsAt(position: number): EntryTexts {
    const at = (position % this.#capacity) * textsPerEntry;
    const [id, kind, state, node, detail] = this.#texts.slice(at, at + textsPerEntry);
    return { id: id!, kind: kind as TransitionKind, state: state as TimelineState, node, detail };
  }

  #makePlace(): void {
    if (this.#capacity < this.maxEntries) {
      // Nothing has been dropped so far, so position and slot are equal.
      this.#capacity = Math.min(this.maxEntries, this.#capacity * 2);
      const numbers = new Float64Array(this.#capacity * numbersPerEntry);
      numbers.set(this.#numbers);
      this.#numbers = numbers;
      this.#words = new Uint32Array(numbers.buffer);
      const texts = textsFor(this.#capacity);
      for (let i = 0; i < this.#texts.length; i++) texts[i] = this.#texts[i];
      this.#texts = texts;
      return;
    }
    const slot = this.#appended % this.#capacity;
    const latest = this.#numbers[slot * numbersPerEntry + sequenceAt]! + this.#words[slot * wordsPerEntry + growthAt]!;
    this.#droppedUpTo = Math.max(this.#droppedUpTo, latest);
    this.#droppedAt = this.#numbers[slot * numbersPerEntry + timeAt]!;
  }

  #setCounts(words: number, entry: NewEntry): void {
    if (!entry.hasCounts) return;
    this.#words[words + membersAt] = entry.members;
    this.#words[words + plannedAt] = entry.planned;
    this.#words[words + boundAt] = entry.bound;
    this.#words[words + minMemberAt] = Math.max(0, entry.minMember);
  }

  #countsAt(words: number): MemberCounts | undefined {
    const flags = this.#words[words + codesAt]!;
    if ((flags & hasCounts) === 0) return undefined;
    return {
      members: this.#words[words + membersAt]!,
      planned: this.#words[words + plannedAt]!,
      bound: this.#words[words + boundAt]!,
      ...((flags & hasMinMember) !== 0 && { minMember: this.#words[words + minMemberAt]! }),
      started: (flags & hasStarted) !== 0,
    };
  }
}

/** Returns whether the entry has the names of its pod, in place of a node and a reason. */
function namesPod(codes: number, state: TimelineState): boolean {
  return (codes & isOfPod) !== 0 && state === 'Gone';
}

/** Returns an array of its final length: one that grows by itself takes half as much again. */
function textsFor(capacity: number): (string | undefined)[] {
  return new Array<string | undefined>(capacity * textsPerEntry).fill(undefined);
}
