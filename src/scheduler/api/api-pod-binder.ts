import { podPath } from '../../api/pod-path.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ConflictError, MalformedAnswerError, ServerError, isAmbiguous } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { PodBinder, PodBinding } from '../../framework/plugin-handle.ts';

/** A Binding failed although the pod exists: it runs elsewhere, or another pod has its name by now. */
export class BoundElsewhereError extends Error {
  override readonly name = 'BoundElsewhereError';
}

interface PodPlacement {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string };
}

const attempts = 4;
const callTimeoutMs = 10_000;

/**
 * Binds pods through the API server: `POST pods/NAME/binding`. Calls that were surely not carried out are repeated; whenever
 * the answer leaves doubt, the pod is read back before anything else, so a bind is never reported wrongly.
 */
export class ApiPodBinder implements PodBinder {
  readonly #client: Pick<KubeClient, 'create' | 'get'>;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: {
    readonly client: Pick<KubeClient, 'create' | 'get'>;
    readonly clock: Clock;
    readonly random: Random;
  }) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#random = options.random;
  }

  async bind(binding: PodBinding, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#post(binding, signal);
        return;
      } catch (error) {
        const inDoubt = isAmbiguous(error) || error instanceof ServerError || error instanceof MalformedAnswerError;
        if (!inDoubt && !(error instanceof ConflictError)) throw error;
        if (await this.#isBoundAsAsked(binding, signal)) return;
        if (!inDoubt || attempt >= attempts) throw error;
      }
    }
  }

  async #post(binding: PodBinding, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, nodeName, annotations } = binding;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid, annotations },
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    };
    const path = `${podPath(binding)}/binding`;
    await retry(() => this.#client.create(path, body, { lane: 'bind', timeoutMs: callTimeoutMs, signal }), {
      clock: this.#clock,
      random: this.#random,
      idempotent: false,
      maxAttempts: attempts,
      signal,
    });
  }

  /** Asks until there is an answer: the pod stays assumed meanwhile, because its room may be taken. */
  async #isBoundAsAsked(binding: PodBinding, signal: AbortSignal): Promise<boolean> {
    const pod = await retry(
      () => this.#client.get<PodPlacement>(podPath(binding), { lane: 'bind', timeoutMs: callTimeoutMs, signal }),
      { clock: this.#clock, random: this.#random, idempotent: true, maxAttempts: Infinity, signal },
    );
    const nodeName = pod.spec.nodeName ?? '';
    if (pod.metadata.uid !== binding.uid) {
      throw new BoundElsewhereError(`pod ${binding.namespace}/${binding.name} was deleted and made again meanwhile`);
    }
    if (nodeName !== '' && nodeName !== binding.nodeName) {
      throw new BoundElsewhereError(`pod ${binding.namespace}/${binding.name} is already bound to node ${nodeName}`);
    }
    return nodeName !== '';
  }
}
