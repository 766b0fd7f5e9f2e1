/** The scheduler that leads, as far as its debug endpoints show it. */
export interface LeaderState {
  /** Its version; undefined: unknown. */
  readonly version?: string | undefined;
  /**
   * Returns the JSON at a path such as `/debug/queue?limit=500`. Rejects with a UserError if the scheduler cannot be reached, or if it denies the
   * request.
   */
  get(path: string): Promise<unknown>;
  /** Returns the bytes at a path. Rejects like `get`. */
  download(path: string): Promise<Uint8Array>;
}
