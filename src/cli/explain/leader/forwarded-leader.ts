import { Buffer } from 'node:buffer';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { messageOf } from '../../../base/message-of.ts';
import { UserError } from '../../../base/user-error.ts';
import type { LeaderState } from './leader-state.ts';

/** How the certificate of the scheduler is checked. */
export type SchedulerTrust =
  /** PEM of the authorities, and the name in the certificate. */
  | { readonly kind: 'verified'; readonly ca: string; readonly serverName: string }
  /** By default, the scheduler makes its certificate at its start and keeps it in memory, so clients cannot verify it. */
  | { readonly kind: 'unverified' };

export interface ForwardedLeaderOptions {
  /** Opens a connection to the secure port of the scheduler. */
  readonly open: () => Promise<Duplex>;
  readonly trust: SchedulerTrust;
  readonly token: string;
  readonly signal: AbortSignal;
  /** See LeaderState. */
  readonly version: string | undefined;
}

/** The scheduler has answered with an error, or not at all. */
export class LeaderRequestError extends UserError {
  override readonly name = 'LeaderRequestError';
}

const timeoutMs = 15_000;
/** A page of /debug has far less. */
const maxBytes = 64 * 2 ** 20;

/** Asks the scheduler over TLS on a connection to its secure port, with a token. Each request has its own connection. */
export class ForwardedLeader implements LeaderState {
  readonly #options: ForwardedLeaderOptions;

  constructor(options: ForwardedLeaderOptions) {
    this.#options = options;
  }

  get version(): string | undefined {
    return this.#options.version;
  }

  get(path: string): Promise<unknown> {
    return this.#receive(path, (body) => JSON.parse(body.toString('utf8')) as unknown);
  }

  download(path: string): Promise<Uint8Array> {
    return this.#receive(path, (body) => body);
  }

  /**
   * Resolves with the response as soon as its headers are here, whatever its status. `signal` ends the request and the body. Rejects like `get` if
   * there is no response.
   */
  async stream(
    path: string,
    { headers, signal }: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  ): Promise<IncomingMessage> {
    const connection = await this.#options.open();
    const headersDue = new AbortController();
    const timer = setTimeout(() => headersDue.abort(new Error('it takes too long')), timeoutMs);
    try {
      const ended = AbortSignal.any([signal, this.#options.signal, headersDue.signal]);
      const response = await this.#request(path, connection, ended, headers);
      response.once('close', () => connection.destroy());
      return response;
    } catch (error) {
      connection.destroy();
      throw noAnswer(path, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #receive<T>(path: string, read: (body: Buffer) => T): Promise<T> {
    const connection = await this.#options.open();
    try {
      const deadline = AbortSignal.any([this.#options.signal, AbortSignal.timeout(timeoutMs)]);
      const response = await this.#request(path, connection, deadline);
      const body = await wholeBody(response);
      const { statusCode: status = 0 } = response;
      if (status !== 200)
        throw new LeaderRequestError(
          `the scheduler answered GET ${path} with ${status}: ${shown(body.toString('utf8'))}`,
        );
      return read(body);
    } catch (error) {
      throw noAnswer(path, error);
    } finally {
      connection.destroy();
    }
  }

  /** Sends the request over TLS. When `ended` aborts, the connection is destroyed, and the response with it. */
  #request(
    path: string,
    connection: Duplex,
    ended: AbortSignal,
    more: Readonly<Record<string, string>> = {},
  ): Promise<IncomingMessage> {
    const { trust, token } = this.#options;
    return new Promise((resolve, reject) => {
      connection.on('error', reject);
      const end = (): void => void connection.destroy(ended.reason as Error);
      ended.addEventListener('abort', end, { once: true });
      connection.once('close', () => ended.removeEventListener('abort', end));
      if (ended.aborted) end();
      const socket = connect({
        socket: connection,
        ...(trust.kind === 'verified' ? { ca: trust.ca, servername: trust.serverName } : { rejectUnauthorized: false }),
      });
      socket.on('error', reject);
      // The token is sent only once the certificate was accepted.
      socket.once('secureConnect', () => {
        const headers = { ...more, host: 'scheduler', authorization: `Bearer ${token}`, connection: 'close' };
        const sent = request({ createConnection: () => socket, path, headers }, resolve);
        sent.on('error', reject);
        // Also if it ends without a response and without an error, as after an upgrade that this client has not asked for.
        sent.on('close', () => reject(new Error('the connection was closed')));
        sent.end();
      });
    });
  }
}

function noAnswer(path: string, error: unknown): UserError {
  if (error instanceof UserError) return error;
  return new LeaderRequestError(`the scheduler did not answer GET ${path}: ${messageOf(error)}`, { cause: error });
}

function wholeBody(response: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length > maxBytes) response.destroy(new Error('the answer is too long'));
    });
    response.on('error', reject);
    response.on('end', () => resolve(Buffer.concat(pieces)));
  });
}

/** Returns the message of a Status, or the text. */
function shown(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : text.trim();
  } catch {
    return text.trim();
  }
}
