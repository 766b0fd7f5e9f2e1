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

/** What the ring copies into an entry. The caller reuses the object, because a new one for each transition would cost more than the entry. */
export interface NewEntry {
  /** Key of the group, or uid of the pod. */
  id: string;
  /** Undefined: it is a group. */
  pod: Pick<Pod, 'namespace' | 'name'> | undefined;
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
  node: string | undefined;
  waitsFor: WaitsFor | undefined;
  /** Of `Preempted`: key of the entity that benefits. Otherwise: the reason. */
  detail: string | undefined;
  /** Milliseconds since the epoch. */
  time: number;
}

/** Default of the maximum number of entries. */
export const ringCapacity = 20_000;
const initialCapacity = 256;

const kindCodes = codesOf(transitionKinds);
const stateCodes = codesOf(timelineStates);
const waitsForWords: readonly (WaitsFor | undefined)[] = [
  ...([undefined, 'members', 'gates', 'turn', 'capacity', 'nodes', 'never', 'permit', 'error', 'unknown'] as const),
];
const waitsForCodes = codesOf(waitsForWords);
/** Flags of an entry. */
const hasCounts = 1;
const hasStarted = 2;
const hasMinMember = 4;

// An entry has a place in each of three arrays, so that a new one touches few lines of the processor's cache.
/** In `numbers`. */
const numbersPerEntry = 2;
const [sequenceAt, timeAt] = [0, 1];
/** In `words`. `growth`: sequence number of the latest growth, minus that of the entry. `lasted`: time from the first to the last of the run. */
const wordsPerEntry = 8;
const [growthAt, lastedAt, countAt, codesAt, membersAt, plannedAt, boundAt, minMemberAt] = [0, 1, 2, 3, 4, 5, 6, 7];
/** In `texts`. */
const textsPerEntry = 5;
const [idAt, namespaceAt, nameAt, nodeAt, detailAt] = [0, 1, 2, 3, 4];

function codesOf<T extends string | undefined>(words: readonly T[]): ReadonlyMap<T, number> {
  return new Map(words.map((word, code) => [word, code]));
}

/** Returns the codes of kind, state, waitsFor and flags in one word. */
function codesOfEntry(entry: NewEntry): number {
  let flags = 0;
  if (entry.hasCounts) flags = hasCounts | (entry.started ? hasStarted : 0) | (entry.minMember < 0 ? 0 : hasMinMember);
  const kind = kindCodes.get(entry.kind)!;
  const state = stateCodes.get(entry.state)!;
  const waitsFor = entry.waitsFor === undefined ? 0 : waitsForCodes.get(entry.waitsFor)!;
  return kind | (state << 8) | (waitsFor << 16) | (flags << 24);
}

/**
 * The latest transitions, at most `maxEntries`. An entry takes 88 bytes, besides the strings that its pods had anyway: the names of a pod stay in
 * memory while an entry has them, the pod itself does not. The arrays grow with the number of entries.
 *
 * An entry has a position, counted from the first one, and a sequence number. Each new entry and each growth of a run takes the next number.
 */
export class TransitionRing {
  readonly maxEntries: number;
  #capacity = 0;
  #numbers = new Float64Array();
  #words = new Uint32Array();
  #texts: (string | undefined)[] = [];
  #appended = 0;
  #sequence = 0;
  /** The latest number of an entry that was dropped. A client that has received all up to here misses none. */
  #droppedUpTo = 0;
  /** Time of the latest entry that was dropped. */
  #droppedAt: number | undefined;

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

  /** Drops all entries. The next one has the number 1. */
  clear(): void {
    this.#capacity = Math.min(initialCapacity, this.maxEntries);
    this.#numbers = new Float64Array(this.#capacity * numbersPerEntry);
    this.#words = new Uint32Array(this.#capacity * wordsPerEntry);
    this.#texts = textsFor(this.#capacity);
    this.#appended = this.#sequence = this.#droppedUpTo = 0;
    this.#droppedAt = undefined;
  }

  /** Adds an entry, which takes the place of the oldest one if there is no other. Returns its position. */
  append(entry: NewEntry): number {
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
    this.#words[words + codesAt] = codesOfEntry(entry);
    this.#setCounts(words, entry);
    const texts = slot * textsPerEntry;
    this.#texts[texts + idAt] = entry.id;
    this.#texts[texts + namespaceAt] = entry.pod?.namespace;
    this.#texts[texts + nameAt] = entry.pod?.name;
    this.#texts[texts + nodeAt] = entry.node;
    this.#texts[texts + detailAt] = entry.detail;
    return position;
  }

  /**
   * Adds the transition to the run of the entry at this position, if it is still here and differs only in its numbers and its node. Returns false
   * otherwise.
   */
  grow(position: number, entry: NewEntry): boolean {
    if (!this.has(position)) return false;
    const slot = position % this.#capacity;
    const words = slot * wordsPerEntry;
    const texts = slot * textsPerEntry;
    const codes = codesOfEntry(entry);
    // All but the flags, which tell of counts.
    if (((this.#words[words + codesAt]! ^ codes) & 0xffffff) !== 0) return false;
    if (this.#texts[texts + detailAt] !== entry.detail) return false;
    const numbers = slot * numbersPerEntry;
    this.#words[words + growthAt] = ++this.#sequence - this.#numbers[numbers + sequenceAt]!;
    this.#words[words + lastedAt] = Math.max(0, entry.time - this.#numbers[numbers + timeAt]!);
    this.#words[words + countAt]!++;
    this.#words[words + codesAt] = codes;
    this.#setCounts(words, entry);
    if (this.#texts[texts + nodeAt] !== entry.node) this.#texts[texts + nodeAt] = undefined;
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
    const waitsFor = waitsForWords[(codes >>> 16) & 0xff];
    const kind = transitionKinds[codes & 0xff]!;
    const node = this.#texts[slot * textsPerEntry + nodeAt];
    const detail = this.#texts[slot * textsPerEntry + detailAt];
    return {
      sequence: this.#numbers[slot * numbersPerEntry + sequenceAt]!,
      time,
      kind,
      entity: this.entityKeyAt(position),
      state: timelineStates[(codes >>> 8) & 0xff]!,
      ...(counts !== undefined && { counts }),
      ...(node !== undefined && { node }),
      ...(waitsFor !== undefined && { waitsFor }),
      ...(detail !== undefined && { [kind === 'Preempted' ? 'by' : 'reason']: detail }),
      ...(count > 1 && { count, until: time + this.#words[words + lastedAt]! }),
    };
  }

  /** Returns the entity of the entry at a position that `has`. */
  entityAt(position: number): RecordedEntity {
    const texts = (position % this.#capacity) * textsPerEntry;
    const id = this.#texts[texts + idAt]!;
    const name = this.#texts[texts + nameAt];
    return name === undefined ? { id } : { id, pod: { namespace: this.#texts[texts + namespaceAt]!, name } };
  }

  /** Returns `gang/<group key>` or `pod/<uid>`, for a position that `has`. */
  entityKeyAt(position: number): string {
    const texts = (position % this.#capacity) * textsPerEntry;
    return `${this.#texts[texts + nameAt] === undefined ? 'gang' : 'pod'}/${this.#texts[texts + idAt]}`;
  }

  /** Yields the positions of the entries that came or grew after this number, in order. */
  *positionsAfter(sequence: number): Iterable<number> {
    for (let position = this.#appended - this.size; position < this.#appended; position++) {
      const slot = position % this.#capacity;
      const growth = this.#words[slot * wordsPerEntry + growthAt]!;
      if (this.#numbers[slot * numbersPerEntry + sequenceAt]! + growth > sequence) yield position;
    }
  }

  #makePlace(): void {
    if (this.#capacity < this.maxEntries) {
      // Nothing has been dropped so far, so position and slot are equal.
      this.#capacity = Math.min(this.maxEntries, this.#capacity * 2);
      const numbers = new Float64Array(this.#capacity * numbersPerEntry);
      numbers.set(this.#numbers);
      this.#numbers = numbers;
      const words = new Uint32Array(this.#capacity * wordsPerEntry);
      words.set(this.#words);
      this.#words = words;
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
    const flags = this.#words[words + codesAt]! >>> 24;
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

/** Returns an array of its final length: one that grows by itself takes half as much again. */
function textsFor(capacity: number): (string | undefined)[] {
  return new Array<string | undefined>(capacity * textsPerEntry).fill(undefined);
}
