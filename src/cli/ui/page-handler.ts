import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { extname } from 'node:path';
import { messageOf } from '../../base/message-of.ts';
import { UserError } from '../../base/user-error.ts';
import type { PageFile } from './bundle-page.ts';
import type { DebugEndpoints } from './debug-endpoints.ts';
import type { PageSession } from './page-session.ts';

export interface PageHandlerOptions {
  /** Called with the first request for one of them, and again only if it rejects. */
  readonly files: () => Promise<readonly PageFile[]>;
  readonly endpoints: DebugEndpoints;
  readonly session: PageSession;
  /** The port of the server, on the loopback interface. */
  readonly port: number;
}

/** Paths of the scheduler that the page needs. All others stay closed. */
const proxied: ReadonlySet<string> = new Set(['/debug/events', '/debug/explain']);
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const maxUrlLength = 2_000;
const maxTokenLength = 200;

/** No script, style or request but those of the page itself; no frame around it; no text that becomes HTML. */
const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** A request that is refused. */
interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Serves the page and what it reads of the scheduler. A web page of another site can neither read it nor act through it: the Host must be that of the loopback
 * interface, the Origin that of the page, and everything about the cluster needs the cookie of the session. It accepts GET, and one POST, which exchanges the
 * token for the cookie.
 */
export class PageHandler {
  readonly #options: PageHandlerOptions;
  #files: Promise<ReadonlyMap<string, PageFile>> | undefined;
  readonly #hosts: ReadonlySet<string>;
  /** Cookies do not know ports, and two commands may run at once. */
  readonly #cookieName: string;

  constructor(options: PageHandlerOptions) {
    this.#options = options;
    const { port } = options;
    this.#hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`]);
    this.#cookieName = `tutti-${port}`;
  }

  /** Answers one request. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(pageHeaders)) response.setHeader(name, value);
    const target = URL.parse(request.url ?? '/', 'http://localhost');
    if (target === null) return refuse(response, { status: 400, text: 'the path of the request is not one of a URL' });
    const { pathname, search } = target;
    const refusal = this.#refusal(request, pathname);
    if (refusal !== undefined) return refuse(response, refusal);
    if (pathname === '/session') return this.#signIn(request, response);
    if (proxied.has(pathname)) return this.#proxy(request, response, `${pathname}${search}`);
    return this.#sendFile(request, response, pathname);
  }

  async #sendFile({ method }: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    try {
      this.#files ??= this.#options.files().then(byPath);
      const file = (await this.#files).get(path);
      if (file === undefined) return refuse(response, { status: 404, text: 'there is no such path' });
      response.writeHead(200, { 'content-type': types[extname(file.name)] ?? 'application/octet-stream' });
      response.end(method === 'HEAD' ? undefined : file.bytes);
    } catch (error) {
      this.#files = undefined;
      refuse(response, { status: 500, text: `the page cannot be loaded: ${messageOf(error)}` });
    }
  }

  #refusal({ method = '', headers, url = '' }: IncomingMessage, path: string): Refusal | undefined {
    const { host = '', origin, cookie } = headers;
    if (!this.#hosts.has(host)) return { status: 403, text: 'the Host of the request is not that of this page' };
    if (origin !== undefined && origin !== `http://${host}`)
      return { status: 403, text: 'the Origin of the request is not that of this page' };
    const site = headers['sec-fetch-site'];
    const isSession = path === '/session';
    const needsCookie = proxied.has(path);
    if ((isSession || needsCookie) && site !== undefined && site !== 'same-origin' && site !== 'none')
      return { status: 403, text: 'another site has sent the request' };
    if (url.length > maxUrlLength) return { status: 414, text: 'the address is too long' };
    const allowed = isSession ? ['POST'] : needsCookie ? ['GET'] : ['GET', 'HEAD'];
    if (!allowed.includes(method))
      return { status: 405, text: `this path accepts ${allowed.join(', ')}`, headers: { allow: allowed.join(', ') } };
    if (isSession && origin === undefined) return { status: 403, text: 'the request has no Origin' };
    if (needsCookie && !this.#options.session.accepts(cookieOf(cookie, this.#cookieName)))
      return { status: 401, text: 'this browser has no session: open the link that the command has printed' };
    return undefined;
  }

  async #signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await shortBody(request).catch(() => undefined);
    const cookie = this.#options.session.exchange(body ?? '');
    if (cookie === undefined) {
      const text = 'this link was used before, or is not of this run: start the command again for a new one';
      return refuse(response, { status: 403, text });
    }
    response.writeHead(204, { 'set-cookie': `${this.#cookieName}=${cookie}; Path=/; HttpOnly; SameSite=Strict` });
    response.end();
  }

  async #proxy(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const lastEventId = request.headers['last-event-id'];
    try {
      const { status, headers, body } = await this.#options.endpoints.get({
        path,
        headers: typeof lastEventId === 'string' ? { 'last-event-id': lastEventId } : {},
        signal: abort.signal,
      });
      const passed = Object.fromEntries(
        ['content-type', 'retry-after'].flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
      );
      response.writeHead(status, passed);
      response.flushHeaders();
      await pipeline(body, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else refuse(response, { status: 502, text: error instanceof UserError ? error.message : messageOf(error) });
    }
  }
}

/** path -> file */
function byPath(files: readonly PageFile[]): ReadonlyMap<string, PageFile> {
  return new Map(files.map((file) => [file.name === 'index.html' ? '/' : `/${file.name}`, file]));
}

/** Plain text, also for texts that others wrote. */
function refuse(response: ServerResponse, { status, text, headers }: Refusal): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(`${text}\n`);
}

/** Returns the body; undefined: it is longer than a token. Rejects if the client breaks off. */
async function shortBody(request: IncomingMessage): Promise<string | undefined> {
  let text = '';
  for await (const piece of request) {
    text += String(piece);
    if (text.length > maxTokenLength) return undefined;
  }
  return text;
}

function cookieOf(header = '', name: string): string | undefined {
  const found = header.split(';').find((pair) => pair.trim().startsWith(`${name}=`));
  return found?.trim().slice(name.length + 1);
}
