import type { Clock } from '../base/clock.ts';
import { AbortListeners } from './abort-listeners.ts';
import {
  ApiError,
  ConnectionError,
  isPlainAnswer,
  MalformedAnswerError,
  NotLeadingError,
  SettledError,
  TimeoutError,
  WithdrawnError,
} from './api-errors.ts';
import type { CallGate } from './call-gate.ts';
import { connectionFailure } from './connection-failure.ts';
import { errorFromResponse } from './parse-status.ts';
import type { Lane } from './lane.ts';
import { isProtobuf, metadataListAccept, readMetadataList } from './metadata-list.ts';
import { readBeginning, readBytes, readText } from './read-text.ts';
import { maxErrorBytes } from './transport.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { abortReason } from './wait.ts';
import type { WriteFence } from './write-fence.ts';

/** Receives the outcome of every call. */
export interface CallObserver {
  /** The server responded with success. */
  answered(): void;
  /** The call failed with this typed error, or because it was aborted. */
  failed(error: Error): void;
}

export interface KubeClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Absent: calls start at once. */
  readonly gate?: CallGate;
  /** Absent: all writes are allowed. Writes of lane lease are always allowed. */
  readonly fence?: WriteFence;
  /**
   * Deadline of a call, in milliseconds, from sending the request to the end of the response. Includes the time to connect.
   * Default 30 s.
   */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
  readonly observer?: CallObserver;
}

export interface CallOptions {
  /** Default: read for a GET, otherwise condition. */
  readonly lane?: Lane;
  /**
   * Deadline in milliseconds, from sending the request to the end of the response. Includes the time to connect. Excludes the
   * wait for binds, for the rate limit, and for a connection behind other calls, each of which has a deadline too.
   */
  readonly timeoutMs?: number;
  /**
   * Start of the time that binds may hold the call, as Clock.monotonic(): earlier than now if the call already waited at its
   * caller. Default: now.
   */
  readonly heldSince?: number;
  /** Neither store nor parse a success response; the call resolves with undefined. */
  readonly discardAnswer?: boolean;
  /**
   * Called just before the request is written to its connection. If it throws a WithdrawnError, the request is not sent and the
   * call rejects with that error.
   */
  readonly mayBeSent?: (() => void) | undefined;
  /** The call must not wait for a connection behind other calls, which may be many or may hang. */
  readonly isSpare?: boolean;
  /**
   * Ends the call while it waits or is in flight; the call rejects with the signal's reason. With a SettledError the outcome no
   * longer matters, and the call counts as answered.
   */
  readonly signal?: AbortSignal;
}

/** strategic-merge: built-in kinds only; the API server rejects it with 415 for custom resources. */
export type PatchKind = 'json' | 'merge' | 'strategic-merge';

/** A success response, read to its end. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One page of a list, as unchecked JSON. */
export interface ListPage {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continueToken?: string;
}

export interface ListOptions extends CallOptions {
  readonly limit?: number;
  readonly continueToken?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Request only the name, namespace, uid and resourceVersion of each item, at a fraction of the server's cost. */
  readonly metadataOnly?: boolean;
}

type ReadBody<Body> = (body: AsyncIterable<Uint8Array>, maxBytes: number) => Promise<Body>;

/**
 * Maximum size of a success response, in bytes, by type of request. For an object, etcd accepts 1.5 MB and an API server 3 MB.
 * The other types are a page of a list and a whole list, whose limit is the maximum length of a string.
 */
const maxBodyBytes = { object: 16_777_216, page: 134_217_728, list: 536_870_000 };

interface Answer<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

type HeaderFields = TransportRequest['headers'];

/** Status of a server that stops waiting for a request. It may arrive just when the client sends one on an idle connection. */
const requestTimeout = 408;

const noOptions: CallOptions = {};

/**
 * Plain JSON calls to an API server, for paths where the generated classes cost too much. Every failure is a typed error of
 * api-errors.ts. It never retries; see retry.ts. Type arguments are unchecked: responses are parsed, not validated.
 */
export class KubeClient {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #gate: CallGate | undefined;
  readonly #fence: WriteFence | undefined;
  readonly #timeoutMs: number;
  readonly #observer: CallObserver | undefined;
  /** Headers of a call without a body. */
  readonly #headers: HeaderFields;
  /** type of body -> headers of a call with that body */
  readonly #headersOf: Readonly<Record<'object' | PatchKind, HeaderFields>>;
  readonly #aborts = new AbortListeners();

  constructor(options: KubeClientOptions) {
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#gate = options.gate;
    this.#fence = options.fence;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#observer = options.observer;
    this.#headers = { accept: 'application/json', 'user-agent': options.userAgent ?? 'tutti' };
    this.#headersOf = {
      object: this.#withContent('application/json'),
      json: this.#withContent('application/json-patch+json'),
      merge: this.#withContent('application/merge-patch+json'),
      'strategic-merge': this.#withContent('application/strategic-merge-patch+json'),
    };
  }

  get<T = unknown>(path: string, options?: CallOptions): Promise<T> {
    return this.#json<T>({ method: 'GET', path, headers: this.#headers }, options);
  }

  /** Returns one page; the caller follows `continueToken`. */
  async list(path: string, options: ListOptions = {}): Promise<ListPage> {
    const query = new URLSearchParams();
    if (options.limit !== undefined) query.set('limit', String(options.limit));
    if (options.continueToken !== undefined) query.set('continue', options.continueToken);
    setSelectors(query, options);
    const mostBytes = options.limit === undefined ? maxBodyBytes.list : maxBodyBytes.page;
    const request = { method: 'GET', path: withQuery(path, query), headers: this.#headers, mostBytes } as const;
    const list = await (options.metadataOnly === true
      ? this.#metadataList(request, options)
      : this.#json<WireList>(request, options));
    if (!Array.isArray(list?.items)) {
      throw new MalformedAnswerError(`GET ${path} returned something that is not a list`);
    }
    const token = list.metadata?.continue;
    return {
      items: list.items,
      resourceVersion: list.metadata?.resourceVersion ?? '',
      ...(token === undefined || token === '' ? {} : { continueToken: token }),
    };
  }

  create<T = unknown>(path: string, body: unknown, options?: CallOptions): Promise<T> {
    const headers = this.#headersOf.object;
    return this.#json<T>({ method: 'POST', path, headers, body: JSON.stringify(body) }, options);
  }

  /** Sends a PUT with the whole object. The server rejects a stale metadata.resourceVersion with ConflictError. */
  replace<T = unknown>(path: string, body: unknown, options?: CallOptions): Promise<T> {
    const headers = this.#headersOf.object;
    return this.#json<T>({ method: 'PUT', path, headers, body: JSON.stringify(body) }, options);
  }

  patch<T = unknown>(path: string, kind: PatchKind, body: unknown, options?: CallOptions): Promise<T> {
    const headers = this.#headersOf[kind];
    return this.#json<T>({ method: 'PATCH', path, headers, body: JSON.stringify(body) }, options);
  }

  /** `body`: DeleteOptions, such as preconditions. */
  delete<T = unknown>(path: string, body?: unknown, options?: CallOptions): Promise<T> {
    if (body === undefined) return this.#json<T>({ method: 'DELETE', path, headers: this.#headers }, options);
    const headers = this.#headersOf.object;
    return this.#json<T>({ method: 'DELETE', path, headers, body: JSON.stringify(body) }, options);
  }

  /**
   * Opens a watch; resolves when the server has accepted it. There is no deadline and no rate limit: the signal ends it. The
   * chunks are raw; iterating them throws the transport's errors.
   */
  async watch(path: string, query: URLSearchParams, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    query.set('watch', 'true');
    const request = {
      method: 'GET',
      path: withQuery(path, query),
      headers: this.#headers,
      connection: 'watch',
    } as const;
    try {
      const response = await this.#transport.send(request, signal);
      if (response.status < 300) {
        this.#observer?.answered();
        return response.body;
      }
      throw await this.#errorOf(request, response);
    } catch (error) {
      throw this.#failed(request, error, signal);
    }
  }

  /** Makes any call and returns the response as text. Rejects with a typed error for every status other than 2xx. */
  async call(request: TransportRequest, options: CallOptions = {}): Promise<ApiAnswer> {
    const all = { ...request, headers: { ...this.#headers, ...request.headers } };
    const { status, headers, body: text } = await this.#call(all, options, readText);
    return { status, headers, text };
  }

  async #metadataList(request: TransportRequest, options: CallOptions): Promise<WireList> {
    const metadataRequest = { ...request, headers: { ...request.headers, accept: metadataListAccept } };
    const { headers, body } = await this.#call(metadataRequest, options, readBytes);
    try {
      if (isProtobuf(headers['content-type'])) return readMetadataList(body);
      return JSON.parse(body.toString('utf8')) as WireList;
    } catch (cause) {
      const what = `GET ${request.path} returned something that is not a list of metadata`;
      throw new MalformedAnswerError(what, { cause });
    }
  }

  async #json<T>(request: TransportRequest, options: CallOptions | undefined): Promise<T> {
    const answer = await this.#call(request, options ?? noOptions, readText);
    if (options?.discardAnswer === true) return undefined as T;
    try {
      return JSON.parse(answer.body) as T;
    } catch (cause) {
      const what = `${request.method} ${request.path} returned ${answer.status} with a body that is not JSON`;
      throw new MalformedAnswerError(what, { cause });
    }
  }

  /** Waits at the gate, then sends. `request` has all its headers. */
  async #call<Body>(request: TransportRequest, options: CallOptions, read: ReadBody<Body>): Promise<Answer<Body>> {
    const lane = options.lane ?? (request.method === 'GET' ? 'read' : 'condition');
    const turn = this.#gate?.enter(lane, options);
    if (turn !== undefined) await turn;
    try {
      options.signal?.throwIfAborted();
      const isLease = lane === 'lease' && request.connection === undefined;
      if (isLease) return await this.#send({ ...request, connection: 'lease' }, options, read);
      const fence = request.method === 'GET' ? undefined : this.#fence;
      if (fence === undefined) return await this.#send(request, options, read);
      return await fence.pass(
        (mayBeSent, cut) => this.#send(request, options, read, mayBeSent, cut),
        (error) => lane === 'bind' && !isPlainAnswer(error) && !(error instanceof SettledError),
      );
    } finally {
      this.#gate?.leave(lane);
    }
  }

  /** Sends and reads the response to its end, until the deadline or until the caller's signal or `cut` aborts. */
  async #send<Body>(
    request: TransportRequest,
    { signal, timeoutMs = this.#timeoutMs, mayBeSent: isWanted, discardAnswer, isSpare }: CallOptions,
    read: ReadBody<Body>,
    mayBeSent?: () => void,
    cut?: AbortSignal,
  ): Promise<Answer<Body>> {
    const { mostBytes = maxBodyBytes.object } = request;
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(signal!.reason);
    const onCut = (): void => controller.abort(cut!.reason);
    if (signal !== undefined) this.#aborts.add(signal, onAbort);
    if (cut !== undefined) this.#aborts.add(cut, onCut);
    const onTimeout = (): void => {
      const what = `${request.method} ${request.path} got no response within ${timeoutMs} ms`;
      controller.abort(new TimeoutError(what, { ambiguous: request.method !== 'GET' }));
    };
    let timer = this.#clock.setTimer(timeoutMs, onTimeout);
    let isQueued = false;
    const sent: TransportRequest = {
      ...request,
      ...(discardAnswer === true && { discardsBody: true }),
      ...(isSpare === true && { connection: 'spare' }),
      mostBytes,
      onQueued: () => {
        isQueued = true;
        timer.cancel();
      },
      mayBeSent: () => {
        isWanted?.();
        mayBeSent?.();
        if (isQueued) timer = this.#clock.setTimer(timeoutMs, onTimeout);
        isQueued = false;
      },
    };
    try {
      const response = await this.#transport.send(sent, controller.signal);
      if (response.status >= 300) throw await this.#errorOf(request, response);
      this.#observer?.answered();
      return { status: response.status, headers: response.headers, body: await read(response.body, mostBytes) };
    } catch (error) {
      throw this.#failed(request, error, controller.signal);
    } finally {
      timer.cancel();
      if (signal !== undefined) this.#aborts.delete(signal, onAbort);
      if (cut !== undefined) this.#aborts.delete(cut, onCut);
    }
  }

  /**
   * Returns the typed error of a response. A 408 is a ConnectionError: the server closed the connection because the request did
   * not arrive, or not completely.
   */
  async #errorOf({ method, path }: TransportRequest, response: TransportResponse): Promise<Error> {
    const text = await readBeginning(response.body, maxErrorBytes);
    const what = `${method} ${path}`;
    const error = errorFromResponse(what, response.status, response.headers, text, this.#clock.now());
    if (response.status !== requestTimeout) return error;
    return new ConnectionError(error.message, { ambiguous: method !== 'GET', cause: undefined });
  }

  #failed(request: TransportRequest, error: unknown, signal: AbortSignal): Error {
    const typed = this.#typed(request, error, signal);
    this.#observer?.failed(typed);
    return typed;
  }

  #typed(request: TransportRequest, error: unknown, signal: AbortSignal): Error {
    const isTyped =
      error instanceof ApiError ||
      error instanceof ConnectionError ||
      error instanceof MalformedAnswerError ||
      error instanceof NotLeadingError ||
      error instanceof WithdrawnError;
    if (isTyped) return error;
    if (signal.aborted) return abortReason(signal);
    return connectionFailure(request.method, request.path, error);
  }

  #withContent(type: string): HeaderFields {
    return { ...this.#headers, 'content-type': type };
  }
}

interface WireList {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: unknown;
}

function setSelectors(query: URLSearchParams, options: ListOptions): void {
  if (options.labelSelector !== undefined) query.set('labelSelector', options.labelSelector);
  if (options.fieldSelector !== undefined) query.set('fieldSelector', options.fieldSelector);
}

function withQuery(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
