import { podPath } from '../../api/pod-path.ts';
import { jitteredBackoff } from '../../base/backoff.ts';
import {
  ConflictError,
  MalformedAnswerError,
  NotFoundError,
  ServerError,
  isAmbiguous,
} from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import { wait } from '../../client/wait.ts';
import type { PodBinder, PodBinding } from '../../framework/plugin-handle.ts';
import { bindCallTimeoutMs, isBoundAsAsked } from './bind-read-back.ts';
import type { ReadBackOptions } from './bind-read-back.ts';

export interface ApiPodBinderOptions extends ReadBackOptions {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
}

const attempts = 4;
const doubtBackoff = { initialMs: 500, maxMs: 10_000 };

/**
 * Binds pods through the API server: `POST pods/NAME/binding`. Calls that were surely not carried out are repeated; whenever
 * the answer leaves doubt, the pod is read back before anything else, so a bind is never reported wrongly. Where that is refused
 * the doubt stays, and the bind goes on until it is known to be done or the pod to be gone: a second Binding to the same node can
 * only be refused, while room that is given back may be taken.
 */
export class ApiPodBinder implements PodBinder {
  readonly #options: ApiPodBinderOptions;

  constructor(options: ApiPodBinderOptions) {
    this.#options = options;
  }

  async bind(binding: PodBinding, signal: AbortSignal): Promise<void> {
    /** An earlier call may have been carried out, and nobody says whether. */
    let mayBeBound = false;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#post(binding, signal);
        return;
      } catch (error) {
        if (signal.aborted || error instanceof NotFoundError) throw error;
        const isConflict = error instanceof ConflictError;
        // It is on a node, or another pod by now: the watch shows which.
        if (isConflict && mayBeBound) return;
        const inDoubt = isAmbiguous(error) || error instanceof ServerError || error instanceof MalformedAnswerError;
        if (!inDoubt && !isConflict && !mayBeBound) throw error;
        const isBound = await isBoundAsAsked(binding, this.#options, signal);
        if (isBound === true) return;
        if (isBound === undefined && inDoubt) mayBeBound = true;
        if (isBound === false) mayBeBound = false;
        if (mayBeBound) await this.#pause(attempt, signal);
        else if (!inDoubt || attempt >= attempts) throw error;
      }
    }
  }

  #pause(attempt: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    return wait(clock, jitteredBackoff(doubtBackoff, attempt, random), signal);
  }

  async #post(binding: PodBinding, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, nodeName, annotations, mayBeSent } = binding;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid, annotations },
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    };
    const path = `${podPath(binding)}/binding`;
    const { client, clock, random } = this.#options;
    await retry(() => client.create(path, body, { lane: 'bind', timeoutMs: bindCallTimeoutMs, mayBeSent, signal }), {
      clock,
      random,
      idempotent: false,
      maxAttempts: attempts,
      signal,
    });
  }
}
