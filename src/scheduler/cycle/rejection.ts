import type { Pod } from '../../api/pod.ts';
import { messageOf } from '../../base/message-of.ts';
import { describeCause, describeDiagnosis, failureIn, unschedulablePluginsOf } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import { outsiders } from '../../framework/event-hints.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { oneOfEachClass } from '../../framework/one-of-each-class.ts';
import { PluginFailure } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { Plan } from '../placement/planning/planner.ts';
import type { Rejected } from './cycle-result.ts';

/**
 * Returns the rejection when the plugins agree, but the extenders leave too few nodes. The extenders' result without other pods
 * is unknown. So the scheduler evicts no pods, and any event requeues the entity, as in kube-scheduler.
 */
export function rejectedByExtenders(
  schedulingEntity: SchedulingEntity,
  { members, needed }: Demand,
  plan: Plan,
): Rejected {
  const diagnosis = plan.blocked ?? noDiagnosis(members[0]!);
  const isError = failureIn(diagnosis) !== undefined;
  const message = describeRejection(schedulingEntity, diagnosis, plan.placed, needed);
  return {
    kind: 'rejected',
    pods: members,
    verdict: {
      reason: isError ? 'SchedulerError' : 'Unschedulable',
      message,
      waitsFor: isError ? 'error' : 'unknown',
      cause: describeCause(diagnosis),
    },
    failure: { unschedulablePlugins: new Set([outsiders]), rejectedPods: oneOfEachClass(members), error: isError },
    preemption: undefined,
  };
}

export function statusOf(error: unknown): Status {
  if (error instanceof PluginFailure) return error.status;
  return new Status('Error', `the attempt failed: ${messageOf(error)}`, '', error);
}

export function rejectedBy(members: readonly Pod[], status: Status, schedulingEntity: SchedulingEntity): Rejected {
  const isError = status.code === 'Error';
  const { plugins, pending } = unschedulablePluginsOf(status);
  const prefix = schedulingEntity.kind === 'gang' ? `PodGroup ${schedulingEntity.gang.key} cannot start: ` : '';
  return {
    kind: 'rejected',
    pods: members,
    verdict: {
      reason: isError ? 'SchedulerError' : 'Unschedulable',
      message: `${prefix}${status.message}.`,
      waitsFor: isError ? 'error' : 'permit',
    },
    failure: {
      unschedulablePlugins: plugins,
      pending,
      rejectedPods: oneOfEachClass(members),
      error: isError,
    },
    preemption: undefined,
  };
}

/** Returns one sentence for all members: how many would fit, and which member would not and why, with node counts. */
export function describeRejection(
  schedulingEntity: SchedulingEntity,
  diagnosis: Diagnosis,
  placed: number,
  needed: number,
): string {
  if (schedulingEntity.kind === 'pod') return describeDiagnosis(diagnosis);
  const cannot = `PodGroup ${schedulingEntity.gang.key} cannot start`;
  if (diagnosis.rejection.kind === 'pod') return `${cannot}: ${diagnosis.rejection.status.message}.`;
  const { name } = diagnosis.pod;
  const subject =
    placed === 0 ? `${name} finds no node` : `${placed} of ${needed} members would fit; ${name} would not`;
  return `${cannot}: ${subject}: ${describeDiagnosis(diagnosis)}`;
}

export function noDiagnosis(pod: Pod): Diagnosis {
  return {
    pod,
    nodeCount: 0,
    rejection: { kind: 'nodes', rejections: [], resolvable: false },
    plugins: new Set(),
  };
}
