import type { Pod } from '../../api/pod.ts';
import { toError } from '../../base/to-error.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Intake } from '../intake/intake.ts';
import type { OngoingPreemption } from './ongoing-preemption.ts';
import { nameOf } from './preemption-texts.ts';

export type ReservedPlan = Pick<OngoingPreemption, 'schedulingEntity' | 'plan' | 'waitingUids'>;

/** Returns whether the plan still fits once the pods that it waits for, and `leaving`, are gone. True if that cannot be checked. */
export function stillFits(
  { schedulingEntity, plan, waitingUids }: ReservedPlan,
  leaving: readonly Pod[],
  { cluster, dryRuns, profiles }: Pick<Intake, 'cluster' | 'dryRuns' | 'profiles'>,
  logger: Logger,
): boolean {
  const nominations = plan.nominations.flatMap(({ pod: { uid }, nodeName }) => {
    const pod = cluster.openPod(uid);
    return pod === undefined ? [] : [{ pod, nodeName }];
  });
  const without = [...[...waitingUids].flatMap((uid) => cluster.pod(uid) ?? []), ...leaving];
  try {
    return dryRuns.rejectionOf(profiles.of(schedulingEntity), schedulingEntity, nominations, without) === undefined;
  } catch (error) {
    logger.warn('could not check a reserved plan', { entity: nameOf(schedulingEntity), error: toError(error) });
    return true;
  }
}
