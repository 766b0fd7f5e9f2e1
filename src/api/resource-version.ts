/** Returns whether resourceVersion `a` is older than `b`. Both are decimal integers of any length. */
export function isOlderVersion(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
