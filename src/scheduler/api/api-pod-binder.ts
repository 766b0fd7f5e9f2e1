import { podPath } from '../../api/pod-path.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ConflictError, MalformedAnswerError, ServerError, isAmbiguous } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { PodBinder, PodBinding } from '../../framework/plugin-handle.ts';
import { bindCallTimeoutMs, isBoundAsAsked } from './bind-read-back.ts';

export interface ApiPodBinderOptions {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
  readonly clock: Clock;
  readonly random: Random;
}

const attempts = 4;

/**
 * Binds pods through the API server: `POST pods/NAME/binding`. Calls that were surely not carried out are repeated; whenever
 * the answer leaves doubt, the pod is read back before anything else, so a bind is never reported wrongly.
 */
export class ApiPodBinder implements PodBinder {
  readonly #options: ApiPodBinderOptions;

  constructor(options: ApiPodBinderOptions) {
    this.#options = options;
  }

  async bind(binding: PodBinding, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#post(binding, signal);
        return;
      } catch (error) {
        const inDoubt = isAmbiguous(error) || error instanceof ServerError || error instanceof MalformedAnswerError;
        if (!inDoubt && !(error instanceof ConflictError)) throw error;
        if (await isBoundAsAsked(binding, this.#options, signal)) return;
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
    const { client, clock, random } = this.#options;
    await retry(() => client.create(path, body, { lane: 'bind', timeoutMs: bindCallTimeoutMs, signal }), {
      clock,
      random,
      idempotent: false,
      maxAttempts: attempts,
      signal,
    });
  }
}
