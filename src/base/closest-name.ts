const maxComparedLength = 64;

/**
 * Returns the name that `given` most likely misspells, or undefined if none is close. Of equally close names it returns the
 * first.
 */
export function closestName(given: string, names: readonly string[]): string | undefined {
  if (given.length < 3 || given.length > maxComparedLength) return undefined;
  let fewest = Math.max(1, Math.floor(given.length / 5)) + 1;
  let closest: string | undefined;
  for (const name of names) {
    if (Math.abs(name.length - given.length) >= fewest) continue;
    const edits = editsBetween(given.toLowerCase(), name.toLowerCase());
    if (edits >= fewest) continue;
    fewest = edits;
    closest = name;
  }
  return closest;
}

/** Returns the optimal string alignment distance: the number of characters to insert, delete, replace or swap with the next one. */
function editsBetween(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let edits = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) edits = Math.min(edits, beforeLast[column - 2]! + 1);
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}
