/** Adds to what the map counts for the key, where a missing key counts 0; a count that has come to 0 is not kept. */
export function addCount<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
