import { createSecureContext } from 'node:tls';
import { Pool, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import { ConnectionError } from './api-errors.ts';
import { collectResponse } from './collect-response.ts';
import type { Credentials, Endpoint } from './endpoint.ts';
import type { Lane, Transport, TransportRequest, TransportResponse } from './transport.ts';
import { unlessAborted } from './wait.ts';

export interface UndiciTransportOptions {
  readonly endpoint: Endpoint;
  /** Connections for calls. 64 in flight already saturate a connection pool; more only adds waiting. */
  readonly callConnections?: number;
  /**
   * How long an idle connection is kept, in milliseconds. Must be below the server's own idle time-out (90 s for
   * kube-apiserver), else a call may be written to a connection that the server is just closing.
   */
  readonly idleTimeoutMs?: number;
}

interface Dispatchers {
  readonly tlsKey: string;
  /** lane -> the connections that carry it */
  readonly byLane: Readonly<Record<Lane, Dispatcher>>;
}

const connectTimeoutMs = 10_000;
const keepAliveProbeMs = 30_000;

/**
 * HTTP/1.1 over undici. Each lane has its own connections: any number of long-lived ones for watches, two for the Lease
 * (so that a renewal that hangs does not hold up the next), a pool for calls. Watches have no time-out here: who watches
 * keeps a dead-man timer. When the certificates or authorities change, new connections are opened and the old ones are
 * closed as soon as what they carry has ended.
 */
export class UndiciTransport implements Transport {
  readonly #endpoint: Endpoint;
  readonly #pathPrefix: string;
  readonly #origin: string;
  readonly #callConnections: number;
  readonly #idleTimeoutMs: number;
  /** Replaced ones that still carry something, and the current ones. */
  readonly #open = new Set<Dispatcher>();
  #current: Dispatchers | undefined;
  #closed = false;

  constructor(options: UndiciTransportOptions) {
    const server = new URL(options.endpoint.server);
    this.#endpoint = options.endpoint;
    this.#origin = server.origin;
    this.#pathPrefix = server.pathname.replace(/\/+$/, '');
    this.#callConnections = options.callConnections ?? 64;
    this.#idleTimeoutMs = options.idleTimeoutMs ?? 30_000;
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    // A credential plug-in may hang, which must not outlive the call's deadline.
    const credentials = await unlessAborted(this.#credentials(), signal);
    signal?.throwIfAborted();
    const dispatcher = this.#dispatchersFor(credentials).byLane[request.lane ?? 'call'];
    const options = {
      origin: this.#origin,
      path: this.#pathPrefix + request.path,
      method: request.method,
      headers: { ...request.headers, ...credentials.headers },
      body: request.body ?? null,
    };
    const response =
      request.lane === 'watch'
        ? await openStream(dispatcher, options, signal)
        : await collectResponse(dispatcher, options, signal);
    if (response.statusCode === 401) this.#endpoint.refused(credentials);
    return { status: response.statusCode, headers: joinHeaders(response.headers), body: response.body };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#current = undefined;
    await Promise.all([...this.#open].map((dispatcher) => dispatcher.destroy()));
    this.#open.clear();
  }

  async #credentials(): Promise<Credentials> {
    try {
      return await this.#endpoint.credentials();
    } catch (cause) {
      throw nothingSent(cause instanceof Error ? cause.message : String(cause), cause);
    }
  }

  #dispatchersFor(credentials: Credentials): Dispatchers {
    if (this.#closed) throw nothingSent('the transport is closed');
    const current = this.#current;
    if (current?.tlsKey === credentials.tlsKey) return current;
    const next: Dispatchers = {
      tlsKey: credentials.tlsKey,
      byLane: {
        watch: this.#openDispatcher(credentials, null, 0),
        lease: this.#openDispatcher(credentials, 2),
        call: this.#openDispatcher(credentials, this.#callConnections),
      },
    };
    this.#current = next;
    if (current !== undefined) for (const old of Object.values(current.byLane)) this.#drain(old);
    return next;
  }

  #openDispatcher(credentials: Credentials, connections: number | null, responseTimeoutMs?: number): Dispatcher {
    const options: Pool.Options = {
      connections,
      allowH2: false, // undici's HTTP/2 carries a fraction of what 64 plain connections do
      pipelining: 1,
      keepAliveTimeout: this.#idleTimeoutMs,
      keepAliveMaxTimeout: this.#idleTimeoutMs,
      ...(responseTimeoutMs === undefined ? {} : { headersTimeout: responseTimeoutMs, bodyTimeout: responseTimeoutMs }),
    };
    const { tls } = credentials;
    const proxyUrl = this.#endpoint.proxyUrl;
    const dispatcher =
      proxyUrl === undefined
        ? new Pool(this.#origin, {
            ...options,
            connect: {
              ...tls,
              // Made once: making it anew costs more than the handshake.
              secureContext: createSecureContext(tls),
              timeout: connectTimeoutMs,
              keepAlive: true,
              keepAliveInitialDelay: keepAliveProbeMs,
            },
          })
        : new ProxyAgent({ ...options, uri: proxyUrl, requestTls: { ...tls, timeout: connectTimeoutMs } });
    this.#open.add(dispatcher);
    return dispatcher;
  }

  #drain(dispatcher: Dispatcher): void {
    dispatcher
      .close()
      .catch(ignore) // closed twice: `close()` destroyed it meanwhile
      .finally(() => this.#open.delete(dispatcher));
  }
}

async function openStream(
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
  signal: AbortSignal | undefined,
): Promise<Dispatcher.ResponseData> {
  const response = await dispatcher.request({ ...options, signal: signal ?? null });
  // A body that nobody reads yet must not crash the process when its connection is lost.
  response.body.on('error', ignore);
  return response;
}

function nothingSent(message: string, cause?: unknown): ConnectionError {
  return new ConnectionError(message, { ambiguous: false, cause });
}

function ignore(): void {
  // deliberately nothing
}

function joinHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return joined;
}
