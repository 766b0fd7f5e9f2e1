/** A process, or one part of `tutti up`, that runs until it is stopped. */
export interface RunningProcess {
  /** Base URL of its endpoints; undefined where it serves none. */
  readonly url: string | undefined;
  /** Resolves with the reason when the process cannot go on, having lost the leader election. What remains is to stop it. */
  readonly lost: Promise<Error>;
  /** Ends everything it started; idempotent. */
  stop(): Promise<void>;
}
