import { Buffer } from 'node:buffer';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { podGroupDefinition } from '../../src/api/pod-group-schema.ts';
import { embeddedRequest } from './embedded-requests.ts';
import type { FuzzRequest, RawBytes, WellFormed } from './embedded-requests.ts';
import { fuzzResources, fuzzDefinition } from './embedded-resources.ts';
import type { ServerMeasures } from './embedded-server.ts';
import type { FuzzOptions, FuzzReport, FuzzTarget } from './fuzz-target.ts';

/** Maximum processor time for which the server's event loop may be blocked: 200 ms on an idle core, and more on a busy machine. */
const maxTurnMs = 600;
/** A slower response makes the run measure the event loop. */
const slowMs = 400;
/** Time after which a request counts as unanswered. */
const hangsMs = 60_000;
const openWatches = 10;
/** Tenths of the run after which memory must stop growing: the pool of names is small, and the history is bounded. */
const settledTenth = 4;
const maxGrowthBytes = 64 * 1024 * 1024;

/** Interval at which objects that the requests need, and may have deleted, are recreated. */
const restoredEvery = 250;
const foundations: readonly (readonly [path: string, object: object])[] = [
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', fuzzDefinition()],
  ['/api/v1/namespaces', { metadata: { name: 'team' } }],
  ['/api/v1/nodes', { metadata: { name: 'n1' } }],
];

/** Lists that must be readable at any time, whatever is stored. */
const lists = fuzzResources.map(({ path }) => path.replace('/namespaces/NS', ''));
const accepts = ['application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io'];

/** Result of a request: a status, or a word. */
type Outcome = number | 'closed' | 'unsent' | 'no answer';

export const embeddedTarget: FuzzTarget = {
  name: 'embedded',
  run: async (options) => {
    const run = new EmbeddedRun(options);
    try {
      return await run.finish();
    } finally {
      run.stop();
    }
  },
};

class EmbeddedRun {
  readonly #options: FuzzOptions;
  readonly #server: ChildProcess;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: openWatches + 2 });
  readonly #failures: string[] = [];
  /** kind of request -> outcome -> count */
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #watches: IncomingMessage[] = [];
  readonly #heaps: number[] = [];
  readonly #objects: number[] = [];
  #errors = '';
  #port = 0;
  #longestTurnMs = 0;

  constructor(options: FuzzOptions) {
    this.#options = options;
    this.#server = fork(fileURLToPath(new URL('embedded-server.ts', import.meta.url)), {
      execArgv: ['--expose-gc', '--max-old-space-size=1024'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#server.stderr!.on('data', (piece: Uint8Array) => (this.#errors += String(piece)));
  }

  async finish(): Promise<FuzzReport> {
    const [{ port }] = (await once(this.#server, 'message')) as [{ port: number }];
    this.#port = port;
    const { requests, only } = this.#options;
    if (only !== undefined) {
      await this.#restore();
      await this.#play(only);
    } else {
      const tenth = Math.max(1, Math.floor(requests / 10));
      for (let number = 0; number < requests && this.#isAlive; number++) {
        if (number % restoredEvery === 0) await this.#restore();
        await this.#play(number);
        if ((number + 1) % tenth === 0) await this.#takeStock(number);
      }
    }
    await this.#takeStock(only ?? requests - 1);
    this.#judgeMemory();
    return { failures: this.#failures, lines: this.#report() };
  }

  stop(): void {
    for (const watch of this.#watches) watch.destroy();
    this.#agent.destroy();
    this.#server.kill('SIGKILL');
  }

  get #isAlive(): boolean {
    return this.#server.exitCode === null && this.#server.signalCode === null;
  }

  #fail(number: number, problem: string): void {
    const { seed } = this.#options;
    const again = `npm run fuzz -- --target embedded --seed ${seed}`;
    this.#failures.push(
      `request ${number}: ${problem}; reproduce: ${again} --only ${number}, or with earlier requests: ${again} --requests ${number + 1}`,
    );
  }

  async #play(number: number): Promise<void> {
    const { seed, only, print } = this.#options;
    const request = embeddedRequest(seed, number);
    if (only !== undefined) print(describe(request));
    const before = performance.now();
    const { outcome, text } = request.form === 'bytes' ? await this.#sendBytes(request) : await this.#send(request);
    const ms = performance.now() - before;
    this.#count(request.kind, outcome);
    if (only !== undefined) print(`${outcome} after ${Math.round(ms)} ms: ${text.slice(0, 2_000)}`);
    if (!this.#isAlive) {
      await once(this.#server, 'exit').catch(() => undefined);
      this.#fail(number, `the server ended: ${this.#errors.slice(-2_000)}`);
    } else if (outcome === 500) this.#fail(number, `responded with 500: ${text.slice(0, 500)}`);
    else if (outcome === 'no answer') this.#fail(number, 'did not respond');
    else if (ms > slowMs) await this.#checkEventLoop(number);
  }

  async #checkEventLoop(number: number): Promise<void> {
    const { longestTurnMs } = await this.#measure();
    if (longestTurnMs > maxTurnMs) this.#fail(number, `blocked the event loop for ${Math.round(longestTurnMs)} ms`);
  }

  #send(request: WellFormed): Promise<{ readonly outcome: Outcome; readonly text: string }> {
    return new Promise((resolve) => {
      const { method, path, headers, body } = request;
      try {
        const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(body.length) };
        const outgoing = httpRequest({
          ...{ host: '127.0.0.1', port: this.#port, method, path, agent: this.#agent, timeout: hangsMs },
          headers: { ...headers, ...length },
        });
        outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
        outgoing.on('error', (error) => resolve({ outcome: 'no answer', text: error.message }));
        outgoing.on('response', (incoming) => {
          const status = incoming.statusCode!;
          incoming.on('error', () => undefined);
          if (status === 200 && request.kind === 'watch') {
            this.#keepOpen(incoming);
            resolve({ outcome: status, text: '' });
            return;
          }
          let text = '';
          incoming.setEncoding('utf8');
          incoming.on('data', (piece: string) => {
            if (text.length < 2_000) text += piece;
          });
          incoming.on('end', () => resolve({ outcome: status, text }));
          incoming.on('close', () => resolve({ outcome: 'no answer', text: 'the answer was cut off' }));
        });
        outgoing.end(body);
      } catch (error) {
        // node:http does not send invalid requests.
        resolve({ outcome: 'unsent', text: (error as Error).message });
      }
    });
  }

  /** Reads some watches and lets others fill up; closes the oldest. */
  #keepOpen(watch: IncomingMessage): void {
    if (this.#watches.length % 2 === 0) watch.resume();
    this.#watches.push(watch);
    if (this.#watches.length > openWatches) this.#watches.shift()!.destroy();
  }

  #sendBytes({ bytes }: RawBytes): Promise<{ readonly outcome: Outcome; readonly text: string }> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, '127.0.0.1');
      let text = '';
      const done = (): void => {
        socket.destroy();
        const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
        resolve({ outcome: status === undefined ? 'closed' : Number(status), text });
      };
      socket.setTimeout(hangsMs, done);
      socket.on('error', done);
      socket.on('close', done);
      socket.on('data', (piece: Uint8Array) => {
        text += String(piece);
        // The server keeps a valid connection open, and a watch has no end.
        if (text.includes('\r\n\r\n')) done();
      });
      socket.end(bytes);
    });
  }

  async #restore(): Promise<void> {
    for (const [path, object] of foundations) {
      const body = Buffer.from(JSON.stringify(object));
      const headers = { 'content-type': 'application/json' };
      await this.#send({ form: 'request', kind: 'foundation', method: 'POST', path, headers, body });
    }
  }

  async #takeStock(number: number): Promise<void> {
    if (!this.#isAlive) return;
    await this.#restore();
    for (const path of lists) {
      for (const accept of accepts) {
        const request = {
          form: 'request',
          kind: 'stock',
          method: 'GET',
          path,
          headers: { accept },
          body: undefined,
        } as const;
        const { outcome } = await this.#send(request);
        if (outcome !== 200) this.#fail(number, `from then on GET ${path} as ${accept} gives ${outcome}`);
      }
    }
    const { heapBytes, objects, longestTurnMs } = await this.#measure();
    this.#heaps.push(heapBytes);
    this.#objects.push(objects);
    if (longestTurnMs > maxTurnMs) {
      this.#fail(number, `or an earlier one blocked the event loop for ${Math.round(longestTurnMs)} ms`);
    }
  }

  async #measure(): Promise<ServerMeasures> {
    this.#server.send('measure');
    const [measures] = (await once(this.#server, 'message')) as [ServerMeasures];
    this.#longestTurnMs = Math.max(this.#longestTurnMs, measures.longestTurnMs);
    return measures;
  }

  #judgeMemory(): void {
    const settled = this.#heaps.slice(0, settledTenth);
    const rest = this.#heaps.slice(settledTenth);
    const growth = Math.max(...rest) - Math.max(...settled);
    if (rest.length === 0 || growth <= maxGrowthBytes) return;
    this.#fail(this.#options.requests - 1, `memory grew by ${megabytes(growth)} after it should have settled`);
  }

  #count(kind: string, outcome: Outcome): void {
    const counts = this.#counts.get(kind) ?? new Map<string, number>();
    this.#counts.set(kind, counts);
    counts.set(String(outcome), (counts.get(String(outcome)) ?? 0) + 1);
  }

  #report(): string[] {
    const rows = [...this.#counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, counts]) => {
        const outcomes = [...counts]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([outcome, count]) => `${outcome}: ${count}`);
        return `${kind.padEnd(24)} ${outcomes.join(', ')}`;
      });
    return [
      ...rows,
      `longest turn of the event loop: ${Math.round(this.#longestTurnMs)} ms of processor time`,
      `heap after each tenth: ${this.#heaps.map(megabytes).join(', ')}`,
      `objects after each tenth: ${this.#objects.join(', ')}`,
      `${this.#failures.length} failures`,
    ];
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

function describe(request: FuzzRequest): string {
  if (request.form === 'bytes') return `bytes: ${JSON.stringify(request.bytes.toString('latin1').slice(0, 2_000))}`;
  const { method, path, headers, body } = request;
  return `${method} ${path.slice(0, 2_000)} ${JSON.stringify(headers)} ${body === undefined ? '' : body.toString('utf8').slice(0, 2_000)}`;
}
