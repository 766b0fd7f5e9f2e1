import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { podPath } from '../../api/pod-path.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { PodEvictor } from '../ports.ts';

export interface ApiPodEvictorOptions {
  readonly client: Pick<KubeClient, 'patch' | 'delete'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** As kube-scheduler preempts: the condition DisruptionTarget first, then a delete that holds for this very pod. */
export class ApiPodEvictor implements PodEvictor {
  readonly #options: ApiPodEvictorOptions;

  constructor(options: ApiPodEvictorOptions) {
    this.#options = options;
  }

  async evict(pod: Pod, beneficiary: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const path = podPath(pod);
    const call = { lane: 'bind', discardAnswer: true, signal } as const;
    try {
      const mark = this.#mark(pod, beneficiary);
      await this.#repeat(() => client.patch(`${path}/status`, 'strategic-merge', mark, call), signal);
      await this.#repeat(() => client.delete(path, { preconditions: { uid: pod.uid } }, call), signal);
    } catch (error) {
      if (isAboutAnotherPod(error)) return;
      throw error;
    }
  }

  #repeat<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, random } = this.#options;
    return retry(send, { clock, random, idempotent: true, signal });
  }

  #mark({ uid, schedulerName }: Pod, beneficiary: string): object {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${schedulerName}: preempting to accommodate ${beneficiary}`,
      lastTransitionTime: toKubernetesTime(this.#options.clock.now()),
    };
    return { metadata: { uid }, status: { conditions: [condition] } };
  }
}

/** The pod is gone, or another has its name: a delete with its uid is then a conflict, a patch with its uid not valid. */
function isAboutAnotherPod(error: unknown): boolean {
  if (error instanceof InvalidError) return error.causes.some(({ field }) => field === 'metadata.uid');
  return error instanceof NotFoundError || error instanceof ConflictError;
}
