import type { Clock } from '../../../base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../client/transport.ts';
import { abortReason } from '../../../client/wait.ts';

/** How the server handles one call. Default: it takes effect and is answered at once. */
export interface CallBehavior {
  /** Milliseconds until the call takes effect, even if the client has gone. */
  readonly requestMs?: number;
  /** Milliseconds from then until the response. */
  readonly responseMs?: number;
  /** `request`: the call never takes effect; `response`: the client gets no response. */
  readonly loses?: 'request' | 'response';
  /** Milliseconds until the connection breaks, unless the response comes first. */
  readonly breaksMs?: number;
  /** Status of a response without any effect. */
  readonly status?: number;
  readonly retryAfter?: string;
}

export interface SentCall {
  readonly method: string;
  readonly path: string;
  readonly connection: string;
  /** Clock.monotonic() */
  readonly at: number;
  isAborted: boolean;
}

/** An API server with one pod behind a slow connection. Like a real server, it finishes every request that it has received. */
export class SlowPodServer implements Transport {
  uid: string | undefined = 'ours';
  nodeName = '';
  isLeaving = false;
  /** Called for each request, with its count per method, starting from 1. */
  behavior: (method: string, count: number) => CallBehavior = () => ({});
  readonly sent: SentCall[] = [];
  /** How often the pod was bound. */
  bound = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Methods in the order of sending. */
  get methods(): string[] {
    return this.sent.map(({ method }) => method);
  }

  send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    request.mayBeSent?.();
    const { method, path, connection = 'call' } = request;
    const call = { method, path, connection, at: this.#clock.monotonic(), isAborted: false };
    this.sent.push(call);
    const behavior = this.behavior(method, this.methods.filter((other) => other === method).length);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        call.isAborted = true;
        reject(abortReason(signal!));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const { requestMs = 0, responseMs = 0, breaksMs, loses } = behavior;
      if (breaksMs !== undefined) {
        this.#clock.setTimer(breaksMs, () =>
          reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })),
        );
      }
      if (loses === 'request') return;
      this.#clock.setTimer(requestMs, () => {
        const response = this.#carryOut(request, behavior);
        if (loses === 'response') return;
        this.#clock.setTimer(responseMs, () => {
          signal?.removeEventListener('abort', onAbort);
          resolve(response);
        });
      });
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #carryOut({ method, body }: TransportRequest, { status, retryAfter }: CallBehavior): TransportResponse {
    if (status !== undefined) {
      return errorResponse(status, 'ForATest', retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    }
    if (this.uid === undefined) return errorResponse(404, 'NotFound');
    if (method === 'GET') return json(200, this.#pod());
    const { metadata, target } = JSON.parse(body as string) as { metadata: { uid: string }; target: { name: string } };
    const mayBeBound = metadata.uid === this.uid && this.nodeName === '' && !this.isLeaving;
    if (!mayBeBound) return errorResponse(409, 'Conflict');
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

function errorResponse(status: number, reason: string, headers = {}): TransportResponse {
  return { ...json(status, { kind: 'Status', code: status, reason, message: 'for a test' }), headers };
}

function json(status: number, body: object): TransportResponse {
  return { status, headers: {}, body: bytes(JSON.stringify(body)) };
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
