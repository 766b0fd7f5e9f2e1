import { podPath } from '../../api/pod-path.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import { wait } from '../../client/wait.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { bindCallTimeoutMs, isBoundAsAsked } from './bind-read-back.ts';
import type { ReadBackOptions } from './bind-read-back.ts';

export interface ExtenderBindingOptions extends ReadBackOptions {
  readonly client: Pick<KubeClient, 'get' | 'patch'>;
}

const attempts = 4;
/** How often, and at which initial interval, to check a pod that an extender reports as bound. */
const looks = 4;
const lookMs = 100;
const maxDelayMs = 10_000;

/**
 * Lets an extender bind a pod, and verifies the outcome at the API server: neither a success nor a lost response is trusted. Beforehand it
 * adds the annotations that the scheduler's own Binding would set.
 */
export class ExtenderBinding {
  readonly #options: ExtenderBindingOptions;

  constructor(options: ExtenderBindingOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the pod is bound to the node. If it is not bound, rejects with the error of `call`. Rejects with WithdrawnError if nothing
   * was sent.
   */
  async bind(binding: PodBinding, call: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await this.#annotate(binding, signal);
    let failure: { readonly error: unknown } | undefined;
    try {
      await call();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof WithdrawnError) throw error;
      failure = { error };
    }
    for (let look = 1; ; look++) {
      const isBound = await isBoundAsAsked(binding, this.#options, signal);
      if (isBound === true) return;
      // While the outcome is unknown, the capacity stays assumed.
      if (isBound === false && failure !== undefined) throw failure.error;
      if (isBound === false && look >= looks)
        throw new Error(`it reported success, but the pod is not bound to the chosen node`);
      await wait(this.#options.clock, Math.min(lookMs * 2 ** look, maxDelayMs), signal);
    }
  }

  async #annotate(binding: PodBinding, signal: AbortSignal): Promise<void> {
    const { uid, annotations } = binding;
    if (Object.keys(annotations).length === 0) return;
    const { client, clock, random } = this.#options;
    const patch = { metadata: { uid, annotations } };
    const call = { lane: 'bind', timeoutMs: bindCallTimeoutMs, discardAnswer: true, signal } as const;
    await retry(() => client.patch(podPath(binding), 'merge', patch, call), {
      clock,
      random,
      idempotent: true,
      maxAttempts: attempts,
      signal,
    });
  }
}
