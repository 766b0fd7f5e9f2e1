/** Exit codes of `tutti`. 130 and 143 (128 + signal number) mean that a signal ended it before its work was done. */
export const exitCodes = {
  ok: 0,
  /** The command failed. The reason is on standard error. */
  failed: 1,
  /** Invalid flags or arguments. */
  usage: 2,
  /**
   * `up --exit`: a group was partially bound for more than a second or at the end, its pods started one by one because they lack its label, or
   * there was a deadlock.
   */
  partialStart: 3,
  /** `up --exit`, unless exit code 3 applies: a pod was not scheduled, a group, Job or pod failed, or the timeout expired. */
  incomplete: 4,
  /** The answer to the user's question is no. */
  no: 5,
} as const;
