/** Whether `a` is of before `b`, both versions of one object: numbers of any length, as API servers give them. */
export function isOlderVersion(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
