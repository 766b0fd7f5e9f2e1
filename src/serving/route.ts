/** The response to one request. */
export interface Answer {
  readonly status: number;
  /** Default: plain text in UTF-8. */
  readonly type?: string;
  readonly text: string;
  /** The body if it is no text. Then `text` is empty. */
  readonly bytes?: Uint8Array;
  /** Additional headers; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A path that a process serves for GET and HEAD. */
export interface Route {
  /** The exact path without the query: `/readyz`. */
  readonly path: string;
  /** The route also serves the paths directly below its own, such as `/readyz/ping`. */
  readonly hasParts?: true;
  /** The response takes so long that only a few may be in progress at once. */
  readonly isCostly?: true;
  /** `part` is `ping` for `/readyz/ping`. Errors that it throws or rejects with are logged; the client gets a 500. */
  answer(query: URLSearchParams, part?: string): Answer | Promise<Answer>;
}
