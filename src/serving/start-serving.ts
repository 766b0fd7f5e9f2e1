import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { PortUnavailableError } from './port-unavailable-error.ts';
import type { ReadinessCheck } from './readiness-check.ts';

export interface ServingOptions {
  /** Address to listen on. Default 127.0.0.1: there is no TLS and no authentication here. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  /** The flag by which users choose the port; named when it cannot be had. */
  readonly portFlag: string;
  /** What /readyz asks. */
  readonly checks: readonly ReadinessCheck[];
  readonly registry: MetricRegistry;
  readonly logger: Logger;
}

export interface Serving {
  /** http://host:port, no slash at the end. */
  readonly url: string;
  /** Stops listening and drops open connections; idempotent. */
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly text: string;
}

/**
 * Serves /healthz and /livez (the process answers), /readyz (every check holds, else 503 with the reasons; `?verbose` lists
 * all checks in any case) and /metrics (Prometheus text) over plain HTTP. Rejects with PortUnavailableError.
 */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const host = options.host ?? '127.0.0.1';
  const server = createServer((request, response) => {
    void answer(request, options)
      .catch((error: unknown): Answer => {
        options.logger.error('serving a request failed', { url: request.url, error });
        return { status: 500, text: `${describeError(error)}\n` };
      })
      .then((answered) => respond(request, response, answered));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new PortUnavailableError(host, options.port, options.portFlag, error)));
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  options.logger.info('serving health and metrics', { url });
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

async function answer(request: IncomingMessage, options: ServingOptions): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { status: 405, text: `${request.method ?? ''} is not allowed here: use GET\n` };
  }
  const [path = '', query] = (request.url ?? '').split('?', 2);
  switch (path) {
    case '/healthz':
    case '/livez':
      return { status: 200, text: 'ok' };
    case '/readyz':
      return readiness(options.checks, new URLSearchParams(query).has('verbose'));
    case '/metrics':
      return { status: 200, type: options.registry.contentType, text: await options.registry.metrics() };
    default:
      return { status: 404, text: `no ${path} here: there are /healthz, /livez, /readyz and /metrics\n` };
  }
}

function readiness(checks: readonly ReadinessCheck[], verbose: boolean): Answer {
  const results = checks.map((check) => ({ name: check.name, result: outcome(check) }));
  const ready = results.every(({ result }) => result === true);
  if (ready && !verbose) return { status: 200, text: 'ok' };
  const lines = results.map(({ name, result }) => (result === true ? `[+]${name} ok` : `[-]${name} failed: ${result}`));
  return {
    status: ready ? 200 : 503,
    text: [...lines, ready ? 'readyz check passed' : 'readyz check failed', ''].join('\n'),
  };
}

function outcome(check: ReadinessCheck): true | string {
  try {
    return check.check();
  } catch (error) {
    return describeError(error);
  }
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
