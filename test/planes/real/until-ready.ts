import type { ProcessGroup } from './process-group.ts';

/** Somebody else listens where the program should. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

const intervalMs = 100;

/**
 * Asks until `check` answers true; an error of the check counts as not yet. Rejects when the program has ended or the time is
 * over, with the end of its log; with PortTakenError when that says so.
 */
export async function untilReady(
  group: ProcessGroup,
  name: string,
  withinMs: number,
  check: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  let why = 'it has not said so';
  for (;;) {
    try {
      if (await check()) return;
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
    const how = group.exit(name);
    if (how !== undefined || performance.now() > deadline) {
      const log = await group.lastLines(name);
      const what = how === undefined ? `${name} was not ready within ${withinMs} ms (${why})` : `${name} ended: ${how}`;
      const message = `${what}; it said last:\n${log}`;
      throw log.includes('address already in use') ? new PortTakenError(message) : new Error(message);
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
