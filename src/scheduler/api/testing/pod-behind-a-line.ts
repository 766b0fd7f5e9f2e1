import type { Clock } from '../../../base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../client/transport.ts';
import { abortReason } from '../../../client/wait.ts';

/** What becomes of one call. Default: carried out and answered at once. */
export interface Journey {
  /** Milliseconds until it is carried out, also when whoever sent it has gone by then. */
  readonly thereMs?: number;
  /** Milliseconds from then until it is answered. */
  readonly backMs?: number;
  /** `request`: it is never carried out; `answer`: it is never answered. */
  readonly loses?: 'request' | 'answer';
  /** Milliseconds until the connection breaks, if it has not been answered by then. */
  readonly breaksMs?: number;
  /** It is answered so, and not carried out. */
  readonly status?: number;
  readonly retryAfter?: string;
}

export interface SentCall {
  readonly method: string;
  readonly path: string;
  readonly connection: string;
  /** Clock.monotonic() */
  readonly at: number;
  isCut: boolean;
}

/** An API server with one pod, over a line that takes its time. Like a real one it carries out what it has got, whoever waits for it. */
export class PodBehindALine implements Transport {
  uid: string | undefined = 'ours';
  nodeName = '';
  isLeaving = false;
  /** Asked for each call that is sent; counted from 1, for each method. */
  journey: (method: string, count: number) => Journey = () => ({});
  readonly sent: SentCall[] = [];
  /** How often our pod was bound. */
  bound = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Methods in the order in which they were sent. */
  get methods(): string[] {
    return this.sent.map(({ method }) => method);
  }

  send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    request.mayBeSent?.();
    const { method, path, connection = 'call' } = request;
    const call = { method, path, connection, at: this.#clock.monotonic(), isCut: false };
    this.sent.push(call);
    const journey = this.journey(method, this.methods.filter((other) => other === method).length);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        call.isCut = true;
        reject(abortReason(signal!));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const { thereMs = 0, backMs = 0, breaksMs, loses } = journey;
      if (breaksMs !== undefined) {
        this.#clock.setTimer(breaksMs, () =>
          reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })),
        );
      }
      if (loses === 'request') return;
      this.#clock.setTimer(thereMs, () => {
        const answer = this.#carryOut(request, journey);
        if (loses === 'answer') return;
        this.#clock.setTimer(backMs, () => {
          signal?.removeEventListener('abort', onAbort);
          resolve(answer);
        });
      });
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #carryOut({ method, body }: TransportRequest, { status, retryAfter }: Journey): TransportResponse {
    if (status !== undefined) {
      return answered(status, 'ForATest', retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    }
    if (this.uid === undefined) return answered(404, 'NotFound');
    if (method === 'GET') return json(200, this.#pod());
    const { metadata, target } = JSON.parse(body as string) as { metadata: { uid: string }; target: { name: string } };
    const mayBeBound = metadata.uid === this.uid && this.nodeName === '' && !this.isLeaving;
    if (!mayBeBound) return answered(409, 'Conflict');
    this.nodeName = target.name;
    this.bound++;
    return json(201, { kind: 'Status', status: 'Success' });
  }

  #pod(): object {
    return {
      metadata: { uid: this.uid, ...(this.isLeaving && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
      spec: this.nodeName === '' ? {} : { nodeName: this.nodeName },
    };
  }
}

function answered(status: number, reason: string, headers = {}): TransportResponse {
  return { ...json(status, { kind: 'Status', code: status, reason, message: 'for a test' }), headers };
}

function json(status: number, body: object): TransportResponse {
  return { status, headers: {}, body: bytes(JSON.stringify(body)) };
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
