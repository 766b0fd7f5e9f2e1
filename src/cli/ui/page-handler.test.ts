import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageFile } from '../../base/package-files.ts';
import { NoLeaderError } from '../explain/leader/find-leader.ts';
import type { DebugEndpoints, DebugRequest } from './debug-endpoints.ts';
import { startPage } from './start-page.ts';
import type { RunningPage } from './start-page.ts';

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const files = [
  { name: 'index.html', bytes: readFileSync(packageFile('src', 'ui', 'index.html')) },
  { name: 'page.js', bytes: Buffer.from('export {};') },
];

let page: RunningPage;
let origin: string;
let host: string;
let loaded: () => Promise<typeof files>;
/** Requests that reached the scheduler. */
let asked: DebugRequest[];
let answer: DebugEndpoints['get'];

function send(path: string, { body, ...options }: RequestOptions & { readonly body?: string } = {}): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, options, (response) => {
      text(response).then(
        (received) => resolve({ status: response.statusCode!, headers: response.headers, body: received }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function signIn(): Promise<string> {
  const { headers } = await send('/session', { method: 'POST', headers: { origin }, body: tokenOf(page.link) });
  return headers['set-cookie']![0]!.split(';')[0]!;
}

function tokenOf(link: string): string {
  return new URL(link).hash.slice(1);
}

beforeEach(async () => {
  asked = [];
  loaded = async () => files;
  answer = async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: Readable.from(['{}']) });
  const endpoints: DebugEndpoints = {
    get(sent) {
      asked.push(sent);
      return answer(sent);
    },
  };
  page = await startPage({ files: () => loaded(), port: 0, endpoints });
  ({ origin, host } = new URL(page.link));
});

afterEach(() => page.close());

describe('The server of the page', () => {
  it('listens on the loopback interface only, and gives out a link with a token', () => {
    expect(page.link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[A-Za-z0-9_-]{32}$/);
  });

  it('survives a path that is none, and a sign-in that is broken off', async () => {
    expect((await send('//')).status).toBe(400);
    const brokenOff = request(`${origin}/session`, { method: 'POST', headers: { origin, 'content-length': 100 } });
    const failed = once(brokenOff, 'error');
    brokenOff.write('half', () => brokenOff.destroy(new Error('broken off')));
    await failed;
    expect((await send('/')).status).toBe(200);
    expect(await signIn()).toContain('=');
  });

  it('accepts a limited number of connections, and others when those have ended', async () => {
    const port = Number(new URL(origin).port);
    const open = Array.from({ length: 300 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    const isRefused = (socket: Socket): boolean => socket.closed;
    await expect.poll(() => open.filter(isRefused).length).toBe(100);
    for (const socket of open) socket.destroy();
    await expect.poll(() => send('/').catch(() => undefined)).toMatchObject({ status: 200 });
  });

  it('serves the page with headers that allow nothing but its own files', async () => {
    const { status, headers, body } = await send('/');
    expect(status).toBe(200);
    expect(body).toContain('<title>Tutti timeline</title>');
    expect(headers['content-security-policy']).toMatch(/^default-src 'self';/);
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    // Inline scripts and styles would not run.
    expect(body).not.toMatch(/<style|style=|<script>| on[a-z]+=|https?:\/\//);
    expect((await send('/page.js')).headers['content-type']).toContain('text/javascript');
  });

  it('loads the page with the first request, and again if that has failed', async () => {
    let loads = 0;
    loaded = async () => {
      if (++loads === 1) throw new Error('no disk');
      return files;
    };
    expect(await send('/')).toMatchObject({ status: 500, body: 'the page cannot be loaded: no disk\n' });
    expect([(await send('/')).status, (await send('/page.js')).status]).toEqual([200, 200]);
    expect(loads).toBe(2);
  });

  it('exchanges the token once for a cookie that no script and no other site gets', async () => {
    const token = tokenOf(page.link);
    const first = await send('/session', { method: 'POST', headers: { origin }, body: token });
    expect(first.status).toBe(204);
    expect(first.headers['set-cookie']![0]).toMatch(/^tutti-\d+=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/);
    const second = await send('/session', { method: 'POST', headers: { origin }, body: token });
    expect(second.status).toBe(403);
    expect(second.headers['set-cookie']).toBeUndefined();
  });

  it('passes events and explanations through, and the last event id, to a browser with the cookie', async () => {
    const cookie = await signIn();
    answer = async () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream', 'set-cookie': 'x=y', server: 'scheduler' },
      body: Readable.from(['event: gap\n', 'data: {}\n\n']),
    });
    const events = await send('/debug/events', { headers: { cookie, 'last-event-id': 'a.1' } });
    expect(events).toMatchObject({ status: 200, body: 'event: gap\ndata: {}\n\n' });
    expect(events.headers['content-type']).toBe('text/event-stream');
    expect(events.headers['set-cookie']).toBeUndefined();
    await send('/debug/explain?namespace=ml&name=red', { headers: { cookie } });
    expect(asked.map(({ path, headers }) => [path, headers])).toEqual([
      ['/debug/events', { 'last-event-id': 'a.1' }],
      ['/debug/explain?namespace=ml&name=red', {}],
    ]);
  });

  it('sends each part of a stream when it comes, and ends the request when the browser leaves', async () => {
    const cookie = await signIn();
    const body = new Readable({ read: () => undefined });
    const ended = new Promise<void>((resolve) => {
      answer = async ({ signal }) => {
        signal.addEventListener('abort', () => resolve());
        return { status: 200, headers: {}, body };
      };
    });
    const sent = request(`${origin}/debug/events`, { headers: { cookie } });
    sent.on('error', () => undefined);
    sent.end();
    const piece = await new Promise<string>((resolve) => {
      sent.once('response', (response) => response.once('data', (data: unknown) => resolve(String(data))));
      body.push('data: 1\n\n');
    });
    expect(piece).toBe('data: 1\n\n');
    sent.destroy();
    await ended;
  });

  it('UI6− reads no more of a stream than a browser that takes a byte at a time', async () => {
    const cookie = await signIn();
    const piece = Buffer.alloc(64 * 1024, 'x');
    let read = 0;
    const body = new Readable({
      read() {
        read += piece.length;
        // As from a network: not at once.
        setImmediate(() => this.push(piece));
      },
    });
    answer = async () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${origin}/debug/events`, { headers: { cookie } }, resolve).on('error', reject).end();
    });
    let before = -1;
    while (read !== before) {
      before = read;
      for (let turn = 0; turn < 500; turn++) {
        response.read(1);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    // The buffers of both sockets.
    expect(read).toBeLessThan(16 * 2 ** 20);
    response.destroy();
    await expect.poll(() => body.destroyed).toBe(true);
  });

  it('UI7− passes on why the scheduler refuses, and says why it cannot be reached', async () => {
    const cookie = await signIn();
    answer = async () => ({ status: 503, headers: { 'retry-after': '5' }, body: Readable.from(['8 clients\n']) });
    const full = await send('/debug/events', { headers: { cookie } });
    expect(full).toMatchObject({ status: 503, body: '8 clients\n', headers: { 'retry-after': '5' } });
    answer = () => Promise.reject(new NoLeaderError('no scheduler holds the Lease'));
    const lost = await send('/debug/events', { headers: { cookie } });
    expect(lost).toMatchObject({ status: 502, body: 'no scheduler holds the Lease\n' });
    expect(lost.headers['content-type']).toBe('text/plain; charset=utf-8');
  });
});

describe('UI12− The server of the page refuses', () => {
  const withCookie = async (headers: Record<string, string>): Promise<Received> =>
    send('/debug/events', { headers: { cookie: await signIn(), ...headers } });

  afterEach(() => {
    expect(asked).toEqual([]);
  });

  it.each(['evil.example', 'evil.example:80', '127.0.0.1', 'localhost:1', '[::1]:80'])(
    'a foreign Host: %s',
    async (foreign) => {
      expect((await withCookie({ host: foreign })).status).toBe(403);
      expect((await send('/', { headers: { host: foreign } })).status).toBe(403);
    },
  );

  it.each(['http://evil.example', 'null', 'https://127.0.0.1', 'http://127.0.0.1:1'])(
    'a foreign Origin: %s',
    async (foreign) => {
      expect((await withCookie({ origin: foreign })).status).toBe(403);
      const token = tokenOf(page.link);
      const denied = await send('/session', { method: 'POST', headers: { origin: foreign }, body: token });
      expect([denied.status, denied.headers['set-cookie']]).toEqual([403, undefined]);
    },
  );

  it('a request that a page of another site has made', async () => {
    const cookie = await signIn();
    for (const site of ['cross-site', 'same-site'])
      expect((await send('/debug/events', { headers: { cookie, 'sec-fetch-site': site } })).status).toBe(403);
  });

  it.each([undefined, '', 'tutti=x', 'tutti-1=x'])('a request without the cookie: %s', async (cookie) => {
    for (const path of ['/debug/events', '/debug/explain?namespace=a&name=b']) {
      const { status, body } = await send(path, { headers: cookie === undefined ? {} : { cookie } });
      expect([status, body]).toEqual([
        401,
        'this browser has no session: open the link that the command has printed\n',
      ]);
    }
  });

  it('a wrong token, a long one, and one in the address', async () => {
    for (const body of ['', 'x', 'x'.repeat(32), 'x'.repeat(100_000)])
      expect((await send('/session', { method: 'POST', headers: { origin }, body })).status).toBe(403);
    expect((await send(`/debug/events?token=${tokenOf(page.link)}`)).status).toBe(401);
  });

  it('a sign-in without an Origin, which no browser sends', async () => {
    expect((await send('/session', { method: 'POST', body: tokenOf(page.link) })).status).toBe(403);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s', async (method) => {
    const cookie = await signIn();
    for (const path of ['/', '/debug/events', '/debug/explain'])
      expect((await send(path, { method, headers: { cookie, origin, host } })).status).toBe(405);
  });

  it('all other paths, those of the scheduler included', async () => {
    const cookie = await signIn();
    for (const path of ['/debug/snapshot', '/debug/queue', '/metrics', '/debug/events/', '/../package.json', '/x'])
      expect((await send(path, { headers: { cookie } })).status).toBe(404);
    expect((await send('/session', { headers: { cookie } })).status).toBe(405);
    expect((await send(`/debug/explain?name=${'x'.repeat(3_000)}`, { headers: { cookie } })).status).toBe(414);
  });
});
