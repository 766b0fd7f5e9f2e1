import { parseGroupKey } from '../../api/group-key.ts';
import { isObjectName } from '../../api/object-name.ts';
import { podGroupLabel } from '../../api/pod-group-membership.ts';
import type { Pod } from '../../api/pod.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Misfit } from '../../cluster/misfits.ts';
import { Status } from '../../framework/status.ts';

export const pluginName = 'Coscheduling';

/**
 * Returns undefined if `schedulerName` can schedule the gang, and the reason for users otherwise. A gang is ready if its PodGroup exists and is
 * supported, all pending members name this scheduler, no member is a misfit, and pending and counted members together reach the quorum. Takes
 * constant time. No other code decides readiness.
 */
export function readiness(gang: GangView, schedulerName: string): Status | undefined {
  if (gang.spec === undefined) return groupAbsent(gang.key);
  if (gang.spec.unsupported !== undefined) return notReady(gang.spec.unsupported);
  const misfit = gang.misfits.first;
  if (misfit !== undefined) return notReady(describeMisfit(misfit, gang));
  const ours = gang.pendingBySchedulerName.get(schedulerName) ?? 0;
  if (ours < gang.pending.size) {
    const others = [...gang.pendingBySchedulerName.keys()].filter((name) => name !== schedulerName).sort();
    return notReady(
      `members of PodGroup ${gang.key} name different schedulers (${[schedulerName, ...others].join(', ')}); ` +
        `set the same spec.schedulerName for all of them`,
    );
  }
  const { minMember, waitsForGates = false } = gang.spec;
  const available = gang.counted + gang.pending.size;
  const gated = gang.count('gated');
  if (waitsForGates && gated > 0) return notReady(`PodGroup ${gang.key} waits until no member has scheduling gates`);
  if (available >= minMember) return undefined;
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

/** Like `readiness`, for a pod that is scheduled alone: its group has started, or needs no quorum. */
export function readinessAlone({ uid }: Pod, gang: GangView, schedulerName: string): Status | undefined {
  const { unsupported, minMember } = gang.spec ?? {};
  if (minMember !== 0 || unsupported !== undefined) return readiness(gang, schedulerName);
  const misfit = gang.misfits.get(uid);
  return misfit && notReady(describeMisfit(misfit, gang));
}

/** Returns the rejection of a pod whose PodGroup does not exist. `key`: namespace/name, as the pod names it. */
export function groupAbsent(key: string): Status {
  const { source, name } = parseGroupKey(key);
  if (!isObjectName(name)) {
    const remedy =
      source === 'scheduling.k8s.io'
        ? 'recreate the pod with another spec.schedulingGroup'
        : `correct the label or annotation ${podGroupLabel} of the pod`;
    return notReady(`PodGroup ${key} cannot exist, because its name is not valid; ${remedy}`);
  }
  return notReady(`PodGroup ${key} does not exist; the pod starts when it is created`);
}

/** Tells nothing of other misfits, so that it stays true while they come and go. */
function describeMisfit(misfit: Misfit, { key: group, members }: GangView): string {
  const { name: pod, priority } = members.get(misfit.uid)!;
  switch (misfit.kind) {
    case 'otherGang':
      return (
        `pod ${pod} is in PodGroup ${group} by its label or annotation ${podGroupLabel}, ` +
        `and in PodGroup ${misfit.key} by its spec.schedulingGroup; keep one of them`
      );
    case 'priority':
      return (
        `pod ${pod} has the priority ${priority}, but PodGroup ${group} has ${misfit.expected}; ` +
        'give both the same priorityClassName'
      );
    case 'preemptionPolicy':
      return (
        `pod ${pod} does not have the preemptionPolicy ${misfit.expected} of PodGroup ${group}; ` +
        'give both the same preemptionPolicy'
      );
  }
}

function notReady(reason: string): Status {
  return new Status('UnschedulableAndUnresolvable', reason, pluginName);
}
