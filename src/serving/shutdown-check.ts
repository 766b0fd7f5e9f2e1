import type { HealthCheck } from './health-check.ts';

/** Of readiness: fails from when the process begins to end, so that nothing new is sent to it while it still answers. */
export class ShutdownCheck implements HealthCheck {
  readonly name = 'shutdown';
  #isEnding = false;

  begin(): void {
    this.#isEnding = true;
  }

  check(): true | string {
    return this.#isEnding ? 'the process is shutting down' : true;
  }
}
