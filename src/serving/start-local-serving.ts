import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpService, limitedServerOptions } from './http-service.ts';
import { PortUnavailableError } from './port-unavailable-error.ts';
import type { RequestHandler } from './request-handler.ts';

/** What a process serves, while it runs. */
export interface Serving {
  /** Scheme, host and port, no slash at the end. */
  readonly url: string;
  /** From now on every answer ends its connection. */
  drain(): void;
  /** Takes no more connections; what is being answered gets a moment to end. Idempotent. */
  close(): Promise<void>;
}

export interface LocalServingOptions {
  /** 0: any free one. */
  readonly port: number;
  /** By which users choose the port; named when it cannot be had. */
  readonly portFlag: string;
  readonly handler: RequestHandler;
}

const loopback = '127.0.0.1';
const closeGraceMs = 500;

/**
 * Serves over plain HTTP, from this thread, to this machine alone: for a process that somebody plays with. Rejects with
 * PortUnavailableError.
 */
export async function startLocalServing({ port: wanted, portFlag, handler }: LocalServingOptions): Promise<Serving> {
  const server = createServer(limitedServerOptions);
  const service = new HttpService({ server, answer: (request) => handler.handle(request) });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new PortUnavailableError(loopback, wanted, portFlag, error)));
    server.listen(wanted, loopback, resolve);
  });
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${loopback}:${port}`,
    drain: () => service.drain(),
    close: () => (closed ??= service.close(closeGraceMs)),
  };
}
