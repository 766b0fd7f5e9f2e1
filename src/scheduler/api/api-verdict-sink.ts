import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { podPath } from '../../api/pod-path.ts';
import type { Pod } from '../../api/pod.ts';
import { predictedStartCondition, startTimeOf } from '../../api/predicted-start.ts';
import type { PredictedStart } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ConflictError, NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { PodVerdict, VerdictOutcome, VerdictSink, VerdictUrgency } from '../ports.ts';

export interface ApiVerdictSinkOptions {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Patches `pods/NAME/status` with the pod's resourceVersion as precondition, so that a verdict can never overwrite a later Binding. */
export class ApiVerdictSink implements VerdictSink {
  readonly #options: ApiVerdictSinkOptions;

  constructor(options: ApiVerdictSinkOptions) {
    this.#options = options;
  }

  async write(
    pod: Pod,
    verdict: PodVerdict,
    { isFirst, since }: VerdictUrgency,
    signal: AbortSignal,
  ): Promise<VerdictOutcome> {
    const { client, clock, random } = this.#options;
    const path = `${podPath(pod)}/status`;
    const patch = this.#patchOf(pod, verdict);
    const lane = isFirst ? 'verdict' : 'condition';
    const call = { lane, heldSince: since, discardAnswer: true, signal } as const;
    try {
      // The patch is conditional, so a retry is harmless.
      await retry(() => client.patch(path, 'strategic-merge', patch, call), {
        clock,
        random,
        idempotent: true,
        signal,
      });
      return 'written';
    } catch (error) {
      if (error instanceof ConflictError) return 'outdated';
      if (error instanceof NotFoundError) return 'gone';
      throw error;
    }
  }

  #patchOf(pod: Pod, { reason, message, predictedStart, nominatedNodeName }: PodVerdict): object {
    const now = toKubernetesTime(this.#options.clock.now());
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      ...(pod.podScheduled?.status === 'False' ? {} : { lastTransitionTime: now }),
    };
    return {
      metadata: { uid: pod.uid, resourceVersion: pod.resourceVersion },
      status: {
        conditions: [condition, ...predictedStartPatch(pod.predictedStart, predictedStart, now)],
        // Null deletes the field.
        ...(nominatedNodeName !== undefined && {
          nominatedNodeName: nominatedNodeName === '' ? null : nominatedNodeName,
        }),
      },
    };
  }
}

/** Returns the condition with the predicted start as it should be in the patch: with the new start, or to be deleted. */
function predictedStartPatch(
  present: PredictedStart | undefined,
  start: PredictedStart | undefined,
  now: string,
): readonly object[] {
  const type = predictedStartCondition;
  if (start === undefined) return present === undefined ? [] : [{ $patch: 'delete', type }];
  const transition = present === undefined ? { lastTransitionTime: now } : {};
  return [{ type, status: 'True', reason: start.confidence, message: startTimeOf(start), ...transition }];
}
