import { readText } from '../../../src/client/read-text.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/client/transport.ts';
import type { JsonObject, JsonValue } from '../../../src/plane/apiserver/json.ts';
import { LineSplitter } from '../../../src/informer/line-splitter.ts';
import { poll } from '../../planes/poll.ts';
import type { Exchange } from './exchange.ts';
import { Normalizer } from './normalizer.ts';

export interface Ask {
  readonly body?: unknown;
  /** Default: application/json, or merge patch for a PATCH. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Selects the compared part of the response; default: all of it. For responses that list everything on a server. */
  readonly view?: (answer: any) => unknown;
}

export interface Answer {
  readonly status: number;
  /** The response body before normalization; undefined when it is not JSON. */
  readonly body: any;
}

/** Group and version of the resources that cases name only by their plural; others are in the core group. */
const prefixes: Readonly<Record<string, string>> = {
  podgroups: '/apis/scheduling.x-k8s.io/v1alpha1',
  leases: '/apis/coordination.k8s.io/v1',
  deployments: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  networkpolicies: '/apis/networking.k8s.io/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  rolebindings: '/apis/rbac.authorization.k8s.io/v1',
  roles: '/apis/rbac.authorization.k8s.io/v1',
};
/** Silence after which a watch counts as complete. */
const silenceMs = 4_000;
/** Warnings that only the embedded plane sends: it does not act on an object or a field. */
const embeddedWarning = /(?:, )?299 - "[^"]*(?:the embedded plane|simulated pods)[^"]*"/g;
const comparedHeaders = ['content-type', 'warning', 'retry-after', 'allow'];

/**
 * The requests of one case and their responses. A path that does not begin with a slash is relative to the case's namespace:
 * `configmaps/a`.
 */
export class Conversation {
  readonly namespace: string;
  readonly exchanges: Exchange[] = [];
  readonly #transport: Transport;
  readonly #normalizer: Normalizer;

  constructor(transport: Transport, namespace: string) {
    this.#transport = transport;
    this.namespace = namespace;
    this.#normalizer = new Normalizer(namespace);
  }

  get(path: string, ask?: Ask): Promise<Answer> {
    return this.send('GET', path, ask);
  }

  create(path: string, body: unknown, ask?: Ask): Promise<Answer> {
    return this.send('POST', path, { ...ask, body });
  }

  replace(path: string, body: unknown, ask?: Ask): Promise<Answer> {
    return this.send('PUT', path, { ...ask, body });
  }

  merge(path: string, body: unknown, ask?: Ask): Promise<Answer> {
    return this.send('PATCH', path, { contentType: 'application/merge-patch+json', ...ask, body });
  }

  strategicMerge(path: string, body: unknown, ask?: Ask): Promise<Answer> {
    return this.send('PATCH', path, { contentType: 'application/strategic-merge-patch+json', ...ask, body });
  }

  jsonPatch(path: string, body: unknown, ask?: Ask): Promise<Answer> {
    return this.send('PATCH', path, { contentType: 'application/json-patch+json', ...ask, body });
  }

  delete(path: string, body?: unknown, ask?: Ask): Promise<Answer> {
    return this.send('DELETE', path, { ...ask, body });
  }

  /** Sends a request, records the response and returns it unchanged. */
  async send(method: TransportRequest['method'], path: string, ask: Ask = {}): Promise<Answer> {
    const response = await this.#transport.send(this.#request(method, path, ask));
    const text = await readText(response.body);
    const body = parse(text);
    const shown = body === undefined ? text : viewed(body, ask);
    this.#record(method, path, ask, response, shown as JsonValue);
    return { status: response.status, body };
  }

  /** Sends a request that only prepares the case: it is not recorded, and it must succeed. */
  async given(method: TransportRequest['method'], path: string, ask: Ask = {}): Promise<any> {
    const response = await this.#transport.send(this.#request(method, path, ask));
    const text = await readText(response.body);
    if (response.status >= 300) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return parse(text);
  }

  givenCreated(path: string, body: unknown): Promise<any> {
    return this.given('POST', path, { body });
  }

  /** Waits until a GET returns `status`, for changes that a server makes with a delay. */
  until(path: string, status = 200): Promise<void> {
    return this.#until('GET', path, {}, status);
  }

  /** Waits until the server would create the object: admission reads other objects from caches, which may be late. */
  untilCreatable(path: string, body: unknown): Promise<void> {
    return this.#until('POST', `${path}?dryRun=All`, { body }, 201);
  }

  async #until(method: TransportRequest['method'], path: string, ask: Ask, status: number): Promise<void> {
    await poll(async () => {
      const response = await this.#transport.send(this.#request(method, path, ask));
      await readText(response.body);
      return response.status === status ? undefined : `it returns ${response.status}`;
    }, `${method} ${path} returns ${status}`);
  }

  /** Watches until `count` changes have arrived, the server ends the watch, or no more arrive. Calls `act` once the watch is open. */
  async watch(path: string, count: number, ask: Ask & { readonly act?: () => Promise<void> } = {}): Promise<Answer> {
    const controller = new AbortController();
    const response = await this.#transport.send(
      { ...this.#request('GET', path, ask), connection: 'watch' },
      controller.signal,
    );
    if (response.status >= 300) {
      const body = parse(await readText(response.body));
      this.#record('GET', path, ask, response, body as JsonValue);
      return { status: response.status, body };
    }
    await ask.act?.();
    const changes: JsonObject[] = [];
    let timer = setTimeout(() => controller.abort(), silenceMs);
    const lines = new LineSplitter();
    try {
      for await (const chunk of response.body) {
        clearTimeout(timer);
        lines.push(chunk, (line) => changes.push(JSON.parse(line) as JsonObject));
        if (changes.length >= count) break;
        timer = setTimeout(() => controller.abort(), silenceMs);
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
    // More changes than requested may arrive at once.
    const expected = changes.slice(0, count);
    this.#record('GET', path, ask, response, viewed(expected, ask) as JsonValue);
    return { status: response.status, body: expected };
  }

  #request(method: TransportRequest['method'], path: string, ask: Ask): TransportRequest {
    const { body, accept = 'application/json' } = ask;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return {
      method,
      path: this.#absolute(path),
      headers: {
        accept,
        'user-agent': 'tutti-conformance',
        ...(text !== undefined && { 'content-type': ask.contentType ?? 'application/json' }),
      },
      ...(text !== undefined && { body: text }),
    };
  }

  #absolute(path: string): string {
    if (path.startsWith('/')) return path;
    const plural = /^[a-z]+/.exec(path)?.[0] ?? '';
    return `${prefixes[plural] ?? '/api/v1'}/namespaces/${this.namespace}/${path}`;
  }

  #record(method: string, path: string, ask: Ask, response: TransportResponse, answer: JsonValue): void {
    const media = [ask.contentType, ask.accept && `accept ${ask.accept}`].filter(Boolean).join(', ');
    const headers: Record<string, string> = {};
    for (const name of comparedHeaders) {
      const value = response.headers[name]?.replaceAll(embeddedWarning, '');
      if (value !== undefined && value !== '') headers[name] = value;
    }
    this.exchanges.push({
      request: this.#normalizer.text(`${method} ${path}${media === '' ? '' : ` (${media})`}`),
      status: response.status,
      headers: this.#normalizer.value(headers) as Record<string, string>,
      answer: this.#normalizer.value(answer),
    });
  }
}

/** Returns the view of a response, or the whole response if it does not have the shape that the view expects. */
function viewed(answer: unknown, { view }: Ask): unknown {
  if (view === undefined) return answer;
  try {
    return view(answer) ?? null;
  } catch {
    return answer;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
