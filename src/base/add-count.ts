/** Adds to the count of a key. A missing key counts as 0, and a count of 0 is removed. */
export function addCount<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
