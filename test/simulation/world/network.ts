import { Buffer } from 'node:buffer';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/client/transport.ts';
import type { NetworkPlan, WatchedResource } from '../scenario.ts';
import { classOf, podIn, watchedResource } from './call.ts';
import type { Call } from './call.ts';
import type { Faults } from './faults.ts';
import { share } from './mix.ts';
import { bytesOf } from './plane.ts';
import type { Plane } from './plane.ts';
import type { SimulatedProcess } from './process.ts';
import type { Timeline } from './timeline.ts';
import { WatchRelay } from './watch-relay.ts';

export interface NetworkOptions {
  readonly plan: NetworkPlan;
  readonly seed: number;
  readonly timeline: Timeline;
  readonly plane: Plane;
  readonly faults: Faults;
  readonly observer: CallObserver;
  /** Running time after which the snapshot of the process includes everything delivered to it, at the latest. */
  readonly heededAfterMs: number;
  /** Bindings to this node are rejected. */
  readonly forbiddenNode?: string | undefined;
  /** Bindings of these pods are rejected. */
  readonly forbiddenPods?: readonly string[] | undefined;
}

/** Gets each call in the turn in which it happens. */
export interface CallObserver {
  /** The call is on the wire; stopping its sender cannot stop the call. */
  sent(call: Call): void;
  /** The store holds the result of the call. */
  done(call: Call): void;
}

const never = new Promise<never>(() => undefined);

/** The network between one process and the plane, with latency and faults. */
export class Network implements Transport {
  readonly #options: NetworkOptions;
  readonly #process: SimulatedProcess;
  readonly #delivered: Record<WatchedResource, number> = {
    pods: 0,
    nodes: 0,
    podgroups: 0,
    nativepodgroups: 0,
  };
  /** Versions delivered; the latest last. */
  readonly #received: Readonly<Record<WatchedResource, number>>[] = [];
  /** The running time of the process when each of them was delivered. */
  readonly #receivedAt: number[] = [];
  /** Calls whose senders wait for an answer. */
  readonly #open = new Set<Call>();
  /** Callbacks that end the open watches. */
  readonly #watches = new Set<() => void>();
  #sequence = 0;

  constructor(process: SimulatedProcess, options: NetworkOptions) {
    this.#process = process;
    this.#options = options;
    process.onEnd(() => {
      for (const call of this.#open) call.isGivenUp = true;
      for (const hangUp of this.#watches) hangUp();
    });
  }

  send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    if (!this.#process.isAlive) return never;
    return request.connection === 'watch' ? this.#watch(request, signal) : this.#call(request, signal);
  }

  async close(): Promise<void> {
    // Never called: processes end by crashing.
  }

  #call(request: TransportRequest, signal: AbortSignal | undefined): Promise<TransportResponse> {
    const { timeline, faults } = this.#options;
    const process = this.#process;
    const of = classOf(request);
    const isForbidden = of === 'bind' && this.#isForbidden(request);
    const struck = isForbidden
      ? ({ kind: 'reject-403', ms: 0 } as const)
      : faults.ofCall(process.role, of, podIn(request.path), timeline.now);
    if (isForbidden) faults.note('binding-forbidden');
    const begun = { at: timeline.now, seen: { ...this.#delivered } };
    const write = (): Promise<TransportResponse> =>
      this.#write(request, of, begun, signal, struck?.kind, struck?.ms ?? 0);
    switch (struck?.kind) {
      case 'crash-before':
        process.crash();
        return never;
      case 'pause-before':
        process.pause(struck.ms);
        return this.#later(0, signal).then(write);
      case 'waits-for-connection':
        return this.#later(struck.ms, signal).then(write);
      default:
        return write();
    }
  }

  #isForbidden({ body }: TransportRequest): boolean {
    const { forbiddenNode, forbiddenPods } = this.#options;
    if (forbiddenNode === undefined && forbiddenPods === undefined) return false;
    const { metadata, target } = JSON.parse(String(body));
    return target.name === forbiddenNode || forbiddenPods?.includes(metadata.name) === true;
  }

  /** Resolves after the time if the process still runs; rejects if the signal aborts first. */
  #later(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#options.timeline.after(ms, () => this.#process.deliver(() => resolve()));
      onAbort(signal, (reason) => {
        timer.cancel();
        reject(reason);
      });
    });
  }

  async #write(
    request: TransportRequest,
    of: Call['of'],
    begun: Call['begun'],
    signal: AbortSignal | undefined,
    fault: string | undefined,
    ms: number,
  ): Promise<TransportResponse> {
    signal?.throwIfAborted();
    const { timeline, plane, observer } = this.#options;
    const process = this.#process;
    request.mayBeSent?.();
    const call: Call = {
      process,
      of,
      request,
      sentAt: timeline.now,
      begun,
      seen: { ...this.#delivered },
      views: this.#views(this.#options.heededAfterMs),
      viewsOf: (lastMs) => this.#views(this.#options.heededAfterMs + lastMs),
      received: this.#received,
      isGivenUp: false,
      doneAt: undefined,
      status: undefined,
    };
    observer.sent(call);
    const thereMs = this.#latency();
    const backMs = this.#latency();
    if (fault === 'crash-after') process.crash();
    if (process.isAlive) this.#open.add(call);
    else call.isGivenUp = true;
    return new Promise((resolve, reject) => {
      const end = (): void => void this.#open.delete(call);
      onAbort(signal, (reason) => {
        end();
        call.isGivenUp = true;
        reject(reason);
      });
      const answer = (response: TransportResponse): void =>
        process.deliver(() => {
          end();
          resolve(response);
        });
      const lose = (inMs: number): void => {
        timeline.after(inMs, () => {
          end();
          call.isGivenUp = true;
          process.deliver(() => reject(new Error('socket hang up')));
        });
      };
      const carryOut = async (then: (response: TransportResponse, bytes: Buffer) => void): Promise<void> => {
        const response = await plane.carryOut(this.#signed(request));
        call.doneAt = timeline.now;
        call.status = response.status;
        observer.done(call);
        then(response, await bytesOf(response));
      };
      const carryOutIn = (inMs: number, then: Parameters<typeof carryOut>[0] = () => undefined): void => {
        timeline.after(inMs, () => void carryOut(then));
      };
      const answerIn = (inMs: number) => (response: TransportResponse, bytes: Buffer) => {
        timeline.after(inMs, () => {
          process.deliver(() => this.#noteList(request, response, bytes));
          answer({ ...response, body: once(bytes) });
        });
      };
      switch (fault) {
        case 'reject-403':
        case 'reject-409':
        case 'reject-429':
        case 'reject-500':
        case 'reject-503':
          call.status = Number(fault.slice(-3));
          timeline.after(thereMs + backMs, () => answer(rejection(call.status!, ms)));
          return;
        case 'done-500':
        case 'done-503':
          carryOutIn(thereMs, () => timeline.after(backMs, () => answer(rejection(Number(fault.slice(-3)), 0))));
          return;
        case 'lost-request':
          lose(thereMs + backMs);
          return;
        case 'lost-answer':
          carryOutIn(thereMs);
          lose(thereMs + backMs);
          return;
        case 'silent-request':
          return;
        case 'silent-answer':
          carryOutIn(thereMs);
          return;
        case 'slow-request':
          carryOutIn(thereMs + ms, answerIn(backMs));
          return;
        case 'slow-answer':
          carryOutIn(thereMs, answerIn(backMs + ms));
          return;
        case 'late-request':
          // Later than any sender waits.
          carryOutIn(thereMs + 11_000 + ms);
          return;
        default:
          carryOutIn(thereMs, answerIn(backMs));
      }
    });
  }

  async #watch(request: TransportRequest, signal: AbortSignal | undefined): Promise<TransportResponse> {
    const { timeline, plane, faults, plan } = this.#options;
    const process = this.#process;
    const resource = watchedResource(request.path);
    await this.#later(this.#latency(), signal);
    const rejected = resource && faults.ofOpening(process, resource, timeline.now);
    if (rejected !== undefined) {
      await this.#later(this.#latency(), signal);
      return rejection(rejected.kind === 'reject-open-410' ? 410 : 500, 0);
    }
    const server = new AbortController();
    const hangUp = (): void => {
      this.#watches.delete(hangUp);
      server.abort(new Error('connection reset by peer'));
    };
    this.#watches.add(hangUp);
    const response = await plane.carryOut(this.#signed(request), server.signal);
    await this.#later(this.#latency(), signal);
    if (response.status >= 300) {
      hangUp();
      return { ...response, body: once(await bytesOf(response)) };
    }
    const lag = share(this.#options.seed, 5, ++this.#sequence) * plan.watchLagMs;
    const relay = new WatchRelay({
      timeline,
      process,
      source: response.body,
      lagMs: () => lag + this.#latency(),
      bookmarks: plan.bookmarks,
      faultOf: () => (resource === undefined ? undefined : faults.ofLine(process, resource, timeline.now)),
      delivered: (version) => {
        if (resource !== undefined) this.#deliver(resource, version);
      },
      hangUp,
      signal,
    });
    return { ...response, body: relay };
  }

  /** A list of whole objects brings the process to its version. */
  #noteList({ method, path, headers }: TransportRequest, { status }: TransportResponse, bytes: Buffer): void {
    const resource = method === 'GET' && status < 300 ? watchedResource(path) : undefined;
    const isWhole = !/[?&]limit=1(&|$)/.test(path) && headers.accept === 'application/json';
    if (resource === undefined || !isWhole) return;
    const version = /"metadata":\{[^}]*"resourceVersion":"(\d+)"/.exec(bytes.toString('utf8'))?.[1];
    this.#deliver(resource, Number(version ?? 0));
  }

  #deliver(resource: WatchedResource, version: number): void {
    if (version <= this.#delivered[resource]) return;
    this.#delivered[resource] = version;
    this.#received.push({ ...this.#delivered });
    this.#receivedAt.push(this.#process.ranMs);
  }

  /** Returns all versions that the snapshot of the process may have now, or has had within that running time, latest first. */
  #views(heededAfterMs: number): Readonly<Record<WatchedResource, number>>[] {
    const heeded = this.#process.ranMs - heededAfterMs;
    const since = heededAfterMs === 0 ? this.#received.length : this.#receivedAt.findLastIndex((at) => at <= heeded);
    return [{ ...this.#delivered }, ...this.#received.slice(Math.max(0, since)).reverse()];
  }

  #signed(request: TransportRequest): TransportRequest {
    return { ...request, headers: { ...request.headers, 'user-agent': this.#process.name } };
  }

  #latency(): number {
    const { plan, seed } = this.#options;
    return plan.latencyMs * (0.5 + share(seed, 7, this.#process.name.length, ++this.#sequence) / 2);
  }
}

function onAbort(signal: AbortSignal | undefined, notify: (reason: Error) => void): void {
  if (signal === undefined) return;
  signal.addEventListener('abort', () => notify(signal.reason as Error), { once: true });
}

/** Returns a Status response, as API servers and proxies in front of them send it. */
function rejection(code: number, retryAfterMs: number): TransportResponse {
  const reason = reasons[code] ?? '';
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `injected ${code}`,
    reason,
    code,
  };
  return {
    status: code,
    headers: {
      'content-type': 'application/json',
      ...(code === 429 && { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
    },
    body: once(Buffer.from(JSON.stringify(status))),
  };
}

const reasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
