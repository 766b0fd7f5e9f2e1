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
 * Returns the product's CRD with a schema that accepts any spec and status: compiling the real schema takes longer than a whole run. Other
 * tests show that the product writes what the schema allows.
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

/** The embedded plane on virtual time, with a record of all commits. */
export class Plane {
  readonly record = new StoreRecord();
  readonly #server: EmbeddedApiServer;
  readonly #timeline: Timeline;
  readonly #listeners: ((committed: Committed) => void)[] = [];
  /** Name of the process whose request is being carried out. */
  #acting = 'world';
  /** Requests of the simulated world that were rejected as malformed: an error in the scenario, not in the product. */
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
        for (const notify of this.#listeners) notify(committed);
      },
    });
  }

  /** Resolves when PodGroups can be created. */
  async open(): Promise<void> {
    await this.ask('POST', definitions, definition);
  }

  subscribe(notify: (committed: Committed) => void): void {
    this.#listeners.push(notify);
  }

  carryOut(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    return this.#server.handle(request, signal);
  }

  /**
   * Carries out a request of the simulated world at once and returns the status. A missing or already existing object does not count as
   * misuse.
   */
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

  /** Like `ask`, for callers that cannot wait. */
  send(method: TransportRequest['method'], path: string, body?: unknown): void {
    void this.ask(method, path, body);
  }

  forgetHistory(): void {
    this.#server.forgetHistory();
  }

  /** Whether the plane serves the PodGroups of Kubernetes itself. It keeps the objects. */
  serveNativeGroups(areServed: boolean): void {
    this.#server.serveNativeGangs(areServed ? 'v1beta1' : 'none');
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
