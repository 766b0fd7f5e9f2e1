import type { Clock } from './clock.ts';

/** By more than this the wall clock and the monotonic one do not part by themselves. */
const noticeableMs = 500;

/**
 * The clock, with a monotonic time that goes on while the machine sleeps (is suspended), unlike performance.now(): for deadlines
 * that others hold us to, who have not slept. Timers are as they were.
 *
 * A wall clock goes on in sleep and is cheap to read; that it has left the monotonic clock behind is the occasion to ask
 * `uptimeMs`, which counts sleep as well and is not set by anybody. So a wall clock that is set changes nothing.
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
        // An uptime comes in steps of its own, and time never goes back.
        if (slept > sleptMs + noticeableMs / 2) sleptMs = slept;
      }
      return clock.monotonic() + sleptMs;
    },
    setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
  };
}
