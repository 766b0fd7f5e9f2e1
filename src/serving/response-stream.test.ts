import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { silentLogger } from '../observability/silent-logger.ts';
import { httpLimits } from './http-limits.ts';
import { RequestHandler } from './request-handler.ts';
import { ResponseStream } from './response-stream.ts';
import type { StreamClient } from './route.ts';
import { startLocalServing } from './start-local-serving.ts';
import type { Serving } from './start-local-serving.ts';

let serving: Serving;
let socket: Socket;
/** Names of the events that the stream received, in order. */
let events: string[];
let client: StreamClient;

afterEach(async () => {
  vi.useRealTimers();
  socket.destroy();
  await serving.close();
});

/** Opens a stream whose client reads nothing yet. */
async function open(): Promise<void> {
  events = [];
  const opened = Promise.withResolvers<void>();
  const handler = new RequestHandler({
    routes: [
      {
        path: '/stream',
        answer: () => ({
          status: 200,
          text: '',
          stream: (of) => {
            client = of;
            opened.resolve();
            return { closed: () => void events.push('closed'), lagged: () => void events.push('lagged') };
          },
        }),
      },
    ],
    logger: silentLogger,
  });
  serving = await startLocalServing({ port: 0, portFlag: '--port', handler });
  socket = connect(Number(new URL(serving.url).port), '127.0.0.1', () =>
    socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n'),
  );
  socket.on('error', () => undefined);
  socket.pause();
  await opened.promise;
}

it('UI6: a client that reads a byte at a time costs no more than its buffer, and the stream learns that it was too slow', async () => {
  await open();
  const text = 'x'.repeat(256 * 1024);
  const sent = 400;
  // Far more than the buffers of both sockets and of the stream.
  for (let i = 0; i < sent; i++) {
    client.send(text);
    socket.read(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // It may have caught up while the system still took texts.
  const before = events.length;
  let received = 0;
  socket.on('data', (data) => (received += data.length));
  socket.resume();
  await expect.poll(() => events.length).toBe(before + 1);
  expect(new Set(events)).toEqual(new Set(['lagged']));
  client.send('after');
  let tail = '';
  socket.on('data', (data) => (tail = `${tail}${data.toString()}`.slice(-100)));
  await expect.poll(() => tail).toContain('after');
  expect(received).toBeLessThan((sent * text.length) / 4);
});

it('sends one text of any length, and lets others wait behind it', async () => {
  await open();
  client.send('x'.repeat(20 * 1024 * 1024));
  client.send('y'.repeat(512 * 1024));
  client.send('z');
  client.end();
  let received = '';
  socket.on('data', (data) => (received = `${received}${data.toString('latin1')}`.slice(-100)));
  socket.resume();
  await expect.poll(() => events).toEqual(['closed']);
  await expect.poll(() => received).toMatch(/yz\r\n0\r\n\r\n$/);
});

it('gives up a client that does not read what is left at the end', () => {
  vi.useFakeTimers();
  const closed: string[] = [];
  // The system still took each text, and then no more.
  const response = Object.assign(new EventEmitter(), {
    write: () => true,
    end: () => undefined,
    destroy: () => response.emit('close'),
  });
  const stream = new ResponseStream(response as unknown as ServerResponse, () => closed.push('response'));
  stream.open(() => ({ closed: () => void closed.push('stream'), lagged: () => undefined }), 'text');
  stream.end();
  response.emit('drain');
  vi.advanceTimersByTime(httpLimits.streamStallMs - 1);
  expect(closed).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(closed).toEqual(['response', 'stream']);
  expect(vi.getTimerCount()).toBe(0);
});

it('reports to the stream that the client has gone', async () => {
  await open();
  socket.destroy();
  await expect.poll(() => events).toEqual(['closed']);
  client.send('unevents');
  client.end();
});

it('sends a comment every 15 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  await open();
  let received = '';
  socket.on('data', (data) => (received += data.toString()));
  socket.resume();
  vi.advanceTimersByTime(30_000);
  await expect.poll(() => received.split(': \n\n').length).toBe(3);
});
