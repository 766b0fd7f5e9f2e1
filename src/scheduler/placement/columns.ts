/**
 * Loops over columns of numbers by node index, for the first `size` indexes of a list. Each is a function of its own because it goes
 * through all nodes of a cluster several times an attempt: so it is compiled well after a few.
 */

/** Lists those whose kept generation is not the present one in `outdated`; answers how many. */
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

export function fillAt(column: Float64Array, indexes: Int32Array, size: number, value: number): void {
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

/** Copies out of the column, in the order of the list. */
export function gather(gathered: Float64Array, indexes: Int32Array, size: number, column: Float64Array): void {
  for (let i = 0; i < size; i++) gathered[i] = column[indexes[i]!]!;
}

/** Copies back into the column what is in the order of the list. */
export function scatter(column: Float64Array, indexes: Int32Array, size: number, gathered: Float64Array): void {
  for (let i = 0; i < size; i++) column[indexes[i]!] = gathered[i]!;
}
