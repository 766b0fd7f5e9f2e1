import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ForwardingServerOptions {
  /** path -> the object that a GET or POST returns; other paths return 404 */
  readonly objects: Readonly<Record<string, unknown>>;
  /** Port of 127.0.0.1 to which it forwards, by the path of the forward; an Error: what the node reports instead; undefined: no answer. */
  readonly target: ForwardTarget | ((path: string) => ForwardTarget);
}

export type ForwardTarget = number | Error | undefined;

/** In bytes; longer frames have another header. */
const maxFrame = 32_768;

const accept = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

/** An API server with some objects, which forwards ports as a kubelet does with the subprotocol v4.channel.k8s.io. */
export class ForwardingServer {
  /** Paths of the forwards. */
  readonly forwards: string[] = [];
  /** Method, path and body of the other requests. */
  readonly requests: (readonly [method: string, path: string, body: string])[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  private constructor(options: ForwardingServerOptions) {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: unknown) => (body += String(chunk)));
      request.on('end', () => {
        const { pathname } = new URL(request.url!, 'http://x');
        this.requests.push([request.method!, pathname, body]);
        const found = options.objects[pathname];
        const answer = found ?? {
          kind: 'Status',
          status: 'Failure',
          reason: 'NotFound',
          code: 404,
          message: 'not found',
        };
        response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer));
      });
    });
    const { target } = options;
    this.#server.on('upgrade', (request, socket) =>
      this.#forward(request, socket, typeof target === 'function' ? target(request.url!) : target),
    );
  }

  static async start(options: ForwardingServerOptions): Promise<ForwardingServer> {
    const server = new ForwardingServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #forward({ url, headers }: IncomingMessage, client: Duplex, target: ForwardTarget): void {
    this.forwards.push(url!);
    this.#sockets.add(client);
    client.on('error', () => undefined);
    if (target === undefined) return;
    const upgrade = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${accept(headers['sec-websocket-key']!)}`,
      'Sec-WebSocket-Protocol: v4.channel.k8s.io',
      '\r\n',
    ].join('\r\n');
    const port = Buffer.alloc(2);
    port.writeUInt16LE(10_259);
    const opened = Buffer.concat([Buffer.from(upgrade), frame(0, port), frame(1, port)]);
    if (target instanceof Error) {
      // In one packet: the client may read the error together with the upgrade.
      client.write(Buffer.concat([opened, frame(1, Buffer.from(target.message))]));
      return;
    }
    client.write(opened);
    const process: Socket = connect(target, '127.0.0.1');
    this.#sockets.add(process);
    process.on('error', () => client.destroy());
    process.on('data', (data: Buffer) => {
      for (let start = 0; start < data.length; start += maxFrame) {
        client.write(frame(0, data.subarray(start, start + maxFrame)));
      }
    });
    process.on('close', () => client.end());
    client.on('close', () => process.destroy());
    let buffered = Buffer.alloc(0);
    client.on('data', (data: Buffer) => {
      buffered = Buffer.concat([buffered, data]);
      for (let read = readFrame(buffered); read !== undefined; read = readFrame(buffered)) {
        buffered = buffered.subarray(read.length);
        // The first byte is the channel.
        if (read.isBinary) process.write(read.payload.subarray(1));
        else process.end();
      }
    });
  }
}

function frame(channel: number, data: Buffer): Buffer {
  const payload = Buffer.concat([Buffer.from([channel]), data]);
  const header = Buffer.alloc(payload.length < 126 ? 2 : 4);
  header[0] = 0x82;
  if (payload.length < 126) header[1] = payload.length;
  else {
    header[1] = 126;
    header.writeUInt16BE(payload.length, 2);
  }
  return Buffer.concat([header, payload]);
}

function readFrame(
  data: Buffer,
): { readonly isBinary: boolean; readonly payload: Buffer; readonly length: number } | undefined {
  if (data.length < 6) return undefined;
  const short = data[1]! & 0x7f;
  const start = short === 126 ? 4 : 2;
  const size = short === 126 ? data.readUInt16BE(2) : short;
  const length = start + 4 + size;
  if (data.length < length) return undefined;
  const mask = data.subarray(start, start + 4);
  const payload = Buffer.from(data.subarray(start + 4, length).map((byte, index) => byte ^ mask[index % 4]!));
  return { isBinary: (data[0]! & 0x0f) === 2, payload, length };
}
