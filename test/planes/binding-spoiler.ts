import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/base/random.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/client/transport.ts';
import { statusAnswer } from './api-proxy.ts';
import type { Fault } from './api-proxy.ts';

/**
 * How a Binding is spoiled. `slow`: it is carried out late, even if its sender is gone by then. `slow-answer`: it is carried out at once
 * and answered late.
 */
export const spoilings = ['500-before', '500-after', 'cut-before', 'cut-after', '409', 'slow', 'slow-answer'] as const;

export type Spoiling = (typeof spoilings)[number];

export interface BindingSpoilerOptions {
  /** Transport to the API server; must outlive the proxy. */
  readonly transport: Transport;
  readonly percent: number;
  /** Decides which Bindings are spoiled. */
  readonly random: Random;
  /** How they are spoiled, in turn. At least one. */
  readonly kinds: readonly Spoiling[];
  /** Delay of a slow Binding or answer. */
  readonly slowMs: number;
}

/** Spoils a share of the Bindings that pass a proxy, repeats included. */
export class BindingSpoiler {
  readonly #options: BindingSpoilerOptions;
  /** Number of Bindings received. */
  passed = 0;
  /** Number of these that were spoiled. */
  spoiled = 0;
  /** Slow Bindings in progress. */
  readonly #late = new Set<Promise<unknown>>();

  constructor(options: BindingSpoilerOptions) {
    this.#options = options;
  }

  readonly fault: Fault = (request) => {
    if (request.method !== 'POST' || !request.path.endsWith('/binding')) return undefined;
    this.passed++;
    const { random, percent, kinds } = this.#options;
    if (random() * 100 >= percent) return undefined;
    return this.#spoil(request, kinds[this.spoiled++ % kinds.length]!);
  };

  /** Resolves when no earlier Binding can be carried out any more. */
  async settled(): Promise<void> {
    while (this.#late.size > 0) await Promise.all(this.#late);
  }

  async #spoil(request: TransportRequest, kind: Spoiling): Promise<TransportResponse> {
    const carryOut = (): Promise<TransportResponse> => this.#options.transport.send(request);
    switch (kind) {
      case '500-before':
        return serverError();
      case '500-after':
        await carryOut();
        return serverError();
      case 'cut-before':
        throw new Error('cut for a test');
      case 'cut-after':
        await carryOut();
        throw new Error('cut for a test');
      case '409':
        return statusAnswer(409, 'Conflict', 'rejected for a test');
      case 'slow':
        return this.#track(sleep(this.#options.slowMs).then(carryOut));
      case 'slow-answer':
        return this.#track(carryOut().then((answer) => sleep(this.#options.slowMs, answer)));
    }
  }

  #track(call: Promise<TransportResponse>): Promise<TransportResponse> {
    const settled = call.catch(() => undefined).finally(() => this.#late.delete(settled));
    this.#late.add(settled);
    return call;
  }
}

function serverError(): TransportResponse {
  return statusAnswer(500, 'InternalError', 'broken for a test');
}
