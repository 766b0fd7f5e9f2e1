/**
 * Returns which of the items can stay where they are while the others move around them: a longest subsequence of rising positions. `positions` are those
 * before, in the new order; -1: the item is new.
 */
export function keptInPlace(positions: readonly number[]): ReadonlySet<number> {
  /** length - 1 of a rising subsequence -> index of its last item, the lowest one possible */
  const ends: number[] = [];
  /** index -> index of the item before it in its subsequence */
  const before: (number | undefined)[] = [];
  positions.forEach((position, index) => {
    if (position === -1) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (positions[ends[middle]!]! < position) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1];
    ends[low] = index;
  });
  const kept = new Set<number>();
  for (let index = ends.at(-1); index !== undefined; index = before[index]) kept.add(index);
  return kept;
}
