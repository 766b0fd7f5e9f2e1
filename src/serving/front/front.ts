import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describeError } from '../../observability/logger.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../base/clock.ts';
import { toError } from '../../base/to-error.ts';
import { PortUnavailableError } from '../../base/port-unavailable-error.ts';
import type { Answer, StreamEvents } from '../route.ts';
import type { ServedRequest } from '../served-request.ts';
import type { FromFront, FrontOptions, FrontTls, ToFront } from './front-messages.ts';

export interface StartFrontOptions extends FrontOptions {
  /** The flag that sets the port; the error names it if the port is unavailable. */
  readonly portFlag: string;
  /** Never rejects. */
  readonly answer: (request: ServedRequest) => Promise<Answer>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Limits of the thread's own memory, which holds connections and unsent responses. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 };
const restartAfterMs = 1_000;
const closeGraceMs = 500;
/** Time after which a thread that does not end is terminated. */
const endWithinMs = 1_000;

/**
 * An HTTPS server in its own thread. This thread answers its requests. If the server thread ends by itself, the process logs that
 * and starts another one.
 */
export class Front {
  readonly #options: StartFrontOptions;
  #tls: FrontTls;
  #port: number;
  #worker: Worker | undefined;
  /** id of the request in the present thread -> the stream that is its response */
  readonly #streams = new Map<number, StreamEvents>();
  #isClosing = false;
  #isDraining = false;

  private constructor(options: StartFrontOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#port = options.port;
  }

  /** Resolves when it listens. Rejects with PortUnavailableError. */
  static async start(options: StartFrontOptions): Promise<Front> {
    const front = new Front(options);
    await front.#start();
    return front;
  }

  /** The port; for port 0, the one that the system assigned. */
  get port(): number {
    return this.#port;
  }

  /** Sets the TLS settings of new connections; existing connections end with their next response. */
  setTls(tls: FrontTls): void {
    this.#tls = tls;
    this.#notify({ kind: 'tls', tls });
  }

  /** From now on every response ends its connection. */
  drain(): void {
    this.#isDraining = true;
    this.#notify({ kind: 'drain' });
  }

  /** Accepts no more connections; responses in progress get a moment to finish. Idempotent. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    this.#notify({ kind: 'close', graceMs: closeGraceMs });
    const timer = this.#options.clock.setTimer(closeGraceMs + endWithinMs, () => void worker.terminate());
    await ended;
    timer.cancel();
  }

  #start(): Promise<void> {
    const { host, sharesPort, minVersion, ciphers, answerWithinMs, portFlag, logger, clock } = this.#options;
    const workerData: FrontOptions = {
      host,
      port: this.#port,
      sharesPort,
      tls: this.#tls,
      minVersion,
      answerWithinMs,
      ...(ciphers !== undefined && { ciphers }),
    };
    // The environment and flags of this process are not for a thread that talks to strangers.
    const worker = new Worker(threadFile(), { workerData, resourceLimits, env: {}, execArgv: [], name: 'serving' });
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      let isListening = false;
      worker.on('message', (message: FromFront) => {
        switch (message.kind) {
          case 'listening':
            isListening = true;
            this.#port = message.port;
            if (this.#isDraining) this.#notify({ kind: 'drain' });
            resolve();
            break;
          case 'unavailable':
            reject(new PortUnavailableError(host, this.#port, portFlag, asError(message)));
            break;
          case 'request':
            this.#options
              .answer(message.request)
              .then((answer) => {
                if (this.#worker === worker) this.#pass(message.id, answer);
              })
              .catch((error: unknown) => logger.error('cannot pass on a response', { error }));
            break;
          case 'streamLagged':
            this.#streams.get(message.id)?.lagged();
            break;
          case 'streamClosed':
            this.#closeStream(message.id);
            break;
        }
      });
      worker.on('error', (error) => {
        logger.error('the serving thread failed', { error });
        reject(toError(error));
      });
      worker.once('exit', () => {
        if (this.#worker === worker) this.#worker = undefined;
        for (const id of [...this.#streams.keys()]) this.#closeStream(id);
        reject(new Error('the serving thread ended before it was ready'));
        if (isListening && !this.#isClosing) this.#startAgain(clock, logger);
      });
    });
  }

  #startAgain(clock: Clock, logger: Logger): void {
    clock.setTimer(restartAfterMs, () => {
      if (this.#isClosing) return;
      this.#start().then(
        () => logger.info('serving requests again', { port: this.#port }),
        (error: unknown) => {
          logger.error('cannot restart the serving thread; retrying', { error: describeError(error) });
          this.#startAgain(clock, logger);
        },
      );
    });
  }

  #pass(id: number, { stream, ...answer }: Answer): void {
    if (stream === undefined) {
      this.#notify({ kind: 'answer', id, answer });
      return;
    }
    this.#notify({ kind: 'answer', id, answer: { ...answer, isStream: true } });
    const events = stream({
      send: (text) => this.#notify({ kind: 'streamText', id, text }),
      end: () => this.#notify({ kind: 'streamEnd', id }),
    });
    this.#streams.set(id, events);
  }

  #closeStream(id: number): void {
    const events = this.#streams.get(id);
    this.#streams.delete(id);
    events?.closed();
  }

  #notify(message: ToFront): void {
    this.#worker?.postMessage(message);
  }
}

function asError({ code, message }: { readonly code: string | undefined; readonly message: string }): Error {
  return Object.assign(new Error(message), code !== undefined && { code });
}

/** Returns the path of the thread's code: next to this file, or in the bundle among the entry points, one folder above the chunks. */
function threadFile(): string {
  const here = import.meta.url;
  return fileURLToPath(new URL(here.endsWith('.ts') ? './front-thread.ts' : '../serving-thread.js', here));
}
