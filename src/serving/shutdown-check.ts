import type { HealthCheck } from './health-check.ts';

/** Readiness check: fails from the start of the shutdown, so that the process gets no new traffic while it still responds. */
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
