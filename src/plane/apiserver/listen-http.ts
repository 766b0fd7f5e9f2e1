import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { PortUnavailableError } from '../../base/port-unavailable-error.ts';
import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import type { EmbeddedApiServer } from './embedded-api-server.ts';
import { methodNotAllowed } from './http/api-error.ts';
import type { ApiError } from './http/api-error.ts';
import { bodyLimitBytes, bodyTooLarge } from './http/decode-body.ts';
import { webPageProblem } from './http/reject-web-pages.ts';
import { jsonResponse } from './http/response.ts';

/** A listening server. */
export interface HttpListener {
  /** Such as `http://127.0.0.1:12345`, or with `https`. */
  readonly url: string;
  readonly port: number;
  /** Closes all connections. Responses in flight get one turn of the event loop to finish. The API server itself stays open. */
  close(): Promise<void>;
}

/** Longer than clients keep idle connections, so that the server never closes a connection just as a client reuses it. */
const keepAliveMs = 75_000;
/** The server disconnects a client that reads nothing for this long, because unread data takes memory. */
const defaultStalledMs = 5 * 60_000;
const host = '127.0.0.1';
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

export interface ListenOptions {
  /** Certificate and key in PEM. Enables HTTPS, without which clients send no token. Default: plain HTTP. */
  readonly certificate?: { readonly certificates: string; readonly key: string };
  /** Milliseconds that a client may stop reading a response that fills its connection's buffer. Default: 5 minutes. */
  readonly stalledMs?: number;
}

/**
 * Serves an embedded API server over HTTP/1.1, on the loopback address 127.0.0.1. Rejects requests from web pages. Port 0 picks a free
 * port. Rejects with PortUnavailableError.
 */
export async function listenHttp(
  server: EmbeddedApiServer,
  port: number,
  { certificate, stalledMs = defaultStalledMs }: ListenOptions = {},
): Promise<HttpListener> {
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    void handleRequest(server, incoming, outgoing, stalledMs);
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
    throw new PortUnavailableError(host, port, '--port', error as NodeJS.ErrnoException);
  }
  const actual = (http.address() as AddressInfo).port;
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://${host}:${actual}`,
    port: actual,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        // Watches do not end on their own, and a client may keep its connection open forever.
        setImmediate(() => http.closeAllConnections());
      }),
  };
}

async function handleRequest(
  server: EmbeddedApiServer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  stalledMs: number,
): Promise<void> {
  const disconnected = new AbortController();
  outgoing.once('close', () => disconnected.abort(new Error('the client closed the connection')));
  try {
    await send(await respond(server, incoming, disconnected.signal), outgoing, disconnected.signal, stalledMs);
  } catch {
    // It is too late for an error response. The client sees a lost connection.
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
    return rejection(methodNotAllowed(`${method} is not supported`));
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const problem = webPageProblem(headers);
  // Drop the body of unauthenticated clients, so that they cannot fill the memory.
  const keepsBody = problem === undefined && hasBody(headers) && server.isAuthenticated(headers);
  const body = await readBody(incoming, keepsBody ? bodyLimitBytes : 0);
  if (problem !== undefined) return rejection(problem);
  if (body === undefined && keepsBody) return rejection(bodyTooLarge());
  return server.handle(
    { method: method as TransportRequest['method'], path: url, headers, ...(body?.length && { body }) },
    signal,
  );
}

function rejection(error: ApiError): TransportResponse {
  return jsonResponse(error.toStatus(), { status: error.code });
}

/** Returns whether the request has a body. Most have none, and are then authenticated only once, by `handle`. */
function hasBody(headers: TransportRequest['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Returns the body, or undefined if it exceeds the limit. Reads an oversized body to its end and drops it. */
async function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += (chunk as Buffer).length;
    if (length <= limitBytes) chunks.push(chunk as Buffer);
  }
  return length > limitBytes ? undefined : Buffer.concat(chunks);
}

async function send(
  response: TransportResponse,
  outgoing: ServerResponse,
  signal: AbortSignal,
  stalledMs: number,
): Promise<void> {
  outgoing.writeHead(response.status, response.headers);
  if (response.headers['content-length'] === undefined) outgoing.flushHeaders();
  for await (const chunk of response.body) {
    if (outgoing.write(chunk)) continue;
    const stalled = setTimeout(() => outgoing.destroy(), stalledMs);
    try {
      await once(outgoing, 'drain', { signal });
    } finally {
      clearTimeout(stalled);
    }
  }
  outgoing.end();
}
