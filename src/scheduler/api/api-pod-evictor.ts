import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { podPath } from '../../api/pod-path.ts';
import { preemptionReason } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { safeMessage } from '../../base/safe-text.ts';
import {
  ConflictError,
  InvalidError,
  isPlainAnswer,
  NotFoundError,
  TooManyRequestsError,
  WithdrawnError,
} from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import type { Lane } from '../../client/lane.ts';
import { retry } from '../../client/retry.ts';
import type { PodEvictor, ReleaseOutcome, RequestTerms } from '../ports.ts';

export interface ApiPodEvictorOptions {
  readonly client: Pick<KubeClient, 'create' | 'get' | 'patch' | 'delete'>;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Preempts like kube-scheduler: with the condition DisruptionTarget, and a delete, which has the pod's uid as precondition. Releases like
 * `kubectl drain`: with an Eviction. The server then does both and checks disruption budgets.
 */
export class ApiPodEvictor implements PodEvictor {
  readonly #options: ApiPodEvictorOptions;

  constructor(options: ApiPodEvictorOptions) {
    this.#options = options;
  }

  mark(pod: Pod, message: string, terms: RequestTerms): Promise<boolean> {
    return this.#setCondition(pod, 'True', message, { ...terms, lane: 'bind' });
  }

  async unmark(pod: Pod, message: string, terms: RequestTerms): Promise<void> {
    // Nothing waits for it, and a process that has just taken over may have to send many.
    await this.#setCondition(pod, 'False', message, { ...terms, lane: 'condition' });
  }

  async evict(pod: Pod, terms: RequestTerms): Promise<void> {
    const { client } = this.#options;
    const call = { lane: 'bind', discardAnswer: true, ...terms } as const;
    const deleteOptions = { preconditions: { uid: pod.uid } };
    try {
      await this.#repeat(() => client.delete(podPath(pod), deleteOptions, call), terms);
    } catch (error) {
      if (error instanceof NotFoundError) return;
      // The uid is a precondition, so usually another pod has the name now. An admission webhook may respond with a conflict too.
      if (error instanceof ConflictError && (await this.#isReplaced(pod, terms.signal))) return;
      throw error;
    }
  }

  async release(pod: Pod, terms: RequestTerms): Promise<ReleaseOutcome> {
    const { signal } = terms;
    const { namespace, name, uid } = pod;
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid } },
    };
    const send = async (): Promise<ReleaseOutcome> => {
      try {
        await this.#options.client.create(`${podPath(pod)}/eviction`, eviction, { lane: 'bind', ...terms });
        return 'going';
      } catch (error) {
        // An immediate retry would meet the same budget.
        if (isOverBudget(error)) return 'protected';
        throw error;
      }
    };
    try {
      return await this.#repeat(send, terms);
    } catch (error) {
      if (error instanceof NotFoundError) return 'going';
      // The server also responds with a conflict if a disruption budget changes all the time.
      if (error instanceof ConflictError && (await this.#isReplaced(pod, signal))) return 'going';
      throw error;
    }
  }

  async #isReplaced(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#options;
    const read = async (): Promise<boolean> => {
      const { metadata } = await client.get<{ metadata: { uid: string } }>(podPath(pod), { lane: 'bind', signal });
      return metadata.uid !== pod.uid;
    };
    try {
      return await this.#repeat(read, { signal });
    } catch (error) {
      if (error instanceof NotFoundError) return true;
      throw error;
    }
  }

  /** Also repeats a call once after a conflict, because a single one may come from a proxy. */
  async #repeat<T>(send: () => Promise<T>, { unclear, signal }: Omit<RequestTerms, 'mayBeSent'>): Promise<T> {
    const { clock, random } = this.#options;
    const sendOnce = async (): Promise<T> => {
      try {
        return await send();
      } catch (error) {
        if (!isPlainAnswer(error) && !(error instanceof WithdrawnError)) unclear?.();
        throw error;
      }
    };
    const repeat = (): Promise<T> => retry(sendOnce, { clock, random, idempotent: true, signal });
    try {
      return await repeat();
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return repeat();
    }
  }

  /** Resolves to false if the pod is gone or was replaced. */
  async #setCondition(
    pod: Pod,
    status: 'True' | 'False',
    message: string,
    options: RequestTerms & { readonly lane: Lane },
  ): Promise<boolean> {
    const { client, clock } = this.#options;
    const condition = {
      type: 'DisruptionTarget',
      status,
      reason: preemptionReason,
      message: safeMessage(message),
      lastTransitionTime: toKubernetesTime(clock.now()),
    };
    const patch = { metadata: { uid: pod.uid }, status: { conditions: [condition] } };
    const call = { discardAnswer: true, ...options };
    try {
      await this.#repeat(() => client.patch(`${podPath(pod)}/status`, 'strategic-merge', patch, call), options);
      return true;
    } catch (error) {
      if (isOfAnotherPod(error)) return false;
      throw error;
    }
  }
}

/** A patch with a pod's uid is invalid for another pod with its name. */
function isOfAnotherPod(error: unknown): boolean {
  if (error instanceof InvalidError) return error.causes.some(({ field }) => field === 'metadata.uid');
  return error instanceof NotFoundError;
}

/** A disruption budget and an overloaded server both respond with 429. */
function isOverBudget(error: unknown): boolean {
  return error instanceof TooManyRequestsError && error.causes.some(({ reason }) => reason === 'DisruptionBudget');
}
