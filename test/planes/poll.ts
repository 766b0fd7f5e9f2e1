import { hangsMs } from './patience.ts';

const intervalMs = 10;

/**
 * Repeats `check` until it returns undefined; any other result describes what is still missing. Use it for what no watch shows. Rejects at
 * the deadline with the last result.
 */
export async function poll(
  check: () => Promise<string | undefined>,
  what: string,
  withinMs: number = hangsMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const missing = await check();
    if (missing === undefined) return;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}; ${missing}`);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
