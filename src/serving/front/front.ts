import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describeError } from '../../observability/logger.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../base/clock.ts';
import { toError } from '../../base/to-error.ts';
import { PortUnavailableError } from '../port-unavailable-error.ts';
import type { Answer } from '../route.ts';
import type { ServedRequest } from '../served-request.ts';
import type { FromFront, FrontOptions, FrontTls, ToFront } from './front-messages.ts';

export interface StartFrontOptions extends FrontOptions {
  /** The flag by which users choose the port; named when it cannot be had. */
  readonly portFlag: string;
  /** Never rejects. */
  readonly answer: (request: ServedRequest) => Promise<Answer>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Of the thread's own memory; it holds connections and answers that are being taken. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 };
const restartAfterMs = 1_000;
const closeGraceMs = 500;
/** After which a thread that does not end is ended. */
const endWithinMs = 1_000;

/**
 * An HTTPS server in a thread of its own, whose requests are answered by this one. A thread that ends by itself is logged and
 * replaced.
 */
export class Front {
  readonly #options: StartFrontOptions;
  #tls: FrontTls;
  #port: number;
  #worker: Worker | undefined;
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

  /** Where port 0 was asked for, the one that it got. */
  get port(): number {
    return this.#port;
  }

  /** For connections from now on; those that there are end with their next answer. */
  setTls(tls: FrontTls): void {
    this.#tls = tls;
    this.#notify({ kind: 'tls', tls });
  }

  /** From now on every answer ends its connection. */
  drain(): void {
    this.#isDraining = true;
    this.#notify({ kind: 'drain' });
  }

  /** Takes no more connections; what is being answered gets a moment to end. Idempotent. */
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
    // Neither the environment nor the flags of this process are for a thread that talks to strangers.
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
                if (this.#worker === worker) this.#notify({ kind: 'answer', id: message.id, answer });
              })
              .catch((error: unknown) => logger.error('an answer could not be handed on', { error }));
            break;
        }
      });
      worker.on('error', (error) => {
        logger.error('the thread that serves requests failed', { error });
        reject(toError(error));
      });
      worker.once('exit', () => {
        if (this.#worker === worker) this.#worker = undefined;
        reject(new Error('the thread that serves requests ended before it served any'));
        if (isListening && !this.#isClosing) this.#startAgain(clock, logger);
      });
    });
  }

  #startAgain(clock: Clock, logger: Logger): void {
    clock.setTimer(restartAfterMs, () => {
      if (this.#isClosing) return;
      this.#start().then(
        () => logger.info('requests are served again', { port: this.#port }),
        (error: unknown) => {
          logger.error('cannot serve requests again; trying', { error: describeError(error) });
          this.#startAgain(clock, logger);
        },
      );
    });
  }

  #notify(message: ToFront): void {
    this.#worker?.postMessage(message);
  }
}

function asError({ code, message }: { readonly code: string | undefined; readonly message: string }): Error {
  return Object.assign(new Error(message), code !== undefined && { code });
}

/** The thread's code: beside this file, or in the bundle among the entries that lead to the chunk that this is in. */
function threadFile(): string {
  const here = import.meta.url;
  return fileURLToPath(new URL(here.endsWith('.ts') ? './front-thread.ts' : '../serving-thread.js', here));
}
