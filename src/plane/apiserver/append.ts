/** Adds the items at the end of a list, however many they are: as arguments of `push` a hundred thousand overflow the stack. */
export function append<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item);
}
