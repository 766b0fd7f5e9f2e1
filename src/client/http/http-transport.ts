import { Buffer } from 'node:buffer';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { messageOf } from '../../base/message-of.ts';
import { ConnectionError, UnreachableError } from '../api-errors.ts';
import type { Credentials, Endpoint, TlsOptions } from '../endpoint.ts';
import { AnswerTooLongError, maxErrorBytes } from '../transport.ts';
import type { ConnectionKind, Transport, TransportRequest, TransportResponse } from '../transport.ts';
import { abortReason, unlessAborted } from '../wait.ts';
import { BodyStream } from './body-stream.ts';
import { CollectedBody } from './collected-body.ts';
import { ConnectionPool } from './connection-pool.ts';
import { dial } from './dial.ts';
import type { DialTarget } from './dial.ts';
import type { Exchange } from './http-connection.ts';

export interface HttpTransportOptions {
  readonly endpoint: Endpoint;
  /** Maximum number of connections for calls; far more than the calls that a server with few cores handles at once. Default 32. */
  readonly callConnections?: number;
  /**
   * How long an idle connection is kept, in milliseconds. Must be below the server's idle timeout (90 s for kube-apiserver);
   * otherwise a call may be written to a connection that the server is closing. Default 30 s.
   */
  readonly idleTimeoutMs?: number;
}

interface Pools {
  readonly tlsKey: string;
  /** kind -> its connections */
  readonly byKind: Readonly<Record<ConnectionKind, ConnectionPool>>;
}

const spareConnections = 16;

/** Characters that must not appear in the first lines of a request, because they could end a line. */
const notInPath = /[^\x21-\x7e]/;
const notInHeader = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * HTTP/1.1 transport (docs/decisions/0010-own-http-client.md). Watches have any number of long-lived connections. The Lease has
 * two, so that a hanging renewal does not delay the next. Calls have a limited number, and a few spare connections serve calls
 * that must not wait behind those. Only connecting has a timeout here: callers set deadlines, and watches use a dead-man timer.
 * When the certificates or CAs change, it opens new connections and closes the old ones once their exchanges have ended.
 */
export class HttpTransport implements Transport {
  readonly #endpoint: Endpoint;
  readonly #server: URL;
  readonly #pathPrefix: string;
  readonly #callConnections: number;
  readonly #idleTimeoutMs: number;
  /** The current pools, and replaced ones that may still carry an exchange. */
  readonly #open = new Set<ConnectionPool>();
  #current: Pools | undefined;
  /** headers of a request -> their lines, with those of the credentials; callers use few objects for many requests */
  readonly #headerLines = new WeakMap<object, { readonly credentials: Credentials; readonly lines: string }>();
  #isClosed = false;

  constructor(options: HttpTransportOptions) {
    this.#endpoint = options.endpoint;
    this.#server = new URL(options.endpoint.server);
    this.#pathPrefix = this.#server.pathname.replace(/\/+$/, '');
    this.#callConnections = options.callConnections ?? 32;
    this.#idleTimeoutMs = options.idleTimeoutMs ?? 30_000;
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    const known = this.#endpoint.credentials();
    // A credential plugin may hang; that must not outlast the call's deadline.
    const credentials = known instanceof Promise ? await unlessAborted(orNothingSent(known), signal) : known;
    signal?.throwIfAborted();
    const kind = request.connection ?? 'call';
    const pool = this.#poolsFor(credentials).byKind[kind];
    const wire = toWire(this.#headOf(request, credentials), request);
    const response =
      kind === 'watch' ? await openStream(pool, wire, signal) : await collect(pool, wire, request, signal);
    if (response.status === 401) this.#endpoint.rejected(credentials);
    return response;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#current = undefined;
    for (const pool of this.#open) pool.destroy(new Error('the transport was closed'));
    this.#open.clear();
    return Promise.resolve();
  }

  #poolsFor({ tlsKey, tls }: Credentials): Pools {
    if (this.#isClosed) throw nothingSent('the transport is closed');
    const current = this.#current;
    if (current?.tlsKey === tlsKey) return current;
    const { proxyUrl } = this.#endpoint;
    const target: DialTarget = {
      server: this.#server,
      tls,
      secureContext: secureContextOf(tls),
      ...(proxyUrl !== undefined && { proxyUrl }),
    };
    const open = (limit: number): ConnectionPool => {
      const pool = new ConnectionPool({
        dial: (signal) => dial(target, signal),
        limit,
        idleTimeoutMs: this.#idleTimeoutMs,
      });
      this.#open.add(pool);
      return pool;
    };
    const byKind = {
      watch: open(Infinity),
      lease: open(2),
      call: open(this.#callConnections),
      spare: open(spareConnections),
    };
    const next = { tlsKey, byKind };
    this.#current = next;
    for (const pool of this.#open) {
      if (Object.values(next.byKind).includes(pool)) continue;
      pool.drain();
      if (pool.isEmpty) this.#open.delete(pool);
    }
    return next;
  }

  #headOf(request: TransportRequest, credentials: Credentials): string {
    const { method, path, headers, body } = request;
    if (notInPath.test(path))
      throw nothingSent(`the path contains characters that are not allowed: ${JSON.stringify(path)}`);
    const length =
      body !== undefined
        ? `content-length: ${Buffer.byteLength(body)}\r\n`
        : method === 'GET' || method === 'DELETE'
          ? ''
          : 'content-length: 0\r\n';
    return `${method} ${this.#pathPrefix}${path} HTTP/1.1\r\n${this.#linesOf(headers, credentials)}${length}\r\n`;
  }

  #linesOf(headers: TransportRequest['headers'], credentials: Credentials): string {
    const known = this.#headerLines.get(headers);
    if (known?.credentials === credentials) return known.lines;
    let lines = `host: ${this.#server.host}\r\n`;
    for (const [name, value] of Object.entries({ ...headers, ...credentials.headers })) {
      for (const each of typeof value === 'string' ? [value] : value) {
        if (notInHeader.test(each)) throw nothingSent(`header ${name} contains characters that are not allowed`);
        lines += `${name}: ${each}\r\n`;
      }
    }
    this.#headerLines.set(headers, { credentials, lines });
    return lines;
  }
}

type WireRequest = Pick<Exchange, 'request' | 'body' | 'mayBeSent' | 'onQueued'>;

/** Resolves when the whole response has arrived. */
function collect(
  pool: ConnectionPool,
  request: WireRequest,
  { discardsBody = false, mostBytes = Infinity }: TransportRequest,
  signal: AbortSignal | undefined,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: TransportResponse['headers'] = {};
    const collected = new CollectedBody();
    let length = 0;
    const answer = (): void => {
      signal?.removeEventListener('abort', onAbort);
      resolve({ status, headers, body: collected });
    };
    const exchange: Exchange = {
      ...request,
      onHead(responseStatus, responseHeaders) {
        status = responseStatus;
        headers = responseHeaders;
      },
      onBody(chunk) {
        length += chunk.length;
        if (status >= 300) {
          collected.push(chunk.subarray(0, Math.max(0, maxErrorBytes - length + chunk.length)));
          if (length < maxErrorBytes) return;
          answer(); // the rest adds nothing, and may never end
          pool.cancel(exchange, new AnswerTooLongError(`the body of an error is longer than ${maxErrorBytes} bytes`));
        } else if (length > mostBytes) {
          pool.cancel(exchange, new AnswerTooLongError(`the response is longer than ${mostBytes} bytes`));
        } else if (!discardsBody) {
          collected.push(chunk);
        }
      },
      onEnd: answer,
      onError(error) {
        signal?.removeEventListener('abort', onAbort);
        reject(error); // has no effect after the response
      },
    };
    const onAbort = (): void => pool.cancel(exchange, abortReason(signal!));
    signal?.addEventListener('abort', onAbort, { once: true });
    pool.submit(exchange);
  });
}

/** Resolves when the response headers have arrived; the caller reads the body. */
function openStream(
  pool: ConnectionPool,
  request: WireRequest,
  signal: AbortSignal | undefined,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const stream = new BodyStream({
      pause: () => pool.connectionOf(exchange)?.pause(),
      resume: () => pool.connectionOf(exchange)?.resume(),
      cancel: () => pool.cancel(exchange, new Error('the reader stopped before the end of the response')),
    });
    const exchange: Exchange = {
      ...request,
      onHead(status, headers) {
        resolve({ status, headers, body: stream });
      },
      onBody(chunk) {
        stream.push(chunk);
      },
      onEnd() {
        signal?.removeEventListener('abort', onAbort);
        stream.end();
      },
      onError(error) {
        signal?.removeEventListener('abort', onAbort);
        reject(error); // has no effect after the headers
        stream.end(error);
      },
    };
    const onAbort = (): void => pool.cancel(exchange, abortReason(signal!));
    signal?.addEventListener('abort', onAbort, { once: true });
    pool.submit(exchange);
  });
}

/** Returns the request in its wire form: a text body is appended to the headers. */
function toWire(head: string, { body, mayBeSent, onQueued }: TransportRequest): WireRequest {
  return typeof body === 'object'
    ? { request: head, body, mayBeSent, onQueued }
    : { request: head + (body ?? ''), body: undefined, mayBeSent, onQueued };
}

async function orNothingSent<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (cause) {
    throw new UnreachableError(messageOf(cause), { cause });
  }
}

/** Throws UnreachableError if the certificate or key of the client is unusable. */
function secureContextOf(tls: TlsOptions): SecureContext {
  try {
    return createSecureContext(tls);
  } catch (cause) {
    const what = 'the client certificate or key of the user in the kubeconfig cannot be used';
    throw new UnreachableError(`${what} (${messageOf(cause)}): both must be in PEM format and match`, { cause });
  }
}

function nothingSent(message: string): ConnectionError {
  return new ConnectionError(message, { ambiguous: false, cause: undefined });
}
