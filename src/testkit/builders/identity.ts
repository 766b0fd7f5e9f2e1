/** What the API server gives every object that it accepts. */
export interface Identity {
  readonly uid: string;
  readonly resourceVersion: string;
  /** RFC 3339 */
  readonly creationTimestamp: string;
}

/** Hands out identities as an API server would: uids never repeat, resource versions and creation times rise. */
export class Identities {
  readonly #startMs: number;
  #count = 0;

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** The nth identity is created n seconds after the start; its uid sorts after all earlier ones. */
  next(): Identity {
    const count = ++this.#count;
    return {
      uid: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`,
      resourceVersion: String(count),
      creationTimestamp: rfc3339(this.#startMs + count * 1000),
    };
  }
}

/** Kubernetes writes whole seconds. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
