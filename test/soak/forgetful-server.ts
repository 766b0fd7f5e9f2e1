import { Buffer } from 'node:buffer';
import type { Transport, TransportRequest, TransportResponse } from '../../src/client/transport.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';

export interface StoredObject {
  readonly kind: string;
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: object;
  readonly status?: object;
}

const collections: Readonly<Record<string, string>> = {
  '/api/v1/nodes': 'Node',
  '/api/v1/pods': 'Pod',
  [podGroupPath()]: 'PodGroup',
};

/**
 * A minimal API server for a scheduler, in memory. It stores only current objects: no history and no Events. All other memory in the
 * process is the scheduler's.
 */
export class ForgetfulServer implements Transport {
  /** kind/namespace/name -> object */
  readonly #objects = new Map<string, StoredObject>();
  readonly #watches = new Set<Watch>();
  /** kind -> version of its latest change */
  readonly #latest = new Map<string, number>();
  #version = 1;
  /** Number of Bindings carried out. */
  bindings = 0;

  put(object: StoredObject): void {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    const uid = before?.metadata.uid ?? `uid-${this.#version}`;
    const metadata = { creationTimestamp: '2026-01-01T00:00:00Z', ...object.metadata, uid };
    const stored = { ...object, metadata: { ...metadata, resourceVersion: String(++this.#version) } };
    this.#objects.set(key, stored);
    this.#tell(before === undefined ? 'ADDED' : 'MODIFIED', stored);
  }

  delete(kind: string, namespace: string | undefined, name: string): void {
    const key = `${kind}/${namespace ?? ''}/${name}`;
    const object = this.#objects.get(key);
    if (object === undefined) return;
    this.#objects.delete(key);
    this.#tell('DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } });
  }

  get(kind: string, namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#objects.get(`${kind}/${namespace ?? ''}/${name}`);
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Sends the bookmarks that API servers send every minute. */
  bookmark(): void {
    for (const watch of this.#watches) {
      watch.push({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(this.#version) } } });
    }
  }

  send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    request.mayBeSent?.();
    const url = new URL(request.path, 'http://server');
    if (request.method !== 'GET') return Promise.resolve(this.#write(request, url.pathname));
    const kind = collections[url.pathname] ?? 'none';
    if (url.searchParams.get('watch') === 'true')
      return Promise.resolve(this.#watch(kind, Number(url.searchParams.get('resourceVersion')), signal));
    const items = [...this.#objects.values()].filter((object) => object.kind === kind);
    return Promise.resolve(answer(200, { metadata: { resourceVersion: String(this.#version) }, items }));
  }

  close(): Promise<void> {
    for (const watch of this.#watches) watch.end();
    return Promise.resolve();
  }

  #write({ method, body }: TransportRequest, path: string): TransportResponse {
    const match = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/(binding|status)$/.exec(path);
    if (match === null) return answer(201, {}); // an Event: no test reads it
    const [, namespace = '', name = '', what] = match.map((part) => decodeURIComponent(part));
    const pod = this.get('Pod', namespace, name);
    if (pod === undefined) return answer(404, { kind: 'Status', code: 404, reason: 'NotFound' });
    const sent = JSON.parse(String(body)) as {
      readonly target?: { readonly name: string };
      readonly status?: object;
    };
    if (method === 'POST' && what === 'binding') {
      this.bindings++;
      this.put({ ...pod, spec: { ...pod.spec, nodeName: sent.target!.name }, status: { phase: 'Running' } });
    } else {
      this.put({ ...pod, status: { ...pod.status, ...sent.status } });
    }
    return answer(200, this.get('Pod', namespace, name)!);
  }

  #watch(kind: string, from: number, signal: AbortSignal | undefined): TransportResponse {
    const watch = new Watch(kind);
    if (from < (this.#latest.get(kind) ?? 0)) {
      watch.push({
        type: 'ERROR',
        object: { kind: 'Status', code: 410, reason: 'Expired', message: 'no history' },
      });
    }
    this.#watches.add(watch);
    watch.onEnd = () => this.#watches.delete(watch);
    signal?.addEventListener('abort', () => watch.end(), { once: true });
    return { status: 200, headers: {}, body: watch };
  }

  #tell(type: string, object: StoredObject): void {
    this.#latest.set(object.kind, this.#version);
    for (const watch of this.#watches) if (watch.kind === object.kind) watch.push({ type, object });
  }
}

/** The body of one watch. */
class Watch implements AsyncIterableIterator<Uint8Array> {
  readonly kind: string;
  onEnd: () => void = () => undefined;
  #lines: Buffer[] = [];
  #wake: (() => void) | undefined;
  #hasEnded = false;

  constructor(kind: string) {
    this.kind = kind;
  }

  push(event: object): void {
    this.#lines.push(Buffer.from(`${JSON.stringify(event)}\n`));
    this.#wake?.();
  }

  end(): void {
    this.#hasEnded = true;
    this.onEnd();
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#lines.length === 0 && !this.#hasEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#hasEnded) return { done: true, value: undefined };
    const value = Buffer.concat(this.#lines);
    this.#lines = [];
    return { done: false, value };
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

function keyOf({ kind, metadata }: StoredObject): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}

function answer(status: number, body: object): TransportResponse {
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      yield bytes;
    })(),
  };
}
