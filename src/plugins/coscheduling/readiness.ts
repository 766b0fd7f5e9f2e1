import { isObjectName } from '../../api/object-name.ts';
import { podGroupLabel } from '../../api/pod-group-membership.ts';
import type { GangView } from '../../cluster/gang.ts';
import { Status } from '../../framework/status.ts';

export const pluginName = 'Coscheduling';

/**
 * Returns undefined if `schedulerName` can schedule the gang, and the reason for users otherwise. A gang is ready if its PodGroup exists,
 * all pending members name this scheduler, and pending and counted members together reach the quorum. Takes constant time. No other code
 * decides readiness.
 */
export function readiness(gang: GangView, schedulerName: string): Status | undefined {
  if (gang.spec === undefined) return groupAbsent(gang.key);
  const ours = gang.pendingBySchedulerName.get(schedulerName) ?? 0;
  if (ours < gang.pending.size) {
    const others = [...gang.pendingBySchedulerName.keys()].filter((name) => name !== schedulerName).sort();
    return notReady(
      `members of PodGroup ${gang.key} name different schedulers (${[schedulerName, ...others].join(', ')}); ` +
        `set the same spec.schedulerName for all of them`,
    );
  }
  const { minMember } = gang.spec;
  const available = gang.counted + gang.pending.size;
  if (available >= minMember) return undefined;
  const gated = gang.count('gated');
  const stranded = gang.count('stranded');
  const preempted = gang.countMarked('bound');
  const note =
    gated > 0
      ? `; ${gated} of the others ${gated === 1 ? 'has' : 'have'} scheduling gates`
      : stranded > 0
        ? `; ${stranded} of the others ${stranded === 1 ? 'is' : 'are'} on lost nodes`
        : preempted > 0
          ? `; ${preempted} of the others ${preempted === 1 ? 'is' : 'are'} being preempted`
          : '';
  return notReady(`PodGroup ${gang.key} has ${available} of the ${minMember} members it needs to start${note}`);
}

/** Returns the rejection of a pod whose PodGroup does not exist. `key`: namespace/name, as the pod names it. */
export function groupAbsent(key: string): Status {
  if (!isObjectName(key.slice(key.indexOf('/') + 1))) {
    return notReady(
      `PodGroup ${key} cannot exist, because its name is not valid; ` +
        `correct the label or annotation ${podGroupLabel} of the pod`,
    );
  }
  return notReady(`PodGroup ${key} does not exist; the pod starts when it is created`);
}

function notReady(reason: string): Status {
  return new Status('UnschedulableAndUnresolvable', reason, pluginName);
}
