/** Splits the items into those that pass the test and the others, in order. */
export function partition<T>(
  items: readonly T[],
  isFirst: (item: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
