import { Buffer } from 'node:buffer';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket, TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls';
import type { TlsOptions } from '../endpoint.ts';
import { ResponseParser } from './response-parser.ts';
import { tlsProblem } from './tls-problem.ts';

/** A connection could not be opened, so nothing was sent. The message is that of the cause. */
export class DialError extends Error {
  override readonly name = 'DialError';

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

export interface DialTarget {
  /** `http:` or `https:`, host and port. */
  readonly server: URL;
  readonly tls: TlsOptions;
  /** Created once from `tls`: creating it again costs more than a handshake. */
  readonly secureContext: SecureContext;
  /** An HTTP proxy, `http:` or `https:`. The client asks it for a tunnel (CONNECT). */
  readonly proxyUrl?: string;
}

/** Receives a socket's bytes. They are valid only until it returns. */
export type ReceiveBytes = (bytes: Buffer) => void;

export interface DialedSocket {
  readonly socket: Socket;
  /** Starts reading; nothing is read before. */
  readonly receive: (receiver: ReceiveBytes) => void;
}

const connectTimeoutMs = 10_000;
const keepAliveProbeMs = 30_000;

/**
 * Shared read buffer of all sockets. Each receiver is done with the bytes before the next socket reads, so a socket needs no 64
 * KB of its own and a read allocates nothing.
 */
const readBuffer = Buffer.allocUnsafeSlow(65_536);

/**
 * Opens a socket that is ready for requests. Rejects with a DialError after a failure, after 10 s, or with the signal's abort
 * reason.
 */
export async function dial(target: DialTarget, signal: AbortSignal): Promise<DialedSocket> {
  const opened = new Set<Socket>();
  const giveUp = (error: Error): void => {
    for (const socket of opened) socket.destroy(error);
  };
  const onAbort = (): void => giveUp(signal.reason as Error);
  const timer = setTimeout(() => {
    giveUp(new Error(`no connection to ${target.server.host} within ${connectTimeoutMs / 1000} s`));
  }, connectTimeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await (target.proxyUrl === undefined ? dialDirectly(target, opened) : dialThrough(target, opened));
  } catch (error) {
    giveUp(error as Error);
    throw new DialError(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function dialDirectly(target: DialTarget, opened: Set<Socket>): Promise<DialedSocket> {
  let receiver: ReceiveBytes | undefined;
  const onread = {
    buffer: readBuffer,
    callback(length: number, buffer: Uint8Array): boolean {
      receiver?.(buffer.subarray(0, length) as Buffer);
      return true;
    },
  };
  const isSecure = target.server.protocol === 'https:';
  const address = { ...addressOf(target.server), onread };
  const socket = await connect(address, isSecure ? tlsOptionsOf(target) : undefined, opened);
  return {
    socket,
    receive: (to) => {
      receiver = to;
    },
  };
}

async function dialThrough(target: DialTarget, opened: Set<Socket>): Promise<DialedSocket> {
  const proxy = new URL(target.proxyUrl!);
  const isSecure = proxy.protocol === 'https:';
  if (!isSecure && proxy.protocol !== 'http:') throw new Error(`proxy-url ${proxy.protocol}// is not supported`);
  const address = addressOf(proxy);
  const tunnel = await connect(address, isSecure ? serverName(address.host) : undefined, opened);
  await askForTunnel(tunnel, target.server, proxy);
  if (target.server.protocol !== 'https:') return { socket: tunnel, receive: (to) => void tunnel.on('data', to) };
  const { host } = addressOf(target.server);
  const socket: TLSSocket = connectTls({ socket: tunnel, host, ...tlsOptionsOf(target) });
  opened.add(socket);
  await ready(socket, 'secureConnect');
  return { socket, receive: (to) => void socket.on('data', to) };
}

/** Connects, over TLS if `tls` is set. Adds the socket to `opened` at once. */
async function connect(
  address: TcpNetConnectOpts,
  tls: ConnectionOptions | undefined,
  opened: Set<Socket>,
): Promise<Socket> {
  const socket = tls === undefined ? connectTcp(address) : connectTls({ ...address, ...tls });
  opened.add(socket);
  await ready(socket, tls === undefined ? 'connect' : 'secureConnect');
  socket.setNoDelay(true);
  socket.setKeepAlive(true, keepAliveProbeMs);
  return socket;
}

/** Requests a tunnel. Rejects unless the proxy responds with 2xx. */
async function askForTunnel(socket: Socket, server: URL, proxy: URL): Promise<void> {
  const { host, port } = addressOf(server);
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `host: ${authority}`, ...proxyLogin(proxy)];
  const { promise: responded, resolve, reject } = Promise.withResolvers<number>();
  const parser = new ResponseParser();
  parser.expect({ onHead: resolve, onBody: ignore });
  const onData = (bytes: Buffer): void => {
    try {
      parser.push(bytes);
    } catch (error) {
      reject(error);
    }
  };
  socket.on('data', onData);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const status = await Promise.race([responded, lost(socket)]);
  socket.off('data', onData);
  socket.pause();
  if (status >= 300) throw new Error(`the proxy ${proxy.host} responded to CONNECT ${authority} with ${status}`);
}

function proxyLogin({ username, password }: URL): string[] {
  if (username === '') return [];
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  return [`proxy-authorization: Basic ${login}`];
}

function addressOf({ protocol, hostname, port }: URL): { host: string; port: number } {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

/** Returns the server name for the TLS handshake; an IP address must not be sent (RFC 6066). */
function serverName(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

function tlsOptionsOf({ server, tls, secureContext }: DialTarget): ConnectionOptions {
  return { ...serverName(addressOf(server).host), ...tls, secureContext, ALPNProtocols: ['http/1.1'] };
}

async function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once(event, resolve);
  await Promise.race([promise, lost(socket)]);
}

/** Rejects when the socket fails or closes. After the race, that rejection is ignored. */
function lost(socket: Socket): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('the connection was closed before it was ready')));
  promise.catch(ignore);
  return promise;
}

function ignore(): void {
  // deliberately nothing
}

/** Returns the message of an error. After several addresses failed, that is the message of the first. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return tlsProblem(error)?.message ?? (error.message === '' ? error.name : error.message);
}
