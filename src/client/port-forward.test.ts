import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { fixedEndpoint } from './endpoint.ts';
import { openPortForward } from './port-forward.ts';
import { ForwardingServer } from './testing/forwarding-server.ts';
import type { ForwardingServerOptions } from './testing/forwarding-server.ts';

let api: ForwardingServer | undefined;
let process: Server | undefined;

afterEach(async () => {
  await api?.close();
  process?.close();
});

async function open(target: ForwardingServerOptions['target'], timeoutMs = 5000): Promise<Duplex> {
  api = await ForwardingServer.start({ objects: {}, target });
  return openPortForward({ endpoint: fixedEndpoint(api.url), namespace: 'default', pod: 'a', port: 80, timeoutMs });
}

describe('a forwarded port', () => {
  it('reports an error that arrives together with the upgrade', async () => {
    await expect(open(new Error('connection refused'))).rejects.toThrow(
      'cannot forward port 80 of pod default/a: connection refused',
    );
  });

  it('reports an API server that does not open it in time', async () => {
    await expect(open(undefined, 100)).rejects.toThrow(
      'cannot forward port 80 of pod default/a: Opening handshake has timed out',
    );
  });

  it('delivers all that the process has sent before it closed the connection', async () => {
    const size = 5_000_000;
    process = createServer((socket) => socket.end(Buffer.alloc(size)));
    await once(process.listen(0, '127.0.0.1'), 'listening');
    const connection = await open((process.address() as AddressInfo).port);
    let received = 0;
    connection.on('data', (data: Buffer) => (received += data.length));
    await once(connection, 'end');
    expect(received).toBe(size);
  });

  it('closes the connection to the process when it is destroyed', async () => {
    const closed = new Promise<void>((resolve) => {
      process = createServer((socket) => socket.on('close', () => resolve()).resume());
    });
    await once(process!.listen(0, '127.0.0.1'), 'listening');
    const connection = await open((process!.address() as AddressInfo).port);
    connection.destroy();
    await closed;
  });
});
