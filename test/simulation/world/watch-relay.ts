import { Buffer } from 'node:buffer';
import type { WatchFault } from '../scenario.ts';
import type { Struck } from './faults.ts';
import type { SimulatedProcess } from './process.ts';
import type { Timeline } from './timeline.ts';

export interface WatchRelayOptions {
  readonly timeline: Timeline;
  readonly process: SimulatedProcess;
  readonly source: AsyncIterable<Uint8Array>;
  /** Latency of the next line; lines never overtake each other. */
  readonly lagMs: () => number;
  readonly bookmarks: boolean;
  /** Returns the fault that strikes the next line. */
  readonly faultOf: () => Struck<WatchFault> | undefined;
  /** Called when the process has received that version. */
  readonly delivered: (version: number) => void;
  /** Closes the connection for the server. */
  readonly hangUp: () => void;
  readonly signal: AbortSignal | undefined;
}

type Piece =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly version: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'lost'; readonly error: Error };

const expiredLine = `${JSON.stringify({
  type: 'ERROR',
  object: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'too old resource version: injected',
    reason: 'Expired',
    code: 410,
  },
})}\n`;

/** The body of one watch on its way to a process. For one consumer. */
export class WatchRelay implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #options: WatchRelayOptions;
  readonly #arrived: Piece[] = [];
  #waiting:
    | {
        readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void;
        readonly reject: (error: Error) => void;
      }
    | undefined;
  #lastDue = 0;
  /** Lines read from now on no longer reach the process. */
  #isDead = false;

  constructor(options: WatchRelayOptions) {
    this.#options = options;
    const { signal } = options;
    signal?.addEventListener(
      'abort',
      () => {
        this.#close();
        this.#arrived.length = 0;
        this.#arrive({ kind: 'lost', error: signal.reason as Error });
      },
      { once: true },
    );
    void this.#pump();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#hand();
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#close();
    return Promise.resolve({ done: true, value: undefined });
  }

  #close(): void {
    this.#isDead = true;
    this.#options.hangUp();
  }

  async #pump(): Promise<void> {
    try {
      let rest = '';
      for await (const bytes of this.#options.source) {
        const lines = (rest + Buffer.from(bytes).toString('utf8')).split('\n');
        rest = lines.pop()!;
        for (const line of lines) this.#line(`${line}\n`);
        if (this.#isDead) return;
      }
      this.#send({ kind: 'end' });
    } catch {
      this.#send({ kind: 'lost', error: new Error('connection reset by peer') });
    }
  }

  #line(line: string): void {
    if (this.#isDead) return;
    if (!this.#options.bookmarks && line.startsWith('{"type":"BOOKMARK"')) return;
    const piece: Piece = { kind: 'bytes', bytes: Buffer.from(line), version: versionOf(line) };
    const struck = this.#options.faultOf();
    switch (struck?.kind) {
      case 'cut':
        this.#lose();
        return;
      case 'cut-mid-line':
        this.#send({ kind: 'bytes', bytes: Buffer.from(line.slice(0, line.length >> 1)), version: 0 });
        if (struck.ms % 2 === 0) this.#lose();
        else this.#end({ kind: 'end' });
        return;
      case 'duplicate':
        this.#send(piece);
        this.#send(piece);
        return;
      case 'half-open':
        // The server notices nothing; the client must detect it.
        this.#isDead = true;
        return;
      case 'expired':
        this.#send({ kind: 'bytes', bytes: Buffer.from(expiredLine), version: 0 });
        this.#end({ kind: 'end' });
        return;
      case 'lag':
        this.#send(piece, struck.ms);
        return;
      default:
        this.#send(piece);
    }
  }

  #lose(): void {
    this.#end({ kind: 'lost', error: new Error('connection reset by peer') });
  }

  #end(piece: Piece): void {
    this.#send(piece);
    this.#close();
  }

  #send(piece: Piece, extraMs = 0): void {
    if (this.#isDead) return;
    const { timeline, process, lagMs, signal } = this.#options;
    this.#lastDue = Math.max(this.#lastDue, timeline.now + lagMs() + extraMs);
    timeline.at(this.#lastDue, () =>
      process.deliver(() => {
        if (signal?.aborted !== true) this.#arrive(piece);
      }),
    );
  }

  #arrive(piece: Piece): void {
    this.#arrived.push(piece);
    this.#hand();
  }

  #hand(): void {
    if (this.#waiting === undefined || this.#arrived.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const piece = this.#arrived.shift()!;
    switch (piece.kind) {
      case 'bytes':
        this.#options.delivered(piece.version);
        waiting.resolve({ done: false, value: piece.bytes });
        return;
      case 'end':
        waiting.resolve({ done: true, value: undefined });
        return;
      case 'lost':
        waiting.reject(piece.error);
    }
  }
}

function versionOf(line: string): number {
  return Number(/"resourceVersion":"(\d+)"/.exec(line)?.[1] ?? 0);
}
