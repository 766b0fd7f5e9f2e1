/** What a run is asked for. */
export interface FuzzOptions {
  readonly requests: number;
  /** The same seed gives the same requests. */
  readonly seed: number;
  /** Sends only the request of this number, to something new. */
  readonly only?: number;
  /** Told what happens, a line at a time. */
  readonly say: (line: string) => void;
}

/** What came of a run. */
export interface FuzzReport {
  /** What went wrong; none is a success. Each line ends with how to see it again. */
  readonly failures: readonly string[];
  /** Counts and measures, for people to read. */
  readonly lines: readonly string[];
}

/** Something that hostile requests, or answers, are thrown at. */
export interface FuzzTarget {
  readonly name: string;
  run(options: FuzzOptions): Promise<FuzzReport>;
}
