import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import { authenticate } from './access/authenticate.ts';
import { BackgroundWork } from './background-work.ts';
import type { BackgroundProblem } from './background-work.ts';
import { startDefinitionRegistrar } from './background/definition-registrar.ts';
import { startEventExpiry } from './background/event-expiry.ts';
import { startGarbageCollector } from './background/garbage-collector.ts';
import { startContentCleaners } from './background/content-cleaner.ts';
import { ApiError, internalError, requestTooLarge } from './http/api-error.ts';
import { jsonResponse } from './http/response.ts';
import type { JsonObject } from './json.ts';
import { builtInKinds } from './kinds/built-in-kinds.ts';
import { builtInNamespaces, namespaces } from './kinds/namespaces.ts';
import { OwnerIndex } from './kinds/owner-index.ts';
import { nativeGangTypes } from './kinds/pod-groups/native-gangs.ts';
import type { NativeGangs } from './kinds/pod-groups/native-gangs.ts';
import { podIndexes, pods } from './kinds/pods/pods.ts';
import { builtInPriorityClasses, priorityClasses } from './kinds/priority-classes.ts';
import { ResourceRegistry } from './kinds/resource-registry.ts';
import { apiVersionOf } from './kinds/resource-type.ts';
import type { ResourceType } from './kinds/resource-type.ts';
import { route } from './router.ts';
import { StepLimitError } from './schema/step-limit.ts';
import { Store } from './store/store.ts';
import type { StoreListener } from './store/store.ts';
import type { ApiContext } from './verbs/api-context.ts';
import { createObject } from './verbs/create.ts';
import { WatchStreams } from './verbs/watch-streams.ts';

/**
 * Intercepts requests to inject faults. If it returns a response, the client gets that response. If it returns undefined, the
 * server handles the request. If it throws, the connection is lost. `proceed` handles the request as usual, for faults after the
 * write (a lost response).
 */
export type Intercept = (
  request: TransportRequest,
  proceed: () => TransportResponse,
) => TransportResponse | undefined | Promise<TransportResponse | undefined>;

export interface EmbeddedApiServerOptions {
  readonly clock: Clock;
  /** Source of UIDs and generated names. They are public, so it need not be cryptographically secure. */
  readonly random: Random;
  /** Bearer token of the administrator, the only user. Default: requests need no token. */
  readonly administratorToken?: string;
  readonly intercept?: Intercept;
  /** Called synchronously after each write to any collection, including the writes at startup. */
  readonly onChange?: StoreListener;
  /** Called for each background task that failed. The server and its other tasks continue. */
  readonly onProblem?: (problem: BackgroundProblem) => void;
  /** Number of changes of each resource that the server keeps for watches to replay. Default: 10,000. */
  readonly historyLimit?: number;
  /** The version of Kubernetes' own PodGroups, `scheduling.k8s.io`. `serveNativeGangs` changes it. Default: v1beta1. */
  readonly nativeGangs?: NativeGangs;
  /** Keeps the fields of these PodGroups whose feature gates Kubernetes has off, instead of dropping them. Default: false. */
  readonly nativeGangAlphaFields?: boolean;
}

const defaultHistoryLimit = 10_000;

/**
 * A small in-memory Kubernetes API server that kubectl and client libraries use unmodified. `handle` serves all requests;
 * listenHttp and InProcessTransport call it. The server handles each request in one synchronous step, so writes never interleave.
 * Requests that it does not support return an error. It has one user, the administrator, and no other access control.
 */
export class EmbeddedApiServer {
  readonly #api: ApiContext;
  readonly #administratorToken: string | undefined;
  readonly #intercept: Intercept | undefined;
  readonly #hasAlphaFields: boolean;
  #nativeGangTypes: readonly ResourceType[];
  readonly #stopExpiry: () => void;
  #closed = false;

  constructor(options: EmbeddedApiServerOptions) {
    const { clock, random } = options;
    const store = new Store(options.historyLimit ?? defaultHistoryLimit);
    if (options.onChange !== undefined) store.subscribe(options.onChange);
    store.collection(pods.storage, podIndexes);
    this.#hasAlphaFields = options.nativeGangAlphaFields ?? false;
    this.#nativeGangTypes = nativeGangTypes(options.nativeGangs ?? 'v1beta1', this.#hasAlphaFields);
    const kinds = [...builtInKinds, ...this.#nativeGangTypes];
    for (const type of kinds) store.collection(type.storage);
    this.#api = {
      store,
      clock,
      random,
      background: new BackgroundWork(clock, options.onProblem ?? (() => undefined)),
      registry: new ResourceRegistry(kinds),
      watches: new WatchStreams(),
      owners: new OwnerIndex(store),
      nowMs: () => clock.now(),
      now: () => toKubernetesTime(clock.now()),
    };
    this.#administratorToken = options.administratorToken;
    this.#intercept = options.intercept;
    startGarbageCollector(this.#api);
    startContentCleaners(this.#api);
    startDefinitionRegistrar(this.#api);
    this.#stopExpiry = startEventExpiry(this.#api);
    this.#createBuiltIns();
  }

  /** The resource version of the latest write. */
  get resourceVersion(): number {
    return this.#api.store.resourceVersion;
  }

  /** Number of open watches. */
  get openWatches(): number {
    return this.#api.watches.size;
  }

  /**
   * Handles one request. The body of a watch continues until the watch ends, the client calls `return`, the signal aborts or
   * the server closes. Rejects only as a transport does: aborted, closed, or a fault that loses the connection.
   */
  async handle(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    this.#throwIfClosed(signal);
    const proceed = (): TransportResponse => this.#respond(request, signal);
    const injected = await this.#intercept?.(request, proceed);
    this.#throwIfClosed(signal);
    return injected ?? proceed();
  }

  /** Returns whether these headers authenticate the administrator. The listener drops the body of any other request. */
  isAuthenticated(headers: TransportRequest['headers']): boolean {
    try {
      return authenticate({ headers }, this.#administratorToken);
    } catch {
      return false;
    }
  }

  /** Makes every resource version before the current one too old to watch from, as a compaction does. For tests of status 410. */
  forgetHistory(): void {
    for (const collection of this.#api.store.collections()) collection.forgetHistory(this.resourceVersion);
  }

  /** Ends all open watches, or the watches of one resource ("pods", "podgroups.scheduling.x-k8s.io"). A server may do so at any time. */
  endWatches(resource?: string): void {
    this.#api.watches.end(resource);
  }

  /**
   * Serves Kubernetes' own PodGroups at another version from now on, or not at all, as kube-apiserver does after a restart: their watches end,
   * and none can continue from an earlier resource version. The server keeps the objects, and shows them when it serves their version again.
   */
  serveNativeGangs(version: NativeGangs): void {
    const { registry, store, watches } = this.#api;
    for (const { storage } of this.#nativeGangTypes) {
      registry.replace(storage, []);
      watches.end(storage);
    }
    this.#nativeGangTypes = nativeGangTypes(version, this.#hasAlphaFields);
    store.skipResourceVersion();
    for (const type of this.#nativeGangTypes) {
      registry.replace(type.storage, [type]);
      store.collection(type.storage).forgetHistory(store.resourceVersion);
    }
  }

  /** Ends all watches and rejects further requests. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#stopExpiry();
    this.#api.watches.end();
  }

  #throwIfClosed(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new Error('the embedded API server is closed');
  }

  #respond(request: TransportRequest, signal: AbortSignal | undefined): TransportResponse {
    try {
      return route({ api: this.#api, administratorToken: this.#administratorToken }, request, signal);
    } catch (error) {
      const known = apiErrorOf(error);
      return jsonResponse(known.toStatus(), { status: known.code, headers: known.headers });
    }
  }

  #createBuiltIns(): void {
    const create = (type: ResourceType, object: JsonObject): void => {
      const typed = { apiVersion: apiVersionOf(type), kind: type.kind, ...object };
      createObject(this.#api, type, undefined, typed, false);
    };
    for (const name of builtInNamespaces) create(namespaces, { metadata: { name } });
    for (const [name, value] of builtInPriorityClasses) {
      const description = `Used for system critical pods: ${name}.`;
      create(priorityClasses, { metadata: { name }, value, description });
    }
  }
}

function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StepLimitError) return requestTooLarge(error.message);
  return internalError((error as Error).stack ?? String(error));
}
