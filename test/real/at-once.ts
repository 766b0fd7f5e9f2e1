const workers = 32;

/** Does the work for all, some at once, begun in their order. Resolves when all is done; rejects with the first failure. */
export async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
