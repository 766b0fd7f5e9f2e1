/**
 * Selects the connections for a call, so that no kind can starve another. `spare`: for a call that must not wait behind other
 * calls, which may be many or may hang.
 */
export type ConnectionKind = 'watch' | 'lease' | 'call' | 'spare';

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, percent-encoded, with a leading slash: `/api/v1/pods?watch=true`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Default: call. */
  readonly connection?: ConnectionKind;
  /** The body of a success response (2xx) to a call may be discarded: no caller reads it. */
  readonly discardsBody?: boolean;
  /**
   * Called, at once or never, if the request must wait for a connection behind other requests, rather than only for a new
   * connection. The call of `mayBeSent` ends that wait.
   */
  readonly onQueued?: () => void;
  /**
   * Called just before the request is written, however long it waited for a connection. If it throws, the call ends with that
   * error and nothing was sent.
   */
  readonly mayBeSent?: () => void;
  /**
   * For a call: the maximum size of a success response; a longer one ends with AnswerTooLongError. Default: no limit. The body of
   * an error is cut, see `maxErrorBytes`.
   */
  readonly mostBytes?: number;
}

export interface TransportResponse {
  readonly status: number;
  /** Header names in lower case; the values of a repeated header are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body as it arrives; the body of a call may already be complete. It ends when the server ends it, and throws when the
   * connection is lost or the signal aborts. Read it to its end or call the iterator's `return`; otherwise its connection stays
   * in use.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Maximum bytes read of an error's body. A Status has a few hundred bytes; a proxy may send a page, or never end. */
export const maxErrorBytes = 16_384;

/** The response to a call is longer than `mostBytes`; the rest of it was not read. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError';
}

/**
 * The layer below everything that talks to an API server. One implementation sends requests over HTTP, another one passes them to
 * the embedded plane in the same process.
 */
export interface Transport {
  /**
   * Sends one request. A watch resolves as soon as the response headers arrive. Every status is a response: it rejects only if there
   * is none (connection refused, connection lost, aborted). It never retries. The caller trusts the ambiguity of a ConnectionError.
   * After any other error, a write counts as ambiguous unless the connection was never made.
   */
  send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse>;
  /** Closes all connections, including watches; calls in flight reject. */
  close(): Promise<void>;
}
