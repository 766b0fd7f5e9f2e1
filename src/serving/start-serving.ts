import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import { PortUnavailableError } from './port-unavailable-error.ts';
import type { Answer, Route } from './route.ts';

export interface ServingOptions {
  /** Address to listen on. Default 127.0.0.1: there is no TLS and no authentication here. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  /** The flag by which users choose the port; named when it cannot be had. */
  readonly portFlag: string;
  /** Their paths differ. */
  readonly routes: readonly Route[];
  readonly logger: Logger;
}

export interface Serving {
  /** http://host:port, no slash at the end. */
  readonly url: string;
  /** Stops listening and drops open connections; idempotent. */
  close(): Promise<void>;
}

/** `/a, /b and /c` */
const inWords = new Intl.ListFormat('en-GB');

/**
 * Serves routes over plain HTTP: 404, with the paths that there are, for any other path; 405 for methods other than GET and HEAD; 500 for a
 * route that fails. Rejects with PortUnavailableError.
 */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const { host = '127.0.0.1', port: wantedPort, portFlag, logger } = options;
  // path -> its route
  const routes = new Map(options.routes.map((route) => [route.path, route]));
  const server = createServer((request, response) => {
    void answer(request, routes)
      .catch((error: unknown): Answer => {
        logger.error('serving a request failed', { url: request.url, error });
        return { status: 500, text: `${describeError(error)}\n` };
      })
      .then((answered) => respond(request, response, answered));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new PortUnavailableError(host, wantedPort, portFlag, error)));
    server.listen(wantedPort, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  logger.info('serving over HTTP', { url, paths: [...routes.keys()] });
  let closed: Promise<void> | undefined;
  return {
    url,
    close(): Promise<void> {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

async function answer(request: IncomingMessage, routes: ReadonlyMap<string, Route>): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { status: 405, text: `${request.method ?? ''} is not allowed here: use GET\n` };
  }
  const [path = '', query] = (request.url ?? '').split('?', 2);
  const route = routes.get(path);
  if (route !== undefined) return route.answer(new URLSearchParams(query));
  return { status: 404, text: `no ${path} here: there are ${inWords.format(routes.keys())}\n` };
}

function respond(request: IncomingMessage, response: ServerResponse, { status, type, text }: Answer): void {
  response.writeHead(status, {
    'content-type': type ?? 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache, private',
    ...(status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}
