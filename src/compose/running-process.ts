/** A process, or one part of `tutti up`, that runs until it is stopped. */
export interface RunningProcess {
  /** Base URL of its endpoints; undefined if it serves none. */
  readonly url: string | undefined;
  /** Resolves with the reason when the process has lost the leader election and cannot continue. Then stop it. */
  readonly lost: Promise<Error>;
  /** Stops everything that it started; idempotent. */
  stop(): Promise<void>;
}
