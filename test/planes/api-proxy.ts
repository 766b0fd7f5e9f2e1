import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixedEndpoint } from '../../src/client/endpoint.ts';
import type { Endpoint } from '../../src/client/endpoint.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/client/transport.ts';

/**
 * Decides what happens to a request. The proxy sends a returned response; undefined passes the request on; throwing breaks the connection.
 * `forward` sends the request to the API server, for faults that strike after it has responded.
 */
export type Fault = (
  request: TransportRequest,
  forward: () => Promise<TransportResponse>,
) => TransportResponse | undefined | Promise<TransportResponse | undefined>;

/** Headers of a single connection, and those that the next connection sets itself. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'host',
  'accept-encoding',
]);

/**
 * A proxy between one client process and an API server that injects faults. The process uses `endpoint`; all others reach the server
 * directly.
 */
export class ApiProxy {
  readonly endpoint: Endpoint;
  /** Called for every request while it is set. */
  fault: Fault | undefined;
  readonly #transport: Transport;
  readonly #port: number;
  #server: Server | undefined;

  private constructor(transport: Transport, server: Server) {
    this.#transport = transport;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    this.endpoint = fixedEndpoint(`http://127.0.0.1:${this.#port}`);
    server.on('request', (incoming, outgoing) => void this.#answer(incoming, outgoing));
  }

  /** Listens on a free port and sends requests on through `transport`. */
  static async open(transport: Transport): Promise<ApiProxy> {
    return new ApiProxy(transport, await listen(0));
  }

  /** Closes the port: connections break, and new ones are refused. */
  async cut(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  /** Listens on the same port again. */
  async restore(): Promise<void> {
    if (this.#server !== undefined) return;
    this.#server = await listen(this.#port);
    this.#server.on('request', (incoming, outgoing) => void this.#answer(incoming, outgoing));
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort(new Error('the client has gone')));
    outgoing.on('error', () => undefined); // the client disconnected during the response
    try {
      const request = await requestOf(incoming);
      const forward = (): Promise<TransportResponse> => this.#transport.send(request, gone.signal);
      const response = (await this.fault?.(request, forward)) ?? (await forward());
      outgoing.writeHead(response.status, withoutOwn(response.headers));
      outgoing.flushHeaders();
      for await (const piece of response.body) {
        if (!outgoing.write(piece)) await once(outgoing, 'drain', { signal: gone.signal });
      }
      outgoing.end();
    } catch {
      outgoing.destroy();
    }
  }
}

/** Returns a response in the format of the API server that did not come from it. */
export function statusAnswer(code: number, reason: string, message: string): TransportResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: one(new TextEncoder().encode(JSON.stringify(status))),
  };
}

async function* one(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}

async function listen(port: number): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 75_000 });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function requestOf(incoming: IncomingMessage): Promise<TransportRequest> {
  const { method = 'GET', url = '/', headers } = incoming;
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return {
    method: method as TransportRequest['method'],
    path: url,
    headers: withoutOwn(flat),
    ...(pieces.length > 0 && { body: Buffer.concat(pieces) }),
    connection: url.includes('watch=true') ? 'watch' : 'call',
  };
}

function withoutOwn(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)));
}
