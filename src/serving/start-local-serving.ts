import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpService, limitedServerOptions } from './http-service.ts';
import { PortUnavailableError } from '../base/port-unavailable-error.ts';
import type { RequestHandler } from './request-handler.ts';

/** The running server of a process. */
export interface Serving {
  /** Scheme, host and port, without a trailing slash. */
  readonly url: string;
  /** From now on every response ends its connection. */
  drain(): void;
  /** Accepts no more connections; responses in progress get a moment to finish. Idempotent. */
  close(): Promise<void>;
}

export interface LocalServingOptions {
  /** 0: any free port. */
  readonly port: number;
  /** The flag that sets the port; the error names it if the port is unavailable. */
  readonly portFlag: string;
  readonly handler: RequestHandler;
}

const loopback = '127.0.0.1';
const closeGraceMs = 500;

/** Serves over plain HTTP, from this thread, on loopback only: for a local playground. Rejects with PortUnavailableError. */
export async function startLocalServing({ port: requested, portFlag, handler }: LocalServingOptions): Promise<Serving> {
  const server = createServer(limitedServerOptions);
  const service = new HttpService({ server, answer: (request) => handler.handle(request) });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new PortUnavailableError(loopback, requested, portFlag, error)));
    server.listen(requested, loopback, resolve);
  });
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${loopback}:${port}`,
    drain: () => service.drain(),
    close: () => (closed ??= service.close(closeGraceMs)),
  };
}
