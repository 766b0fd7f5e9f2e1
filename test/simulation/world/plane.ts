import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { seededRandom } from '../../../src/base/random.ts';
import { EmbeddedApiServer } from '../../../src/plane/apiserver/embedded-api-server.ts';
import type { TransportRequest, TransportResponse } from '../../../src/client/transport.ts';
import { mix } from './mix.ts';
import { startMs } from './process.ts';
import { StoreRecord } from './record.ts';
import type { Committed } from './record.ts';
import type { Timeline } from './timeline.ts';

/**
 * The product's own definition, but that any spec and status are taken: making the code that checks them takes longer than a whole run,
 * and that the product writes what its schema allows is shown elsewhere.
 */
function loosened(definition: any): any {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const openAPIV3Schema = { type: 'object', properties: { spec: anything, status: anything } };
  const versions = definition.spec.versions.map((version: any) => ({ ...version, schema: { openAPIV3Schema } }));
  return { ...definition, spec: { ...definition.spec, versions } };
}

const definition = JSON.stringify(
  loosened(parse(readFileSync(new URL('../../../crds/scheduling.x-k8s.io_podgroups.yaml', import.meta.url), 'utf8'))),
);
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The embedded plane on the run's time, with all that it commits written down. */
export class Plane {
  readonly record = new StoreRecord();
  readonly #server: EmbeddedApiServer;
  readonly #timeline: Timeline;
  readonly #listeners: ((committed: Committed) => void)[] = [];
  /** Whose request is being carried out. */
  #acting = 'world';
  /** What the world asked for and was rejected for its shape: the scenario is wrong then, not the product. */
  readonly misuses: string[] = [];

  constructor(timeline: Timeline, seed: number) {
    this.#timeline = timeline;
    this.#server = new EmbeddedApiServer({
      clock: {
        now: () => Math.floor(startMs + timeline.now),
        monotonic: () => timeline.now,
        setTimer: (delayMs, callback) => timeline.after(delayMs, callback),
      },
      random: seededRandom(mix(seed, 3)),
      intercept: (request, proceed) => {
        const before = this.#acting;
        this.#acting = request.headers['user-agent'] ?? 'world';
        try {
          return proceed();
        } finally {
          this.#acting = before;
        }
      },
      onChange: ({ name }, change) => {
        const committed = this.record.add(timeline.now, name, change, this.#acting);
        for (const tell of this.#listeners) tell(committed);
      },
    });
  }

  /** Resolves when groups can be made. */
  async open(): Promise<void> {
    await this.ask('POST', definitions, definition);
  }

  subscribe(tell: (committed: Committed) => void): void {
    this.#listeners.push(tell);
  }

  carryOut(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    return this.#server.handle(request, signal);
  }

  /** A call of the world's own, carried out at once; gives the status. What is gone, or there already, is no misuse. */
  async ask(method: TransportRequest['method'], path: string, body?: unknown): Promise<number> {
    const isPatch = method === 'PATCH';
    const response = await this.carryOut({
      method,
      path,
      headers: { accept: 'application/json', 'content-type': isPatch ? mergePatch : 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    if (response.status >= 400 && response.status !== 404 && response.status !== 409) {
      this.misuses.push(`${method} ${path}: ${response.status} ${await textOf(response)}`);
    }
    return response.status;
  }

  /** As `ask`, for whoever cannot wait. */
  tell(method: TransportRequest['method'], path: string, body?: unknown): void {
    void this.ask(method, path, body);
  }

  forgetHistory(): void {
    this.#server.forgetHistory();
  }

  endWatches(): void {
    this.#server.endWatches();
  }

  get now(): number {
    return this.#timeline.now;
  }

  close(): void {
    this.#server.close();
  }
}

const mergePatch = 'application/merge-patch+json';

export async function bytesOf({ body }: TransportResponse): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return pieces.length === 1 ? Buffer.from(pieces[0]!) : Buffer.concat(pieces);
}

async function textOf(response: TransportResponse): Promise<string> {
  return (await bytesOf(response)).toString('utf8');
}
