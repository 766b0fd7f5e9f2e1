/** Wraps `look` so that all calls in the same turn share one result: the gauges of one collection share one measurement. */
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
