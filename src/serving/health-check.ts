/** One thing that must hold for a process to be healthy: asked anew at each request, must not block. */
export interface HealthCheck {
  /** As in `caches-synced`: part of the path of its own endpoint, and of the lines of `?verbose`. */
  readonly name: string;
  /** True when it holds, else why not, in words that everybody may read. What it throws is logged and not shown. */
  check(): true | string;
}
