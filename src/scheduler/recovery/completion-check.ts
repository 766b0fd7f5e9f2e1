import type { Pod } from '../../api/pod.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import { failureIn } from '../../framework/diagnosis.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ExtenderResults, Extenders } from '../extenders/extenders.ts';
import type { Intake } from '../intake/intake.ts';
import type { NodeRejections } from './node-rejections.ts';

export interface CompletionCheckParts {
  readonly intake: Pick<Intake, 'clock' | 'cluster' | 'profiles' | 'dryRuns'>;
  readonly rejections: Pick<NodeRejections, 'avoidedBy'>;
  /** Absent: no extenders. */
  readonly extenders: Extenders | undefined;
  /** Returns which reservations for predicted starts do not count for the gang, by the owner's uid; undefined: all count. */
  readonly turnsIgnoredBy: (gang: Gang) => ((uid: string) => boolean) | undefined;
  readonly logger: Logger;
}

/**
 * Time to wait for pods that are terminating or being bound, because a user can keep a pod terminating, and a plugin a pod in PreBind,
 * forever. Before a gang is given up, the wait is the longer of this and its repair grace.
 */
export const terminationMs = 60_000;

/** Returns whether members of a gang that never started are about to free their capacity. */
export function hasTerminatingMembers(gang: Gang, cluster: Cluster): boolean {
  if (gang.started || gang.spec === undefined || gang.count('leaving') === 0) return false;
  for (const pod of gang.members.values())
    if (gang.stateOf(pod.uid) === 'leaving' && isTerminating(pod, cluster)) return true;
  return false;
}

/** Returns whether the pod is about to free its capacity. On a lost node, a pod may stay terminating forever. */
function isTerminating(pod: Pod, cluster: Cluster): boolean {
  const node = cluster.nodeOf(pod);
  return pod.deleting && node !== undefined && !node.isLost;
}

/**
 * Returns whether the gang could be completed `now`, `soon` (with the capacity of pods that are terminating, or being bound, because their
 * Bindings may fail) or not at all (`none`). `unknown`: a plugin failed. `extenderResults`: what the extenders responded in the gang's latest
 * attempt. They are not called again.
 */
export function checkCompletion(
  gang: Gang,
  since: number,
  extenderResults: ExtenderResults | undefined,
  parts: CompletionCheckParts,
): 'now' | 'soon' | 'none' | 'unknown' {
  const { intake, rejections, extenders, logger } = parts;
  const { cluster, dryRuns, profiles, clock } = intake;
  // The wait is bounded for every pod: an external component may never withdraw its nomination.
  const isOver = clock.monotonic() - since >= Math.max(gang.spec!.repairGraceMs, terminationMs);
  if (!isOver)
    for (const uid of gang.pending.keys()) if (cluster.reservationOf(uid)?.kind === 'nomination') return 'soon';
  const schedulingEntity = { kind: 'gang', gang } as const;
  const profile = profiles.of(schedulingEntity);
  const avoided = new Set([...gang.pending.values()].flatMap((pod) => rejections.avoidedBy(pod)));
  const within =
    avoided.size === 0
      ? undefined
      : new Set(cluster.nodes.map(({ name }) => name).filter((name) => !avoided.has(name)));
  const nodeSubsetOf = extenderResults && extenders?.notRejected(extenderResults, profile);
  // The others keep it from being completed, for longer than its bound members may wait.
  const ignoresBackfillOf = parts.turnsIgnoredBy(gang);
  const options = { ...(within !== undefined && { within }), nodeSubsetOf, ignoresBackfillOf };
  try {
    const dryRun = dryRuns.run(profile, schedulingEntity, options);
    if (dryRun.fits) return 'now';
    if (dryRun.blocked !== undefined && failureIn(dryRun.blocked) !== undefined) return 'unknown';
    if (isOver) return 'none';
    const transient = [...cluster.pods()].filter((pod) => cluster.isAssumed(pod.uid) || isTerminating(pod, cluster));
    return transient.length > 0 && dryRuns.run(profile, schedulingEntity, { ...options, without: transient }).fits
      ? 'soon'
      : 'none';
  } catch (error) {
    logger.warn('could not determine whether a group can be completed', { podGroup: gang.key, error });
    return 'unknown';
  }
}
