import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { isIP } from 'node:net';
import type { AddressInfo } from 'node:net';
import { UserError } from '../../base/user-error.ts';
import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import type { EmbeddedApiServer } from './embedded-api-server.ts';
import { ApiError } from './http/api-error.ts';
import { bodyLimitBytes } from './http/decode-body.ts';
import { webPageProblem } from './http/reject-web-pages.ts';
import { jsonResponse } from './http/response.ts';

/** The port that the server shall listen on is held by another process. */
export class PortTakenError extends UserError {
  override readonly name = 'PortTakenError';
  readonly port: number;

  constructor(port: number, host: string, cause: unknown) {
    super(
      `port ${port} on ${host} is already in use: stop the process that holds it, or choose another port (0 takes any free one)`,
      { cause },
    );
    this.port = port;
  }
}

/** The system does not let this user listen on the port, as on those below 1024. */
export class PortDeniedError extends UserError {
  override readonly name = 'PortDeniedError';
  readonly port: number;

  constructor(port: number, host: string, cause: unknown) {
    super(`this user may not listen on port ${port} of ${host}: choose one from 1024 up (0 takes any free one)`, {
      cause,
    });
    this.port = port;
  }
}

/** A listening server. */
export interface HttpListener {
  /** `http://127.0.0.1:12345`, or with `https` */
  readonly url: string;
  readonly port: number;
  /** Closes all connections; what is being answered gets a moment to end. The API server itself stays as it is. */
  close(): Promise<void>;
}

/** Longer than clients keep idle connections, so that it is never the server that closes one just when it is used. */
const keepAliveMs = 75_000;
/** A client that takes nothing of what waits for it for so long is cut off: what waits is memory. */
const defaultStalledMs = 5 * 60_000;
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

export interface ListenOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** PEM. With it the server speaks HTTPS; clients send a token only then. Default: plain HTTP. */
  readonly certificate?: { readonly certificates: string; readonly key: string };
  /** How long a client may read nothing of an answer that is larger than its connection takes, in milliseconds. Default 5 minutes. */
  readonly stalledMs?: number;
}

/**
 * Serves an embedded API server over HTTP/1.1, on loopback addresses only, and to no web page.
 * Rejects with PortTakenError when the port is taken, with PortDeniedError when this user may not have it; port 0 takes any
 * free one.
 */
export async function listenHttp(
  server: EmbeddedApiServer,
  port: number,
  { host = '127.0.0.1', certificate, stalledMs = defaultStalledMs }: ListenOptions = {},
): Promise<HttpListener> {
  if (host !== 'localhost' && host !== '::1' && !(isIP(host) === 4 && host.startsWith('127.'))) {
    throw new Error(
      `the embedded API server is for this machine and listens on loopback addresses only, not on ${host}: use 127.0.0.1`,
    );
  }
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    void answer(server, incoming, outgoing, stalledMs);
  };
  const http =
    certificate === undefined
      ? createServer({ keepAliveTimeout: keepAliveMs }, listener)
      : createSecureServer(
          { keepAliveTimeout: keepAliveMs, cert: certificate.certificates, key: certificate.key },
          listener,
        );
  try {
    http.listen(port, host);
    await once(http, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new PortTakenError(port, host, error);
    if (code === 'EACCES') throw new PortDeniedError(port, host, error);
    throw error;
  }
  const actual = (http.address() as AddressInfo).port;
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    port: actual,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        // Watches never end by themselves, and a client may keep its connection for ever.
        setImmediate(() => http.closeAllConnections());
      }),
  };
}

async function answer(
  server: EmbeddedApiServer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  stalledMs: number,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort(new Error('the client closed the connection')));
  try {
    await send(await respond(server, incoming, gone.signal), outgoing, gone.signal, stalledMs);
  } catch {
    // No answer can be given any more: the client sees a lost connection.
    outgoing.destroy();
  }
}

async function respond(
  server: EmbeddedApiServer,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<TransportResponse> {
  const { method = '', url = '/' } = incoming;
  if (!methods.has(method)) {
    return rejection(new ApiError({ code: 405, reason: 'MethodNotAllowed', message: `${method} is not supported` }));
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const problem = webPageProblem(headers);
  // Who may not be here does not get to fill the memory.
  const isKept = problem === undefined && hasBody(headers) && server.knows(headers);
  const body = await readBody(incoming, isKept ? bodyLimitBytes : 0);
  if (problem !== undefined) return rejection(problem);
  if (body === undefined && isKept) {
    const message = `Request entity too large: limit is ${bodyLimitBytes}`;
    return rejection(new ApiError({ code: 413, reason: 'RequestEntityTooLarge', message }));
  }
  return server.handle(
    { method: method as TransportRequest['method'], path: url, headers, ...(body?.length && { body }) },
    signal,
  );
}

function rejection(error: ApiError): TransportResponse {
  return jsonResponse(error.toStatus(), { status: error.code });
}

/** As most requests have not; whose they are is then asked once, when they are carried out. */
function hasBody(headers: TransportRequest['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Undefined: it is larger than so many bytes; the rest is read and dropped. */
async function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of incoming) {
    length += (piece as Buffer).length;
    if (length <= limitBytes) pieces.push(piece as Buffer);
  }
  return length > limitBytes ? undefined : Buffer.concat(pieces);
}

async function send(
  response: TransportResponse,
  outgoing: ServerResponse,
  signal: AbortSignal,
  stalledMs: number,
): Promise<void> {
  outgoing.writeHead(response.status, response.headers);
  if (response.headers['content-length'] === undefined) outgoing.flushHeaders();
  for await (const piece of response.body) {
    if (outgoing.write(piece)) continue;
    const stalled = setTimeout(() => outgoing.destroy(), stalledMs);
    try {
      await once(outgoing, 'drain', { signal });
    } finally {
      clearTimeout(stalled);
    }
  }
  outgoing.end();
}
