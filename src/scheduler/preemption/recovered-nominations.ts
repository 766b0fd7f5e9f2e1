import type { Pod } from '../../api/pod.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Intake } from '../intake/intake.ts';
import { isVerdictOfNomination } from './preemption-texts.ts';

/** An entity whose needed members are all nominated. */
export interface RecoveredPreemption {
  readonly schedulingEntity: SchedulingEntity;
  readonly nominations: readonly Nomination[];
  /** Pods that terminate on the nominated nodes. */
  readonly victims: readonly Pod[];
}

/**
 * Returns the nominations that an earlier process wrote together with its verdicts: those that still make up a whole plan, and the others,
 * which have no meaning any more.
 */
export function nominationsOfEarlierProcess({ cluster, profiles }: Pick<Intake, 'cluster' | 'profiles'>): {
  readonly whole: readonly RecoveredPreemption[];
  readonly stale: readonly Nomination[];
} {
  const whole: RecoveredPreemption[] = [];
  const stale: Nomination[] = [];
  /** group key -> its nominated members */
  const byGroup = new Map<string, Nomination[]>();
  const recovered = (schedulingEntity: SchedulingEntity, nominations: readonly Nomination[]): RecoveredPreemption => {
    const nodes = new Set(nominations.map(({ nodeName }) => nodeName));
    const terminating = [...nodes].flatMap((name) =>
      [...(cluster.node(name)?.pods.values() ?? [])].filter(({ deleting }) => deleting),
    );
    return { schedulingEntity, nominations, victims: terminating };
  };
  for (const { uid, nominatedNodeName: nodeName, podScheduled, podGroupKey, schedulerName } of cluster.pods()) {
    if (nodeName === '' || !profiles.isOurs(schedulerName) || !isVerdictOfNomination(podScheduled?.message ?? ''))
      continue;
    const pod = cluster.openPod(uid);
    if (pod === undefined) continue;
    const nomination = { pod, nodeName };
    const gang = podGroupKey === undefined ? undefined : cluster.gang(podGroupKey);
    const isQueuedWithGroup = gang !== undefined && gang.missing > 0 && profiles.decidesGangs(schedulerName);
    if (isQueuedWithGroup) byGroup.set(gang.key, [...(byGroup.get(gang.key) ?? []), nomination]);
    else if (cluster.node(nodeName) === undefined) stale.push(nomination);
    else whole.push(recovered({ kind: 'pod', pod }, [nomination]));
  }
  for (const [key, nominations] of byGroup) {
    const gang = cluster.gang(key)!;
    const isWhole =
      gang.spec !== undefined &&
      nominations.length >= gang.missing &&
      nominations.every(({ pod, nodeName }) => gang.pending.has(pod.uid) && cluster.node(nodeName) !== undefined);
    if (isWhole) whole.push(recovered({ kind: 'gang', gang }, nominations));
    else stale.push(...nominations);
  }
  return { whole, stale };
}
