/** Appends the items to a list of any size. Passing 100,000 items as arguments to `push` overflows the stack. */
export function append<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item);
}
