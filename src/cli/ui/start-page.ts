import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PortUnavailableError } from '../../base/port-unavailable-error.ts';
import type { DebugEndpoints } from './debug-endpoints.ts';
import type { PageFile } from './bundle-page.ts';
import { PageHandler } from './page-handler.ts';
import { PageSession } from './page-session.ts';

export interface PageOptions {
  /** See loadPage and PageHandlerOptions. */
  readonly files: () => Promise<readonly PageFile[]>;
  /** 0 selects a free port. */
  readonly port: number;
  readonly endpoints: DebugEndpoints;
}

/** A page that is served. */
export interface RunningPage {
  /** The link that opens it, once. It contains the token, so only the user may see it. */
  readonly link: string;
  /** Idempotent. */
  close(): Promise<void>;
}

const host = '127.0.0.1';
/** A browser keeps at most six for a page. All processes of the machine can connect, and must not use up the files of this one. */
const maxConnections = 200;

/** Serves the timeline page on the loopback interface. Rejects with PortUnavailableError. */
export async function startPage({ files, port: wanted, endpoints }: PageOptions): Promise<RunningPage> {
  const session = new PageSession();
  const server = createServer();
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new PortUnavailableError(host, wanted, '--port', error)));
    server.listen(wanted, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const handler = new PageHandler({ files, endpoints, session, port });
  server.on('request', (request, response) => void handler.handle(request, response));
  return {
    link: `http://${host}:${port}/#${session.token}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
