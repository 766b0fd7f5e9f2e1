import type { Clock } from '../base/clock.ts';
import { UserError } from '../base/user-error.ts';

export interface UntilOptions {
  /** The condition, as a clause after "until": `pod1 is bound`. For the message on timeout. */
  readonly what?: string;
  /** Milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
}

/** The condition did not become true in time. */
export class ConditionError extends UserError {
  override readonly name = 'ConditionError';
}

const intervalMs = 10;

/**
 * Polls the condition until it returns a truthy value, and resolves with that value. Rejects with the condition's error, and with
 * ConditionError on timeout.
 */
export async function until<T>(
  clock: Clock,
  condition: () => T | Promise<T>,
  { what = 'the condition holds', timeoutMs = 15_000 }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (clock.monotonic() >= deadline) {
      throw new ConditionError(`timed out after ${timeoutMs / 1000} s waiting until ${what}`);
    }
    await new Promise<void>((resolve) => {
      clock.setTimer(intervalMs, resolve);
    });
  }
}
