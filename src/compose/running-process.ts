/** A process, or one part of `tutti up`, that runs until it is stopped. */
export interface RunningProcess {
  /** Base URL of its health and metrics endpoints. */
  readonly url: string;
  /** Resolves with the reason when the process cannot go on, having lost the leader election. What remains is to stop it. */
  readonly lost: Promise<Error>;
  /** Ends everything it started; idempotent. */
  stop(): Promise<void>;
}
