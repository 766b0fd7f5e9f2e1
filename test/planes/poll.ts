import { hangsMs } from './patience.ts';

const intervalMs = 10;

/**
 * Asks again and again until `check` answers undefined; any other answer says what is still missing. For what no watch
 * shows. Rejects at the deadline, with what was missing last.
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
