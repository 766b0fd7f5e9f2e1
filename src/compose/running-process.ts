/** A process, or one part of `tutti up`, that runs until it is stopped. */
export interface RunningProcess {
  /** Base URL of its endpoints; undefined where it serves none. */
  readonly url: string | undefined;
  /** Ends everything it started; idempotent. */
  stop(): Promise<void>;
}
