import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { podPath } from '../../api/pod-path.ts';
import { preemptionReason } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { safeMessage } from '../../base/safe-text.ts';
import { toError } from '../../base/to-error.ts';
import {
  ConflictError,
  InvalidError,
  isPlainAnswer,
  isUnclear,
  NotFoundError,
  NotLeadingError,
  TooManyRequestsError,
  UnclearOutcomeError,
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
    await this.#remove(pod, () => client.delete(podPath(pod), deleteOptions, call), terms);
  }

  async release(pod: Pod, terms: RequestTerms): Promise<ReleaseOutcome> {
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
    return this.#remove(pod, send, terms);
  }

  /** Resolves to `going` if the pod is gone or is being deleted despite an error. */
  async #remove<T>(
    pod: Pod,
    send: () => Promise<T>,
    { mayBeDone = false, signal }: RequestTerms,
  ): Promise<T | 'going'> {
    try {
      return await this.#repeat(send, signal);
    } catch (error) {
      const last = lastOf(error);
      if (last instanceof NotFoundError) return 'going';
      if (!isPlainAnswer(last)) throw error;
      const isUncertain = mayBeDone || error instanceof UnclearOutcomeError;
      // After a conflict, usually another pod has the name. An admission webhook may respond with one too.
      if (!isUncertain && !(last instanceof ConflictError)) throw last;
      const isGoing = await this.#isGoing(pod, signal);
      if (isGoing === true) return 'going';
      throw isGoing === undefined && isUncertain ? new UnclearOutcomeError(toError(last)) : last;
    }
  }

  /** Returns whether the server is deleting the pod, or has deleted it; undefined if the pod cannot be read. */
  async #isGoing(pod: Pod, signal: AbortSignal): Promise<boolean | undefined> {
    const { client, clock, random } = this.#options;
    const read = (): Promise<PodIdentity> => client.get<PodIdentity>(podPath(pod), { lane: 'bind', signal });
    try {
      const { metadata } = await retry(read, { clock, random, idempotent: true, signal });
      return metadata.uid !== pod.uid || metadata.deletionTimestamp !== undefined;
    } catch (error) {
      return error instanceof NotFoundError ? true : undefined;
    }
  }

  /** Also repeats a call once after a conflict, because a single one may come from a proxy. */
  async #repeat<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, random } = this.#options;
    let mayHaveEffect = false;
    const sendOnce = async (): Promise<T> => {
      try {
        return await send();
      } catch (error) {
        mayHaveEffect ||= isUnclear(error);
        throw error;
      }
    };
    const repeat = (): Promise<T> => retry(sendOnce, { clock, random, idempotent: true, signal });
    try {
      return await repeat().catch((error: unknown) => {
        if (error instanceof ConflictError) return repeat();
        throw error;
      });
    } catch (error) {
      const isLast = error instanceof NotLeadingError || error instanceof WithdrawnError;
      throw mayHaveEffect && !isLast ? new UnclearOutcomeError(toError(error)) : error;
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
      await this.#repeat(() => client.patch(`${podPath(pod)}/status`, 'strategic-merge', patch, call), options.signal);
      return true;
    } catch (error) {
      if (isOfAnotherPod(lastOf(error))) return false;
      throw error;
    }
  }
}

interface PodIdentity {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
}

function lastOf(error: unknown): unknown {
  return error instanceof UnclearOutcomeError ? error.cause : error;
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
