/** Returns whether resourceVersion `a` is older than `b`. Both are decimal integers of any length. */
export function isOlderVersion(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/**
 * Returns whether the first resourceVersion is at least as new as the second. They are usually numbers of any length; other
 * versions are only compared for equality.
 */
export function isAtLeastVersion(version: string | undefined, minimum: string): boolean {
  if (version === undefined) return false;
  if (version === minimum) return true;
  return /^\d+$/.test(version) && /^\d+$/.test(minimum) && !isOlderVersion(version, minimum);
}
