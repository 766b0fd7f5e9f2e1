import { Buffer } from 'node:buffer';
import { request } from 'node:https';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { makeSelfSignedCertificate } from '../certificates/self-signed-certificate.ts';
import type { Answer, StreamClient } from '../route.ts';
import type { ServedRequest } from '../served-request.ts';
import { httpsGet } from '../testing/https-get.ts';
import { PortUnavailableError } from '../../base/port-unavailable-error.ts';
import { Front } from './front.ts';
import type { StartFrontOptions } from './front.ts';
import { hangsMs } from '../../../test/planes/patience.ts';

let front: Front;
let clock: VirtualClock;
let logged: string[];
let answer: (request: ServedRequest) => Promise<Answer>;
const posting = vi.spyOn(Worker.prototype, 'postMessage');

beforeEach(async () => {
  clock = new VirtualClock();
  logged = [];
  answer = ({ path }) => Promise.resolve({ status: 200, text: path });
  front = await Front.start(await frontOptions());
});
afterEach(() => front.close());

async function frontOptions(answerWithinMs: number = hangsMs): Promise<StartFrontOptions> {
  const keep = (message: string): void => void logged.push(message);
  return {
    host: '127.0.0.1',
    port: 0,
    sharesPort: false,
    tls: { ...(await makeSelfSignedCertificate(['localhost'], Date.now(), 1)), clientAuthorities: [] },
    minVersion: 'TLSv1.2',
    answerWithinMs,
    portFlag: '--secure-port',
    answer: (request) => answer(request),
    clock,
    logger: { ...silentLogger, info: keep, error: keep },
  };
}

const get = (path: string): ReturnType<typeof httpsGet> => httpsGet(`https://127.0.0.1:${front.port}${path}`);

it('responds with 500 while the main thread does not respond', async () => {
  await front.close();
  front = await Front.start(await frontOptions(300));
  answer = () => new Promise(() => undefined);
  expect(await get('/livez')).toMatchObject({ status: 500, text: '[-]event-loop failed: no response within 0.3 s\n' });
  answer = () => Promise.resolve({ status: 200, text: 'ok' });
  await expect.poll(() => get('/livez')).toMatchObject({ status: 200, text: 'ok' });
});

it('limits the rate of forwarded requests, and loses none', async () => {
  let forwarded = 0;
  let at = 0;
  answer = () => {
    const now = Math.floor(performance.now() / 100);
    forwarded = now === at ? forwarded + 1 : 1;
    at = now;
    return Promise.resolve({ status: 200, text: 'ok' });
  };
  const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await get('/a')).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(forwarded).toBeLessThanOrEqual(50 + 100);
});

it('replaces a thread that ended, on the same port', async () => {
  await get('/a');
  const worker = posting.mock.contexts.at(-1) as Worker;
  const { port } = front;
  await worker.terminate();
  await expect(get('/a')).rejects.toThrow();
  await expect
    .poll(async () => {
      clock.advance(1_000);
      return (await get('/a').catch(() => undefined))?.status;
    })
    .toBe(200);
  expect(front.port).toBe(port);
  expect(logged).toContain('serving requests again');
});

/** Opens a stream. Returns what its client receives, the events that the stream receives, and its two ends. */
async function openStream(): Promise<{
  readonly received: () => string;
  readonly events: readonly string[];
  readonly client: StreamClient;
  readonly leave: () => void;
}> {
  const events: string[] = [];
  const opened = Promise.withResolvers<StreamClient>();
  answer = () =>
    Promise.resolve({
      status: 200,
      text: 'first ',
      stream: (client) => {
        client.send('second ');
        opened.resolve(client);
        return { closed: () => void events.push('closed'), lagged: () => void events.push('lagged') };
      },
    });
  let text = '';
  const sent = request(`https://127.0.0.1:${front.port}/stream`, { rejectUnauthorized: false, agent: false });
  sent.on('response', (response) => response.on('data', (data: Uint8Array) => (text += Buffer.from(data).toString())));
  sent.on('error', () => undefined);
  sent.end();
  const client = await opened.promise;
  return { received: () => text, events, client, leave: () => void sent.destroy() };
}

it('passes on the texts of a stream in order, and reports that its client has gone', async () => {
  const { received, events, client, leave } = await openStream();
  client.send('third');
  await expect.poll(received).toBe('first second third');
  expect(events).toEqual([]);
  leave();
  await expect.poll(() => events).toEqual(['closed']);
});

it('ends a stream when the process ends it, and when the server drains', async () => {
  const one = await openStream();
  const two = await openStream();
  one.client.end();
  await expect.poll(() => one.events).toEqual(['closed']);
  expect(two.events).toEqual([]);
  front.drain();
  await expect.poll(() => two.events).toEqual(['closed']);
});

it('reports the end of all streams of a thread that ended', async () => {
  const { events } = await openStream();
  await (posting.mock.contexts.at(-1) as Worker).terminate();
  await expect.poll(() => events).toEqual(['closed']);
});

it('shares its port only if both servers allow it', async () => {
  const options = { ...(await frontOptions()), sharesPort: true };
  const first = await Front.start(options);
  const { port } = first;
  await expect(Front.start({ ...options, port, sharesPort: false })).rejects.toThrow(PortUnavailableError);
  const second = await Front.start({ ...options, port });
  await first.close();
  expect(await httpsGet(`https://127.0.0.1:${port}/a`)).toMatchObject({ status: 200 });
  await second.close();
});

it('closes at once without requests in progress, and may close twice', async () => {
  await get('/a');
  await front.close();
  await front.close();
  await expect(get('/a')).rejects.toThrow();
});

it('keeps serving while eight clients of a stream read nothing of a long text', async () => {
  const text = 'x'.repeat(12 * 2 ** 20);
  const streams: StreamClient[] = [];
  answer = ({ path }) =>
    Promise.resolve({
      status: 200,
      text: path === '/stream' ? '' : path,
      ...(path === '/stream' && {
        stream: (client: StreamClient) => {
          streams.push(client);
          client.send(text);
          return { closed: () => undefined, lagged: () => undefined };
        },
      }),
    });
  const clients = Array.from({ length: 8 }, () =>
    request(`https://127.0.0.1:${front.port}/stream`, { rejectUnauthorized: false, agent: false })
      .on('response', (response) => response.pause())
      .on('error', () => undefined)
      .end(),
  );
  await expect.poll(() => streams.length).toBe(8);
  for (let round = 0; round < 3; round++) expect(await get('/livez')).toMatchObject({ status: 200 });
  expect(logged).toEqual([]);
  for (const client of clients) client.destroy();
});
