import { Buffer } from 'node:buffer';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import { httpLimits } from './http-limits.ts';
import { OpenConnections } from './open-connections.ts';
import { ResponseStream } from './response-stream.ts';
import type { Answer } from './route.ts';
import type { ServedRequest } from './served-request.ts';

/** Options of a node:http or node:https server. */
export const limitedServerOptions: ServerOptions = {
  maxHeaderSize: httpLimits.headerBytes,
  headersTimeout: httpLimits.headersMs,
  requestTimeout: httpLimits.requestMs,
  keepAliveTimeout: httpLimits.keepAliveMs,
  connectionsCheckingInterval: httpLimits.checkEveryMs,
  noDelay: true,
};

export interface HttpServiceOptions {
  /** Created with `limitedServerOptions`, not listening yet. */
  readonly server: Server & NetServer;
  /** Never rejects. The request has method, path, query, address and authorization; the caller adds the rest. */
  readonly answer: (request: ServedRequest, incoming: IncomingMessage) => Promise<Answer>;
}

/** Enforces the limits on a server and passes on the other requests. A misbehaving client loses at most its own connection. */
export class HttpService {
  readonly #server: Server & NetServer;
  readonly #answer: HttpServiceOptions['answer'];
  readonly #connections = new OpenConnections(httpLimits);
  /** Connections with a request in progress; with TLS, the TLS sockets. */
  readonly #busy = new Set<Socket>();
  /** Open streams. They end when their connection must. */
  readonly #streams = new Set<ResponseStream>();
  /** Connections whose next response is their last. */
  readonly #ending = new WeakSet<Socket>();
  /** response -> timer that ends it if it takes too long */
  readonly #deadlines = new WeakMap<ServerResponse, NodeJS.Timeout>();
  #isDraining = false;

  constructor({ server, answer }: HttpServiceOptions) {
    this.#server = server;
    this.#answer = answer;
    server.maxRequestsPerSocket = httpLimits.requestsOfOneConnection;
    server.on('connection', (socket: Socket) => this.#connections.add(socket));
    server.on('request', (incoming, response) => this.#requested(incoming, response));
    // A request beyond the limit of a connection, although the previous response announced its end.
    server.on('dropRequest', (_incoming: IncomingMessage, socket: Socket) => socket.destroy());
    // Without a listener Node would respond; no well-meaning client sends it.
    server.on('checkExpectation', (incoming: IncomingMessage) => incoming.socket.destroy());
  }

  /** From now on every response ends its connection, and streams end. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.end();
  }

  /** Ends every existing connection: with its pending response, or now. */
  endConnections(): void {
    for (const socket of this.#busy) this.#ending.add(socket);
    for (const stream of this.#streams) stream.end();
    this.#server.closeIdleConnections();
  }

  /** Accepts no more connections; responses in progress get `graceMs` to finish. */
  close(graceMs: number): Promise<void> {
    this.drain();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of this.#connections) socket.destroy();
      }, graceMs);
      this.#server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      this.#server.closeIdleConnections();
    });
  }

  #requested(incoming: IncomingMessage, response: ServerResponse): void {
    const { socket } = incoming;
    // Pipelined requests would all be read at once, without a limit.
    if (this.#busy.has(socket)) {
      socket.destroy();
      return;
    }
    if (socket.destroyed) return;
    this.#busy.add(socket);
    this.#connections.setBusy(socket, true);
    const deadline = setTimeout(() => socket.destroy(), httpLimits.answerMs);
    this.#deadlines.set(response, deadline);
    response.once('close', () => {
      clearTimeout(deadline);
      this.#busy.delete(socket);
      this.#connections.setBusy(socket, false);
    });
    discardBody(incoming);
    // An error here ends this connection, and nothing else.
    this.#settle(incoming, response).catch(() => socket.destroy());
  }

  async #settle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const screened = screen(incoming);
    this.#respond(incoming, response, isAnswer(screened) ? screened : await this.#answer(screened, incoming));
  }

  #respond(incoming: IncomingMessage, response: ServerResponse, answer: Answer): void {
    const { status, type, text, bytes, headers } = answer;
    if (answer.stream !== undefined) {
      this.#stream(incoming, response, answer);
      return;
    }
    if (response.destroyed) return;
    const isLast = this.#isDraining || this.#ending.has(incoming.socket) || !incoming.complete || hasBody(incoming);
    response.writeHead(status, {
      'content-type': type ?? 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(bytes ?? text),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, private',
      ...(isLast && { connection: 'close' }),
      ...headers,
    });
    response.end(incoming.method === 'HEAD' ? undefined : (bytes ?? text));
  }

  /** Opens the stream even if the client has gone, so that it learns of that. */
  #stream(incoming: IncomingMessage, response: ServerResponse, { status, type, text, headers, stream }: Answer): void {
    clearTimeout(this.#deadlines.get(response));
    const opened = new ResponseStream(response, () => this.#streams.delete(opened));
    this.#streams.add(opened);
    if (!response.destroyed) {
      response.writeHead(status, {
        'content-type': type ?? 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache, private',
        // The connection ends with the stream.
        connection: 'close',
        ...headers,
      });
      response.flushHeaders();
    }
    opened.open(stream!, text);
    if (this.#isDraining || this.#ending.has(incoming.socket)) opened.end();
  }
}

/** Reads and discards a body; a body that is too large costs the connection. */
function discardBody(incoming: IncomingMessage): void {
  let bytes = 0;
  incoming.on('data', (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > httpLimits.bodyBytes) incoming.socket.destroy();
  });
  incoming.on('error', () => undefined);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Returns the request to serve, or the response to a request that is not acceptable. */
function screen({ method, url = '', headers, socket }: IncomingMessage): ServedRequest | Answer {
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, text: 'method not allowed: use GET\n', headers: { allow: 'GET, HEAD' } };
  }
  if (url.length > httpLimits.targetCharacters) {
    return { status: 414, text: `the path and query are longer than ${httpLimits.targetCharacters} characters\n` };
  }
  if (!url.startsWith('/')) return { status: 400, text: 'the request target is not a path\n' };
  if (Number(headers['content-length'] ?? 0) > httpLimits.bodyBytes) {
    return { status: 413, text: 'the request body is too large: send no body\n' };
  }
  const mark = url.indexOf('?');
  return {
    method,
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    address: socket.remoteAddress ?? '',
    ...(headers.authorization !== undefined && { authorization: headers.authorization }),
    ...(typeof headers['last-event-id'] === 'string' && { lastEventId: headers['last-event-id'] }),
  };
}

function isAnswer(screened: ServedRequest | Answer): screened is Answer {
  return 'status' in screened;
}
