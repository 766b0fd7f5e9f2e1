import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

export interface ReceivedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Number of the connection, from 1. */
  readonly connection: number;
}

/** What the server does with one request. It gets the response of node:http and may do anything with it. */
export type Behaviour = (response: ServerResponse, request: ReceivedRequest) => void;

/** A real HTTP server on loopback that handles each request as a test scripts it, and records all requests. */
export class MisbehavingServer {
  readonly requests: ReceivedRequest[] = [];
  readonly #server: Server;
  /** Behaviors of the next requests, in order; when the script ends, `otherwise` applies. */
  #script: Behaviour[] = [];
  #otherwise: Behaviour = answerStatus(404, 'NotFound', 'nothing is here');
  #connections = 0;
  readonly #connectionNumbers = new WeakMap<object, number>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#connectionNumbers.set(socket, ++this.#connections));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#receive(request, response));
  }

  static async start(): Promise<MisbehavingServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MisbehavingServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of connections accepted since the start. */
  get connections(): number {
    return this.#connections;
  }

  /** Returns the number of open connections. */
  async openConnections(): Promise<number> {
    return promisify(this.#server.getConnections.bind(this.#server))();
  }

  /** Adds behaviors for the next requests, one each. */
  next(...behaviours: Behaviour[]): this {
    this.#script.push(...behaviours);
    return this;
  }

  /** Sets the behavior for all requests that have none of their own. */
  otherwise(behaviour: Behaviour): this {
    this.#otherwise = behaviour;
    return this;
  }

  /** Cuts every connection; the server keeps listening. */
  cutConnections(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: string[] = [];
    incoming.setEncoding('utf8');
    try {
      for await (const chunk of incoming) chunks.push(chunk as string);
    } catch {
      return; // the client disconnected before it had sent the request
    }
    const url = new URL(incoming.url ?? '/', this.url);
    const request: ReceivedRequest = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: chunks.join(''),
      connection: this.#connectionNumbers.get(incoming.socket) ?? 0,
    };
    this.requests.push(request);
    (this.#script.shift() ?? this.#otherwise)(response, request);
  }
}

/** Sends a successful JSON response. */
export function answerJson(body: unknown, status = 200, headers: Record<string, string> = {}): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Sends an error response with a Status, as an API server does. */
export function answerStatus(
  code: number,
  reason: string,
  message: string,
  extra: { headers?: Record<string, string>; details?: unknown } = {},
): Behaviour {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details: extra.details };
  return answerJson(status, code, extra.headers);
}

/** Sends raw text with a success status and ends the response properly. */
export function answerText(text: string, status = 200): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(text);
  };
}

/** Accepts the request and never responds. */
export const saysNothing: Behaviour = () => undefined;

/** Resets the connection before any response. */
export const resetsConnection: Behaviour = (response) => {
  response.socket?.resetAndDestroy();
};

/** Sends the text as part of the response, then cuts the connection. */
export function cutsAfter(text: string): Behaviour {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(text, () => response.socket?.destroy());
  };
}

/** Sends the lines and leaves the response open. */
export function streams(...lines: unknown[]): Behaviour {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const line of lines) response.write(JSON.stringify(line) + '\n');
  };
}

/** Sends the lines and ends the response properly. */
export function streamsAndEnds(...lines: unknown[]): Behaviour {
  return (response, request) => {
    streams(...lines)(response, request);
    response.end();
  };
}
