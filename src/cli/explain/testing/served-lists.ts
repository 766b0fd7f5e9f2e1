import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An API server that only has lists and their discovery, and denies whatever a test wants it to deny. */
export class ServedLists {
  /** path -> its objects */
  readonly lists = new Map<string, readonly unknown[]>();
  /** Returns the status and the message with which a request is denied. */
  deny: (method: string, path: string) => readonly [status: number, message: string] | undefined = () => undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(({ method = '', url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://x');
      const denied = this.deny(method, pathname);
      const items = this.lists.get(pathname);
      const served = [...this.lists.keys()].filter((path) => path.startsWith(`${pathname}/`));
      if (denied !== undefined) answer(response, denied[0], failure(...denied));
      else if (served.length > 0 && /^\/apis\/[^/]+\/[^/]+$/.test(pathname))
        answer(response, 200, { resources: served.map((path) => ({ name: path.split('/').at(-1) })) });
      else if (items === undefined || method !== 'GET') answer(response, 404, failure(404, 'not found'));
      else answer(response, 200, pageOf(items, searchParams));
    });
  }

  static async start(): Promise<ServedLists> {
    const served = new ServedLists();
    await new Promise<void>((resolve) => served.#server.listen(0, '127.0.0.1', resolve));
    return served;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Returns the part of a list that `limit` and `continue` select. */
function pageOf(items: readonly unknown[], query: URLSearchParams): object {
  const start = Number(query.get('continue') ?? 0);
  const end = start + Number(query.get('limit') ?? items.length);
  const next = end < items.length ? { continue: String(end) } : {};
  return { metadata: { resourceVersion: '1', ...next }, items: items.slice(start, end) };
}

function failure(code: number, message: string): object {
  const reasons: Readonly<Record<number, string>> = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound' };
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: reasons[code] ?? '', message, code };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
