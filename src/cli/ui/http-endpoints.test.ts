import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { httpEndpoints } from './http-endpoints.ts';

it('rejects an answer that switches to another protocol', async () => {
  const server = createServer((socket) => {
    socket.resume();
    socket
      .on('error', () => undefined)
      .end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  await expect(
    httpEndpoints(`http://127.0.0.1:${port}`).get({ path: '/debug/events', headers: {}, signal }),
  ).rejects.toThrow('the scheduler did not answer GET /debug/events: its answer switches to another protocol');
  await new Promise((resolve) => server.close(resolve));
});
