import type { Pod } from '../../api/pod.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import { failureIn } from '../../framework/diagnosis.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Intake } from '../intake/intake.ts';
import type { NodeRejections } from './node-rejections.ts';

export interface CompletionCheckParts {
  readonly intake: Pick<Intake, 'clock' | 'cluster' | 'profiles' | 'dryRuns'>;
  readonly rejections: Pick<NodeRejections, 'avoidedBy'>;
  readonly logger: Logger;
}

/** Pods that are being deleted are waited for as long again as the grace, and at least so long. */
const terminationMs = 60_000;

/** A group that is being released, or given up by somebody else: its room is not free yet. */
export function groupUnderWay(cluster: Cluster): Gang | undefined {
  for (const gang of cluster.gangs()) {
    if (gang.started || gang.spec === undefined || gang.count('leaving') === 0) continue;
    for (const pod of gang.members.values()) {
      if (gang.stateOf(pod.uid) === 'leaving' && isGoing(pod, cluster)) return gang;
    }
  }
  return undefined;
}

/** It holds room that it is about to give back. From a node that does not answer it may never go. */
function isGoing(pod: Pod, cluster: Cluster): boolean {
  const node = cluster.nodeOf(pod);
  return pod.deleting && node !== undefined && !node.isLost;
}

/** Could it be completed `now`, or `soon`, when those are gone that are on their way out? A plugin that fails says nothing of the group. */
export function checkCompletion(
  gang: Gang,
  since: number,
  parts: CompletionCheckParts,
): 'now' | 'soon' | 'none' | 'unknown' {
  const { intake, rejections, logger } = parts;
  const { cluster, dryRuns, profiles, clock } = intake;
  // Nobody is waited for without end, whoever has nominated a node: somebody outside need never take that back.
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
  const options = within === undefined ? {} : { within };
  try {
    const dryRun = dryRuns.run(profile, schedulingEntity, options);
    if (dryRun.fits) return 'now';
    if (dryRun.blocked !== undefined && failureIn(dryRun.blocked) !== undefined) return 'unknown';
    if (isOver) return 'none';
    const going = [...cluster.pods()].filter((pod) => isGoing(pod, cluster));
    return going.length > 0 && dryRuns.run(profile, schedulingEntity, { ...options, without: going }).fits
      ? 'soon'
      : 'none';
  } catch (error) {
    logger.warn('could not find out whether a group can be completed', { podGroup: gang.key, error });
    return 'unknown';
  }
}
