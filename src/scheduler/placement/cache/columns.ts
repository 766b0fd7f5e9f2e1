/**
 * Loops over columns of numbers by node index, for the first `size` indexes of a list. Each is a function of its own because it goes
 * through all nodes of a cluster several times an attempt: so it is compiled well after a few.
 */

/** Of all nodes: lists those whose kept generation is not the present one in `outdated`; answers how many. */
export function listOutdatedOfAll(
  outdated: Int32Array,
  nodeCount: number,
  kept: Float64Array,
  present: Float64Array,
): number {
  let count = 0;
  for (let index = 0; index < nodeCount; index++) if (kept[index] !== present[index]) outdated[count++] = index;
  return count;
}

/** Of all nodes: lists those whose flag is 1; answers how many. */
export function listFlagged(indexes: Int32Array, nodeCount: number, flags: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < nodeCount; index++) {
    indexes[count] = index;
    count += flags[index]!;
  }
  return count;
}

/** As `listOutdatedOfAll`, of those that are listed. */
export function listOutdated(
  outdated: Int32Array,
  indexes: Int32Array,
  size: number,
  kept: Float64Array,
  present: Float64Array,
): number {
  let count = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    if (kept[index] !== present[index]) outdated[count++] = index;
  }
  return count;
}

/** Lists those of which the column holds no number in `unknown`; answers how many. */
export function listUnknown(unknown: Int32Array, indexes: Int32Array, size: number, column: Float64Array): number {
  let count = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    if (Number.isNaN(column[index]!)) unknown[count++] = index;
  }
  return count;
}

/** Copies the column, and lists those of which it holds no number in `unknown`; answers how many. */
export function copyKnownAt(
  column: Float64Array,
  indexes: Int32Array,
  size: number,
  from: Float64Array,
  unknown: Int32Array,
): number {
  let count = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    const value = from[index]!;
    column[index] = value;
    if (Number.isNaN(value)) unknown[count++] = index;
  }
  return count;
}

/** A sum that is finite tells that all are numbers, unless they are beyond measure. */
export function sumAt(indexes: Int32Array, size: number, column: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < size; i++) sum += column[indexes[i]!]!;
  return sum;
}

/** Of all indexes of the list. */
export function areFiniteAt(indexes: Int32Array, column: Float64Array): boolean {
  for (let i = 0; i < indexes.length; i++) if (!Number.isFinite(column[indexes[i]!]!)) return false;
  return true;
}

/** Leaves those whose flag is 1, in their order, at the beginning of the list; answers how many. */
export function keepFlagged(indexes: Int32Array, size: number, flags: Uint8Array): number {
  let left = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    indexes[left] = index;
    left += flags[index]!;
  }
  return left;
}

export function fillAt(column: Float64Array | Uint8Array, indexes: Int32Array, size: number, value: number): void {
  for (let i = 0; i < size; i++) column[indexes[i]!] = value;
}

export function copyAt(column: Float64Array, indexes: Int32Array, size: number, from: Float64Array): void {
  for (let i = 0; i < size; i++) column[indexes[i]!] = from[indexes[i]!]!;
}

export function addWeighted(
  totals: Float64Array,
  indexes: Int32Array,
  size: number,
  scores: Float64Array,
  weight: number,
): void {
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    totals[index] = totals[index]! + weight * scores[index]!;
  }
}

/** As `addWeighted`, of what is in the order of the list. Answers its sum. */
export function addWeightedGathered(
  totals: Float64Array,
  indexes: Int32Array,
  size: number,
  gathered: Float64Array,
  weight: number,
): number {
  let sum = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    const score = gathered[i]!;
    sum += score;
    totals[index] = totals[index]! + weight * score;
  }
  return sum;
}

/** Copies out of the column, in the order of the list. Answers the sum. */
export function gather(gathered: Float64Array, indexes: Int32Array, size: number, column: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < size; i++) {
    const value = column[indexes[i]!]!;
    sum += value;
    gathered[i] = value;
  }
  return sum;
}

/** Copies back into the column what is in the order of the list. */
export function scatter(column: Float64Array, indexes: Int32Array, size: number, gathered: Float64Array): void {
  for (let i = 0; i < size; i++) column[indexes[i]!] = gathered[i]!;
}
