/** Options of a run. */
export interface FuzzOptions {
  readonly requests: number;
  /** The same seed gives the same requests. */
  readonly seed: number;
  /** Sends only the request of this number, to a fresh target. */
  readonly only?: number;
  /** Receives progress, line by line. */
  readonly print: (line: string) => void;
}

/** Result of a run. */
export interface FuzzReport {
  /** Failures; empty on success. Each line ends with the command that reproduces it. */
  readonly failures: readonly string[];
  /** Counts and measurements for people to read. */
  readonly lines: readonly string[];
}

/** A component that is tested with hostile requests or responses. */
export interface FuzzTarget {
  readonly name: string;
  run(options: FuzzOptions): Promise<FuzzReport>;
}
