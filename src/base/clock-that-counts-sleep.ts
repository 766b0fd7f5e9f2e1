import type { Clock } from './clock.ts';

/** Beyond this difference, the wall clock and the monotonic clock cannot have diverged by drift. */
const noticeableMs = 500;

/**
 * Wraps a clock so that its monotonic time includes sleep (suspension) of the machine, unlike performance.now(). It is for deadlines
 * that other processes enforce, which did not sleep. Timers are unchanged.
 *
 * The wall clock runs during sleep and is cheap to read. When it moves ahead of the monotonic clock, the wrapper reads `uptimeMs`,
 * which also includes sleep and cannot be set. So setting the wall clock has no effect.
 */
export function clockThatCountsSleep(clock: Clock, uptimeMs: () => number): Clock {
  const lead = (): number => clock.now() - clock.monotonic();
  const uptimeLead = (): number => uptimeMs() - clock.monotonic();
  let seenLead = lead();
  const firstUptimeLead = uptimeLead();
  let sleptMs = 0;
  return {
    now: () => clock.now(),
    monotonic() {
      const now = lead();
      if (Math.abs(now - seenLead) > noticeableMs) {
        seenLead = now;
        const slept = uptimeLead() - firstUptimeLead;
        // The uptime has its own granularity, and time must never go back.
        if (slept > sleptMs + noticeableMs / 2) sleptMs = slept;
      }
      return clock.monotonic() + sleptMs;
    },
    setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
  };
}
