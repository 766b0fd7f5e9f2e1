import type { ProcessGroup } from './process-group.ts';

/** Another process listens on the port of the program. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

const intervalMs = 100;

/**
 * Repeats `check` until it returns true; an error counts as false. Rejects with the end of the program's log when the program has ended or
 * the time is over. Rejects with PortTakenError when the log says so.
 */
export async function untilReady(
  group: ProcessGroup,
  name: string,
  withinMs: number,
  check: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  let why = 'it does not report ready';
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
      const message = `${what}; last output:\n${log}`;
      throw log.includes('address already in use') ? new PortTakenError(message) : new Error(message);
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
