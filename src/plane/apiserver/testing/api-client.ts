import { Buffer } from 'node:buffer';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import { seededRandom } from '../../../base/random.ts';
import type { TransportRequest, TransportResponse } from '../../../client/transport.ts';
import { EmbeddedApiServer } from '../embedded-api-server.ts';
import type { EmbeddedApiServerOptions } from '../embedded-api-server.ts';
import type { JsonObject } from '../json.ts';
import { definitionsPath, thingDefinition } from './manifests.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON body; tests know its shape. */
  readonly body: any;
}

export interface WatchLine {
  readonly type: string;
  readonly object: any;
}

type Method = TransportRequest['method'];

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** Calls the `handle` of an embedded API server on a virtual clock, for tests of the server's semantics. */
export class ApiClient {
  readonly clock: VirtualClock;
  readonly server: EmbeddedApiServer;

  constructor(options: Partial<Omit<EmbeddedApiServerOptions, 'clock'>> = {}) {
    this.clock = new VirtualClock();
    this.server = new EmbeddedApiServer({ random: seededRandom(1), ...options, clock: this.clock });
  }

  async send(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const text =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const response = await this.server.handle({ method, path, headers, ...(text !== undefined && { body: text }) });
    return readAnswer(response);
  }

  get(path: string, accept?: string): Promise<Answer> {
    return this.send('GET', path, undefined, accept === undefined ? {} : { accept });
  }

  create(path: string, object: JsonObject): Promise<Answer> {
    return this.send('POST', path, object, { 'content-type': 'application/json' });
  }

  replace(path: string, object: JsonObject): Promise<Answer> {
    return this.send('PUT', path, object, { 'content-type': 'application/json' });
  }

  patch(path: string, type: keyof typeof patchTypes, patch: unknown): Promise<Answer> {
    return this.send('PATCH', path, patch, { 'content-type': patchTypes[type] });
  }

  delete(path: string, options?: JsonObject): Promise<Answer> {
    return this.send('DELETE', path, options, { 'content-type': 'application/json' });
  }

  async watch(path: string, signal?: AbortSignal, accept = '*/*'): Promise<WatchReader> {
    const response = await this.server.handle({ method: 'GET', path, headers: { accept } }, signal);
    if (response.status !== 200) {
      throw new Error(`the server rejected the watch: ${JSON.stringify(await readAnswer(response))}`);
    }
    return new WatchReader(response.body);
  }

  /** Creates an object and returns it as stored. Throws unless the status is 201. */
  async mustCreate(path: string, object: JsonObject): Promise<Answer['body']> {
    const answer = await this.create(path, object);
    if (answer.status !== 201) throw new Error(`create returned ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}

/** Returns a client of a server with the CRD of Things. `spec` is the schema of their spec. */
export async function clientWithThings(spec: JsonObject): Promise<ApiClient> {
  const client = new ApiClient();
  await client.mustCreate(definitionsPath, thingDefinition({ spec }));
  return client;
}

/** Reads the events of a watch one by one. */
export class WatchReader {
  readonly #body: AsyncIterator<Uint8Array>;
  #text = '';

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body[Symbol.asyncIterator]();
  }

  /** Returns the next event. Undefined if the server ended the watch. */
  async next(): Promise<WatchLine | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n');
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return JSON.parse(line) as WatchLine;
      }
      const piece = await this.#body.next();
      if (piece.done === true) return undefined;
      this.#text += Buffer.from(piece.value).toString('utf8');
    }
  }

  /** Returns the next `count` events as "TYPE name". */
  async nextNames(count: number): Promise<string[]> {
    const names: string[] = [];
    for (let index = 0; index < count; index++) {
      const event = await this.next();
      names.push(event === undefined ? 'END' : `${event.type} ${event.object.metadata.name}`);
    }
    return names;
  }

  async close(): Promise<void> {
    await this.#body.return?.();
  }
}

export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

async function readAnswer(response: TransportResponse): Promise<Answer> {
  const text = await readText(response.body);
  const isJson = (response.headers['content-type'] ?? '').startsWith('application/json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}
