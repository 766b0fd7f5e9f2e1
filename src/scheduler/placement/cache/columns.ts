/**
 * Loops over columns of numbers by node index, for the first `size` entries of an index list. Each loop is a separate function.
 * It visits all nodes several times per attempt, so the JIT compiles it well after a few attempts.
 */

/** Lists all nodes. */
export function listAll(indexes: Int32Array, nodeCount: number): void {
  for (let index = 0; index < nodeCount; index++) indexes[index] = index;
}

/** Lists in `outdated` all nodes whose cached generation differs from the present one. Returns how many. */
export function listOutdatedOfAll(
  outdated: Int32Array,
  nodeCount: number,
  cached: Float64Array,
  present: Float64Array,
): number {
  let count = 0;
  for (let index = 0; index < nodeCount; index++) if (cached[index] !== present[index]) outdated[count++] = index;
  return count;
}

/** Lists all nodes whose flag is 1. Returns how many. */
export function listFlagged(indexes: Int32Array, nodeCount: number, flags: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < nodeCount; index++) {
    indexes[count] = index;
    count += flags[index]!;
  }
  return count;
}

/** Like `listOutdatedOfAll`, for the listed nodes only. */
export function listOutdated(
  outdated: Int32Array,
  indexes: Int32Array,
  size: number,
  cached: Float64Array,
  present: Float64Array,
): number {
  let count = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    if (cached[index] !== present[index]) outdated[count++] = index;
  }
  return count;
}

/** Lists in `unknown` the nodes whose column value is NaN. Returns how many. */
export function listUnknown(unknown: Int32Array, indexes: Int32Array, size: number, column: Float64Array): number {
  let count = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    if (Number.isNaN(column[index]!)) unknown[count++] = index;
  }
  return count;
}

/** Copies the column, and lists in `unknown` the nodes whose value is NaN. Returns how many. */
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

/** Returns the sum. A finite sum proves that every value is finite; huge finite values may overflow it. */
export function sumAt(indexes: Int32Array, size: number, column: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < size; i++) sum += column[indexes[i]!]!;
  return sum;
}

/** Returns whether the values at all indexes are finite. */
export function areFiniteAt(indexes: Int32Array, column: Float64Array): boolean {
  for (let i = 0; i < indexes.length; i++) if (!Number.isFinite(column[indexes[i]!]!)) return false;
  return true;
}

/** Moves the indexes whose flag is 1 to the front of the list, in order. Returns how many. */
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

/** Like `addWeighted`, for scores in list order. Returns the sum of the scores. */
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

/** Copies values from the column into list order. Returns their sum. */
export function gather(gathered: Float64Array, indexes: Int32Array, size: number, column: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < size; i++) {
    const value = column[indexes[i]!]!;
    sum += value;
    gathered[i] = value;
  }
  return sum;
}

/** Copies values in list order back into the column. */
export function scatter(column: Float64Array, indexes: Int32Array, size: number, gathered: Float64Array): void {
  for (let i = 0; i < size; i++) column[indexes[i]!] = gathered[i]!;
}
