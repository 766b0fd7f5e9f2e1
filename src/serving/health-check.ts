/** A condition for a healthy process. It is checked at each request and must not block. */
export interface HealthCheck {
  /** As in `caches-synced`: part of the path of its own endpoint and of the `?verbose` output. */
  readonly name: string;
  /**
   * Returns true if the condition holds, otherwise the reason, which anyone may read. An error that it throws is logged and not
   * shown.
   */
  check(): true | string;
}
