/**
 * What `look` answers, the same for all who ask in one go: the gauges of one collection share one look at what they measure.
 */
export function sharedLook<T>(look: () => T): () => T {
  let seen: { readonly value: T } | undefined;
  return () => {
    if (seen === undefined) {
      seen = { value: look() };
      queueMicrotask(() => (seen = undefined));
    }
    return seen.value;
  };
}
