/** A process, or one part of `tutti up`, that runs until it is stopped. */
export interface RunningProcess {
  /** Base URL of its health and metrics endpoints. */
  readonly url: string;
  /** Ends everything it started; idempotent. */
  stop(): Promise<void>;
}
