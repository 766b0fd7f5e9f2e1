/**
 * What kind of call it is decides which connections carry it, so that no kind can starve another. `spare`: a call that must not wait
 * behind others, which may be many, or hang.
 */
export type ConnectionKind = 'watch' | 'lease' | 'call' | 'spare';

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, percent-encoded, beginning with a slash: `/api/v1/pods?watch=true`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Default: call. */
  readonly connection?: ConnectionKind;
  /** The body of a good answer (2xx) to a call may be thrown away: nobody will read it. */
  readonly discardsBody?: boolean;
  /** Called when the request has to wait for a connection behind others, and not only for one to be made; `mayBeSent` ends that. At once or never. */
  readonly onQueued?: () => void;
  /** Called when the request is about to be written, however long it waited for a connection. What it throws ends the call, of which nothing was sent. */
  readonly mayBeSent?: () => void;
  /** Of a call: a longer good answer is given up, with AnswerTooLongError. Default: as long as it is. The body of an error is cut, see `mostErrorBytes`. */
  readonly mostBytes?: number;
}

export interface TransportResponse {
  readonly status: number;
  /** Header names in lower case; a header sent more than once is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body as it arrives; that of a call may have arrived whole before. Ends when the server ends it; throws when the connection is lost or the signal aborts.
   * Must be read to its end or given up with the iterator's `return`, else its connection stays taken.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** What is read of the body of an error answer. A Status has some hundred bytes; what a proxy writes may be a page, or have no end. */
export const mostErrorBytes = 16_384;

/** The answer of a call is longer than `mostBytes`; the rest of it was not read. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError';
}

/**
 * The seam under everything that talks to an API server. One implementation carries requests over HTTP, another hands
 * them to the embedded plane in the same process.
 */
export interface Transport {
  /**
   * Sends one request. A watch answers as soon as the response's head is there. Any status is an answer; it rejects only when
   * there is none (connection refused or lost, aborted). Never retries. A ConnectionError that it rejects with is taken
   * at its word; after any other error a call that writes counts as ambiguous, unless it is plain that the connection was
   * never made.
   */
  send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse>;
  /** Ends all connections, watches included; calls under way reject. */
  close(): Promise<void>;
}
