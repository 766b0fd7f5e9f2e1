/** Metadata that the API server sets on every new object. */
export interface Identity {
  readonly uid: string;
  readonly resourceVersion: string;
  /** RFC 3339 */
  readonly creationTimestamp: string;
}

/** Creates identities as an API server does: UIDs never repeat, resource versions and creation times increase. */
export class Identities {
  readonly #startMs: number;
  #count = 0;

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** Returns the next identity. The creation time of the nth is n seconds after the start; its UID sorts after all earlier ones. */
  next(): Identity {
    const count = ++this.#count;
    return {
      uid: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`,
      resourceVersion: String(count),
      creationTimestamp: rfc3339(this.#startMs + count * 1000),
    };
  }
}

/** Formats a time as Kubernetes does, with whole seconds. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
