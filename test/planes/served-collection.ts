import type { ServerResponse } from 'node:http';
import { answerJson, answerStatus } from './misbehaving-server.ts';
import type { Behaviour } from './misbehaving-server.ts';

export interface ServedObject {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly value: number;
}

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ServedObject;
}

interface OpenWatch {
  readonly response: ServerResponse;
  sent: number;
}

/** How open watches end. */
export type CutKind = 'clean' | 'reset' | 'mid-line';

const expired = {
  type: 'ERROR',
  object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' },
};

/** One collection with list (paged), watch and history, served by a MisbehavingServer through `behaviour`. */
export class ServedCollection {
  /** name -> object */
  readonly objects = new Map<string, ServedObject>();
  #history: Change[] = [];
  #version = 1;
  /** Watches from before this version get 410. */
  #compactedTo = 0;
  #uids = 0;
  readonly #watches = new Set<OpenWatch>();
  /** Whether changes reach open watches at once. */
  isDelivering = true;

  /** Adds an object, or changes it if it exists. */
  put(name: string, value: number): void {
    const existing = this.objects.get(name);
    const uid = existing?.metadata.uid ?? `uid-${++this.#uids}`;
    const object = this.#object(name, uid, value);
    this.objects.set(name, object);
    this.#commit(existing === undefined ? 'ADDED' : 'MODIFIED', object);
  }

  delete(name: string): void {
    const existing = this.objects.get(name);
    if (existing === undefined) return;
    this.objects.delete(name);
    this.#commit('DELETED', this.#object(name, existing.metadata.uid, existing.value));
  }

  /** Forgets the history: clients that are not up to date must list again, and open watches get an Expired error. */
  compact(): void {
    for (const watch of this.#watches) {
      if (!this.#history.some(({ version }) => version > watch.sent)) continue;
      watch.response.end(`${JSON.stringify(expired)}\n`);
      this.#watches.delete(watch);
    }
    this.#compactedTo = this.#version;
    this.#history = [];
  }

  endWatches(kind: CutKind): void {
    for (const { response } of this.#watches) {
      if (kind === 'clean') response.end();
      else if (kind === 'reset') response.socket?.resetAndDestroy();
      else response.write('{"type":"ADDED","object":{"metadata":{"na', () => response.socket?.destroy());
    }
    this.#watches.clear();
  }

  readonly behaviour: Behaviour = (response, request) => {
    if (request.query.get('watch') === 'true') this.#watch(response, Number(request.query.get('resourceVersion')));
    else this.#list(response, request.query)(response, request);
  };

  #list(_response: ServerResponse, query: URLSearchParams): Behaviour {
    const limit = Number(query.get('limit') ?? 'Infinity') || Infinity;
    const [from, version] = (query.get('continue') ?? `0@${this.#version}`).split('@').map(Number) as [number, number];
    if (version < this.#version) return answerStatus(410, 'Expired', 'the continue token is too old');
    const items = [...this.objects.values()];
    const next = from + limit < items.length ? `${from + limit}@${version}` : '';
    return answerJson({
      metadata: { resourceVersion: String(version), continue: next },
      items: items.slice(from, from + limit),
    });
  }

  #watch(response: ServerResponse, from: number): void {
    if (from < this.#compactedTo) {
      answerStatus(410, 'Expired', 'too old resource version')(response, undefined as never);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watch: OpenWatch = { response, sent: from };
    this.#watches.add(watch);
    response.on('close', () => this.#watches.delete(watch));
    this.#deliver();
  }

  #commit(type: Change['type'], object: ServedObject): void {
    this.#history.push({ version: this.#version, type, object });
    if (this.isDelivering) this.#deliver();
  }

  #deliver(): void {
    for (const watch of this.#watches) {
      for (const { version, type, object } of this.#history) {
        if (version <= watch.sent) continue;
        watch.response.write(`${JSON.stringify({ type, object })}\n`);
        watch.sent = version;
      }
    }
  }

  #object(name: string, uid: string, value: number): ServedObject {
    const resourceVersion = String(++this.#version);
    return { metadata: { namespace: 'default', name, uid, resourceVersion }, value };
  }
}
