import type { ServedRequest } from './served-request.ts';

/** One client of a stream, as the stream sees it. */
export interface StreamClient {
  /** Sends text after what was sent before. Drops it if too much waits for the client already; `StreamEvents.lagged` follows. */
  send(text: string): void;
  /** Ends the response after what was sent before. */
  end(): void;
}

/** Receives what happens to one client of a stream. */
export interface StreamEvents {
  /** The response has ended, for any reason. Called once. Nothing is sent any more. */
  closed(): void;
  /**
   * More than `httpLimits.streamBufferBytes` waited for the client, and what came since was dropped. Called when the client has received the rest;
   * the next text is sent.
   */
  lagged(): void;
}

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
  /** The response does not end with `text`. Called once its headers are sent. Not called for a HEAD request. */
  readonly stream?: ((client: StreamClient) => StreamEvents) | undefined;
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
  answer(query: URLSearchParams, part?: string, request?: Pick<ServedRequest, 'lastEventId'>): Answer | Promise<Answer>;
}
