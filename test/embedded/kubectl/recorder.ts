import { Buffer } from 'node:buffer';
import type { VirtualClock } from '../../../src/base/virtual-clock.ts';
import type { TransportRequest, TransportResponse } from '../../../src/client/transport.ts';
import { answerOf, isWatch, writeBody } from './exchange.ts';
import type { Exchange } from './exchange.ts';

/**
 * Records every request to an embedded API server, in the order in which the server responds. The server's clock follows the real one but
 * stops during a request, so that a replay with the same times is identical to the millisecond.
 */
export class Recorder {
  readonly exchanges: Exchange[] = [];
  readonly #clock: VirtualClock;
  readonly #started = performance.now();
  readonly #ticks: NodeJS.Timeout;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    this.#ticks = setInterval(() => this.#followTime(), 5);
  }

  /** Use as the server's `intercept`. */
  readonly intercept = (request: TransportRequest, proceed: () => TransportResponse): TransportResponse => {
    this.#followTime();
    const { method, path, headers, body } = request;
    const exchange: Exchange = {
      at: this.#clock.monotonic(),
      client: clientOf(headers['user-agent']),
      method,
      path,
      ...(headers['content-type'] !== undefined && { contentType: headers['content-type'] }),
      ...(headers.accept !== undefined && { accept: headers.accept }),
      ...(body !== undefined && { body: writeBody(body, headers['content-type']) }),
      status: 0,
    };
    this.exchanges.push(exchange);
    const response = proceed();
    exchange.status = response.status;
    if (isWatch(path) && response.status === 200) return response;
    return { ...response, body: readAlong(response.body, (text) => (exchange.answer = answerOf(text))) };
  };

  /** Stops the clock. */
  stop(): void {
    clearInterval(this.#ticks);
  }

  #followTime(): void {
    this.#clock.advance(Math.max(0, Math.floor(performance.now() - this.#started) - this.#clock.monotonic()));
  }
}

/**
 * Returns the client's name: `kubectl/v1.31.9 (linux/amd64) kubernetes/…` is kubectl. The watches of client-node carry the name of its HTTP
 * library.
 */
function clientOf(userAgent: string | undefined): string {
  const [name = 'unknown'] = /^[\w-]+/.exec(userAgent ?? '') ?? [];
  return name === 'kubernetes-client-javascript' || name === 'undici' ? 'client-node' : name;
}

async function* readAlong(body: AsyncIterable<Uint8Array>, onEnd: (text: string) => void): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    pieces.push(piece);
    yield piece;
  }
  onEnd(Buffer.concat(pieces).toString());
}
