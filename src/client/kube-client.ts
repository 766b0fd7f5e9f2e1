import type { Clock } from '../base/clock.ts';
import { AbortListeners } from './abort-listeners.ts';
import {
  ApiError,
  ConnectionError,
  MalformedAnswerError,
  NotLeadingError,
  ServerError,
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
import { mostErrorBytes } from './transport.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { abortReason } from './wait.ts';
import type { WriteFence } from './write-fence.ts';

export interface KubeClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Absent: calls go as they come. */
  readonly gate?: CallGate;
  /** Absent: writes are always allowed. Those of lane lease are in any case. */
  readonly fence?: WriteFence;
  /** Deadline of a call from being sent to the end of its answer, in milliseconds; making a connection counts too. Default 30 s. */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
}

export interface CallOptions {
  /** Default: read for a GET, else condition. */
  readonly lane?: Lane;
  /**
   * Milliseconds from being sent to the end of the answer. Making a connection counts; waiting does not: for binds, for the rate limit, and
   * for a connection behind other calls, each of which has a deadline too.
   */
  readonly timeoutMs?: number;
  /**
   * What the time that binds may hold the call up counts from, as Clock.monotonic(): earlier than now for what has waited
   * with the caller. Default: now.
   */
  readonly heldSince?: number;
  /** A good answer says nothing that the caller needs: it is neither kept nor parsed, and the call resolves with undefined. */
  readonly discardAnswer?: boolean;
  /** Asked when the call is about to be written to its connection: what WithdrawnError it throws the call rejects with, and is not sent. */
  readonly mayBeSent?: (() => void) | undefined;
  /** It must not wait for a connection behind others, which may be many, or hang. */
  readonly isSpare?: boolean;
  /**
   * Ends the call, whether it waits or is under way; it then rejects with the signal's reason. SettledError: it does not matter what
   * becomes of it, so that it counts as answered.
   */
  readonly signal?: AbortSignal;
}

/** strategic-merge: built-in kinds only, custom resources answer 415. */
export type PatchKind = 'json' | 'merge' | 'strategic-merge';

/** A successful answer, read to its end. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One page of a list, as plain JSON that nobody has checked. */
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
  /** The items have nothing but metadata, and of that name, namespace, uid and resourceVersion; a server makes and sends them at a fraction of the cost. */
  readonly metadataOnly?: boolean;
}

type ReadBody<Body> = (body: AsyncIterable<Uint8Array>, mostBytes: number) => Promise<Body>;

/**
 * The longest good answers that are read, in bytes, by what is asked for: an object, of which etcd takes 1.5 MB and an API server 3 MB; a page
 * of a list; and a list in one piece, beyond which there can be no string.
 */
const mostBytesOf = { object: 16_777_216, page: 134_217_728, list: 536_870_000 };

interface Answer<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

type HeaderFields = TransportRequest['headers'];

/** The status of a server that gives up waiting for a request: it may come just when one is sent on a connection that was idle. */
const requestTimeout = 408;

const noOptions: CallOptions = {};

/**
 * Plain JSON calls to an API server, for the paths where the generated classes cost too much. Every failure is a typed
 * error of api-errors.ts; nothing is ever retried here, see retry.ts. Type arguments are the caller's word: answers are
 * parsed, not checked.
 */
export class KubeClient {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #gate: CallGate | undefined;
  readonly #fence: WriteFence | undefined;
  readonly #timeoutMs: number;
  /** Headers of a call without a body. */
  readonly #headers: HeaderFields;
  /** kind of body -> headers of a call that has one */
  readonly #headersOf: Readonly<Record<'object' | PatchKind, HeaderFields>>;
  readonly #aborts = new AbortListeners();

  constructor(options: KubeClientOptions) {
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#gate = options.gate;
    this.#fence = options.fence;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
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

  /** One page; the caller follows `continueToken`. */
  async list(path: string, options: ListOptions = {}): Promise<ListPage> {
    const query = new URLSearchParams();
    if (options.limit !== undefined) query.set('limit', String(options.limit));
    if (options.continueToken !== undefined) query.set('continue', options.continueToken);
    setSelectors(query, options);
    const mostBytes = options.limit === undefined ? mostBytesOf.list : mostBytesOf.page;
    const request = { method: 'GET', path: withQuery(path, query), headers: this.#headers, mostBytes } as const;
    const list = await (options.metadataOnly === true
      ? this.#metadataList(request, options)
      : this.#json<WireList>(request, options));
    if (!Array.isArray(list?.items)) {
      throw new MalformedAnswerError(`GET ${path} was answered with something that is not a list`);
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

  /** PUT: `body` is the whole object; with a metadata.resourceVersion that is not the latest it is rejected with ConflictError. */
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
   * Opens a watch; resolves when the server has accepted it. No deadline and no rate limit: the signal ends it. The
   * chunks are raw, and iterating them throws what the transport throws.
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
      if (response.status < 300) return response.body;
      throw await this.#errorOf(request, response);
    } catch (error) {
      throw this.#typed(request, error, signal);
    }
  }

  /** Any call, its answer as text. Rejects with a typed error for every status that is not 2xx. */
  async call(request: TransportRequest, options: CallOptions = {}): Promise<ApiAnswer> {
    const all = { ...request, headers: { ...this.#headers, ...request.headers } };
    const { status, headers, body: text } = await this.#call(all, options, readText);
    return { status, headers, text };
  }

  async #metadataList(request: TransportRequest, options: CallOptions): Promise<WireList> {
    const asking = { ...request, headers: { ...request.headers, accept: metadataListAccept } };
    const { headers, body } = await this.#call(asking, options, readBytes);
    try {
      if (isProtobuf(headers['content-type'])) return readMetadataList(body);
      return JSON.parse(body.toString('utf8')) as WireList;
    } catch (cause) {
      const what = `GET ${request.path} was answered with something that is not a list of metadata`;
      throw new MalformedAnswerError(what, { cause });
    }
  }

  async #json<T>(request: TransportRequest, options: CallOptions | undefined): Promise<T> {
    const answer = await this.#call(request, options ?? noOptions, readText);
    if (options?.discardAnswer === true) return undefined as T;
    try {
      return JSON.parse(answer.body) as T;
    } catch (cause) {
      const what = `${request.method} ${request.path} was answered ${answer.status} with a body that is not JSON`;
      throw new MalformedAnswerError(what, { cause });
    }
  }

  /** Waits for its turn, then sends; `request` has all its headers. */
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

  /** Sends and reads the answer to its end, within the deadline and until the caller's signal, or `cut`, aborts. */
  async #send<Body>(
    request: TransportRequest,
    { signal, timeoutMs = this.#timeoutMs, mayBeSent: isWanted, discardAnswer, isSpare }: CallOptions,
    read: ReadBody<Body>,
    mayBeSent?: () => void,
    cut?: AbortSignal,
  ): Promise<Answer<Body>> {
    const { mostBytes = mostBytesOf.object } = request;
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(signal!.reason);
    const onCut = (): void => controller.abort(cut!.reason);
    if (signal !== undefined) this.#aborts.add(signal, onAbort);
    if (cut !== undefined) this.#aborts.add(cut, onCut);
    const onTimeout = (): void => {
      const what = `${request.method} ${request.path} was not answered within ${timeoutMs} ms`;
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
      return { status: response.status, headers: response.headers, body: await read(response.body, mostBytes) };
    } catch (error) {
      throw this.#typed(request, error, controller.signal);
    } finally {
      timer.cancel();
      if (signal !== undefined) this.#aborts.delete(signal, onAbort);
      if (cut !== undefined) this.#aborts.delete(cut, onCut);
    }
  }

  /** What the answer means; a 408 is none: the server has closed the connection because nothing came, or not all of the request did. */
  async #errorOf({ method, path }: TransportRequest, response: TransportResponse): Promise<Error> {
    const text = await readBeginning(response.body, mostErrorBytes);
    const what = `${method} ${path}`;
    const error = errorFromResponse(what, response.status, response.headers, text, this.#clock.now());
    if (response.status !== requestTimeout) return error;
    return new ConnectionError(error.message, { ambiguous: method !== 'GET', cause: undefined });
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

/** The server has said what became of the call; an error of its own may say little about that. */
function isPlainAnswer(error: unknown): boolean {
  return error instanceof ApiError && !(error instanceof ServerError);
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
