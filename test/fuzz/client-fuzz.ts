import process from 'node:process';
import { setTimeout as after } from 'node:timers/promises';
import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/base/random.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { ApiError, ConnectionError, MalformedAnswerError, TimeoutError } from '../../src/client/api-errors.ts';
import { fixedEndpoint } from '../../src/client/endpoint.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { retry } from '../../src/client/retry.ts';
import { HostileServer } from './hostile-server.ts';

export interface ClientFuzzOptions {
  readonly requests: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export interface ClientFuzzReport {
  readonly requests: number;
  readonly answered: number;
  /** name of an error -> how often */
  readonly failed: Readonly<Record<string, number>>;
  /** Calls that were still open long after their deadline. */
  readonly hangs: number;
  /** Writes that the server carried out twice. */
  readonly duplicatedWrites: number;
  /** Responses that belong to another request. */
  readonly mixedUp: number;
  /** Failures that are not errors of the client, and unhandled rejections. */
  readonly strange: readonly string[];
  readonly maxHeapMb: number;
  readonly seconds: number;
  /** True if no problem was found. */
  readonly isGood: boolean;
}

const timeoutMs = 500;
/** Time for attempts and the pauses between them; after that a call counts as hanging. The process may be busy. */
const slackMs = 10_000;
const attempts = 3;
const atATime = 48;

/**
 * Sends requests to a server that misbehaves in every possible way. Looks for calls that never end, duplicate writes, responses to the
 * wrong caller, and errors that do not come from the client. Only the seed decides what happens to which request.
 */
export async function fuzzClient({ requests, seed, log }: ClientFuzzOptions): Promise<ClientFuzzReport> {
  const begun = performance.now();
  const server = await HostileServer.start(seed);
  const transport = new HttpTransport({ endpoint: fixedEndpoint(server.url) });
  const client = new KubeClient({ transport, clock: systemClock, timeoutMs });
  const random = seededRandom(seed);
  const tally = new Tally();
  const onRejection = (reason: unknown): void => void tally.strange.push(`unhandled rejection: ${String(reason)}`);
  process.on('unhandledRejection', onRejection);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < requests) {
      const id = String(next++);
      if (next % 10_000 === 0) log(`${next} of ${requests} requests, ${tally.line()}`);
      await tally.take(id, call(client, random, id));
    }
  };
  try {
    await Promise.all(Array.from({ length: atATime }, work));
  } finally {
    await transport.close();
    await after(0);
    process.off('unhandledRejection', onRejection);
  }
  const duplicatedWrites = [...server.writes.values()].filter((times) => times > 1).length;
  await server.close();
  const { answered, hangs, mixedUp, strange } = tally;
  return {
    requests,
    answered,
    failed: Object.fromEntries(tally.failed),
    hangs,
    duplicatedWrites,
    mixedUp,
    strange,
    maxHeapMb: Math.round(tally.maxHeap / 1e6),
    seconds: Math.round((performance.now() - begun) / 100) / 10,
    isGood: hangs + duplicatedWrites + mixedUp + strange.length === 0,
  };
}

/** Makes one call of a random kind; returns the id in the response. */
async function call(client: KubeClient, random: Random, id: string): Promise<unknown> {
  const path = `/fuzz/${id}`;
  const kind = Math.floor(random() * 7);
  const again = <T>(make: () => Promise<T>, idempotent: boolean): Promise<T> =>
    retry(make, {
      clock: systemClock,
      random,
      idempotent,
      maxAttempts: attempts,
      backoff: { initialMs: 1, maxMs: 10 },
    });
  switch (kind) {
    case 0:
      return idOf(await client.get(path));
    case 1:
      return idOf(await again(() => client.get(path), true));
    case 2:
      await client.list(path, { limit: 10 });
      return id;
    case 3:
      return readWatch(client, path, id);
    case 4:
      return idOf(await client.create(path, { id }));
    case 5:
      return idOf(await again(() => client.patch(path, 'merge', { id }), false));
    default:
      await again(() => client.create(path, { id }, { discardAnswer: true, isSpare: random() < 0.2 }), false);
      return id;
  }
}

/** A watch has no deadline, so this reader sets one. */
async function readWatch(client: KubeClient, path: string, id: string): Promise<string> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new TimeoutError('the watch was silent', { ambiguous: false })), timeoutMs);
  try {
    let bytes = 0;
    for await (const chunk of await client.watch(path, new URLSearchParams(), end.signal)) {
      bytes += chunk.length;
      if (bytes > 1_000_000) break;
    }
  } catch (error) {
    // The stream throws the errors of the transport; the reader wraps them.
    if (error instanceof Error && error.name !== 'AbortError' && !isOfClient(error)) {
      throw new ConnectionError(error.message, { ambiguous: false, cause: error });
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return id;
}

function idOf(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { id, again } = answer as { readonly id?: unknown; readonly again?: unknown };
  // If a byte was changed in transit, the id is invalid.
  return id === again ? id : undefined;
}

function isOfClient(error: unknown): boolean {
  return [ApiError, ConnectionError, MalformedAnswerError, TimeoutError].some((kind) => error instanceof kind);
}

/** Counts the results of the calls. */
class Tally {
  answered = 0;
  hangs = 0;
  mixedUp = 0;
  maxHeap = 0;
  readonly failed = new Map<string, number>();
  readonly strange: string[] = [];

  async take(id: string, ended: Promise<unknown>): Promise<void> {
    const late = new AbortController();
    const limit = after(attempts * timeoutMs + slackMs, 'hangs', { signal: late.signal }).catch(() => undefined);
    try {
      const answer = await Promise.race([ended, limit.then((outcome) => outcome ?? ended)]);
      if (answer === 'hangs') this.hangs++;
      else if (typeof answer === 'string' && answer !== id && answer !== 'late') this.mixedUp++;
      else this.answered++;
    } catch (error) {
      const name = error instanceof Error ? error.name : String(error);
      this.failed.set(name, (this.failed.get(name) ?? 0) + 1);
      if (!isOfClient(error)) this.strange.push(`request ${id}: ${String(error)}`);
    } finally {
      late.abort();
    }
    if (Number(id) % 500 === 0) this.maxHeap = Math.max(this.maxHeap, process.memoryUsage().heapUsed);
  }

  line(): string {
    const failed = [...this.failed.values()].reduce((sum, count) => sum + count, 0);
    return `${this.answered} answered, ${failed} failed, ${this.hangs} hang, ${this.mixedUp} mixed up, ${this.strange.length} strange`;
  }
}
