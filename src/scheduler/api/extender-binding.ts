import { podPath } from '../../api/pod-path.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import { wait } from '../../client/wait.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { BoundElsewhereError } from './api-pod-binder.ts';

export interface ExtenderBindingOptions {
  readonly client: Pick<KubeClient, 'get' | 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
}

interface PodPlacement {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string };
}

const callTimeoutMs = 10_000;
const attempts = 4;
/** How often, and how long apart, a pod is looked at that was said to be bound. */
const looks = 4;
const lookMs = 100;

/**
 * Has somebody else bind a pod, and looks at the API server for what has become of it: neither a good answer nor a lost one is
 * taken at its word. What a Binding of ours would leave on the pod is put there before.
 */
export class ExtenderBinding {
  readonly #options: ExtenderBindingOptions;

  constructor(options: ExtenderBindingOptions) {
    this.#options = options;
  }

  /** Resolves when the pod is on the node; rejects with what `call` rejected with when it is on none. */
  async bind(binding: PodBinding, call: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await this.#annotate(binding, signal);
    let failure: { readonly error: unknown } | undefined;
    try {
      await call();
    } catch (error) {
      signal.throwIfAborted();
      failure = { error };
    }
    for (let look = 1; ; look++) {
      if (await this.#isBoundAsAsked(binding, signal)) return;
      if (failure !== undefined) throw failure.error;
      if (look >= looks) throw new Error(`it said that the pod was bound to node ${binding.nodeName}, and it is not`);
      await wait(this.#options.clock, lookMs * 2 ** look, signal);
    }
  }

  async #annotate(binding: PodBinding, signal: AbortSignal): Promise<void> {
    const { uid, annotations } = binding;
    if (Object.keys(annotations).length === 0) return;
    const { client, clock, random } = this.#options;
    const patch = { metadata: { uid, annotations } };
    const call = { lane: 'bind', timeoutMs: callTimeoutMs, discardAnswer: true, signal } as const;
    await retry(() => client.patch(podPath(binding), 'merge', patch, call), {
      clock,
      random,
      idempotent: true,
      maxAttempts: attempts,
      signal,
    });
  }

  /** Asks until there is an answer: the pod stays assumed meanwhile, because its room may be taken. */
  async #isBoundAsAsked(binding: PodBinding, signal: AbortSignal): Promise<boolean> {
    const { client, clock, random } = this.#options;
    const pod = await retry(
      () => client.get<PodPlacement>(podPath(binding), { lane: 'bind', timeoutMs: callTimeoutMs, signal }),
      { clock, random, idempotent: true, maxAttempts: Infinity, signal },
    );
    if (pod.metadata.uid !== binding.uid) {
      throw new BoundElsewhereError(`pod ${binding.namespace}/${binding.name} was deleted and made again meanwhile`);
    }
    const nodeName = pod.spec.nodeName ?? '';
    if (nodeName !== '' && nodeName !== binding.nodeName) {
      throw new BoundElsewhereError(`pod ${binding.namespace}/${binding.name} is already bound to node ${nodeName}`);
    }
    return nodeName !== '';
  }
}
