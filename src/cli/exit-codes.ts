/** What `tutti` exits with. 130 and 143 (128 + the signal's number) mean that a signal ended it before its work was done. */
export const exitCodes = {
  ok: 0,
  /** The command could not be carried out; the reason is on standard error. */
  failed: 1,
  /** Wrong flags or arguments. */
  usage: 2,
  /** `up --exit`: some group was partly started, or there was a deadlock. */
  partialStart: 3,
  /** `up --exit`: no partial start, but not everything started before it ended, or it failed, or the time ran out. */
  incomplete: 4,
} as const;
