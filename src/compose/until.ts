import type { Clock } from '../base/clock.ts';
import { UserError } from '../base/user-error.ts';

export interface UntilOptions {
  /** What is waited for, as it follows "until": `pod1 is bound`. For the message when it does not come. */
  readonly what?: string;
  /** Milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
}

/** What was waited for did not come in time. */
export class ConditionError extends UserError {
  override readonly name = 'ConditionError';
}

const intervalMs = 10;

/**
 * Asks again and again until the condition answers something true, and resolves with that. Rejects with what the condition throws,
 * and with ConditionError when the time runs out.
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
      throw new ConditionError(`waited ${timeoutMs / 1000} s until ${what}, in vain`);
    }
    await new Promise<void>((resolve) => {
      clock.setTimer(intervalMs, resolve);
    });
  }
}
