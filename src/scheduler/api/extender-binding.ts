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
/** How often, and how long apart, a pod is looked at that was said to be bound. */
const looks = 4;
const lookMs = 100;
const longestMs = 10_000;

/**
 * Has somebody else bind a pod, and looks at the API server for what has become of it: neither a good answer nor a lost one is
 * taken at its word. What a Binding of ours would leave on the pod is put there before.
 */
export class ExtenderBinding {
  readonly #options: ExtenderBindingOptions;

  constructor(options: ExtenderBindingOptions) {
    this.#options = options;
  }

  /** Resolves when the pod is on the node; rejects with what `call` rejected with when it is on none, or with WithdrawnError: nothing was sent. */
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
      // Where nobody says whether it is bound its room is not given back.
      if (isBound === false && failure !== undefined) throw failure.error;
      if (isBound === false && look >= looks)
        throw new Error(`it said that the pod was bound to node ${binding.nodeName}, and it is not`);
      await wait(this.#options.clock, Math.min(lookMs * 2 ** look, longestMs), signal);
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
