/** One thing that must hold before a process is ready: asked anew at each request, must not block. */
export interface ReadinessCheck {
  /** As in `caches-synced`: appears in the answer of /readyz. */
  readonly name: string;
  /** True when it holds, else why not. What it throws counts as why not. */
  check(): true | string;
}
