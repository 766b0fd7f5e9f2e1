import type { Pod } from '../../api/pod.ts';
import { messageOf } from '../../base/message-of.ts';
import { describeCause, describeDiagnosis, failureIn, refusersOf } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import { outsiders } from '../../framework/event-hints.ts';
import type { Candidate } from '../../framework/candidate.ts';
import { PluginFailure } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { Plan } from '../placement/planning/planner.ts';
import type { Refused } from './cycle-result.ts';

/**
 * The plugins agreed, and what extenders left is not enough. What they would say if other pods were gone is not known: nobody is
 * made to go for it, and any event is worth a try, as in kube-scheduler.
 */
export function refusedByExtenders(candidate: Candidate, { members, needed }: Demand, plan: Plan): Refused {
  const diagnosis = plan.blocked ?? noDiagnosis(members[0]!);
  const isError = failureIn(diagnosis) !== undefined;
  const message = describeRefusal(candidate, diagnosis, plan.placed, needed);
  return {
    kind: 'refused',
    pods: members,
    verdict: {
      reason: isError ? 'SchedulerError' : 'Unschedulable',
      message,
      waitsFor: isError ? 'error' : 'unknown',
      cause: describeCause(diagnosis),
    },
    failure: { refusedBy: new Set([outsiders]), refusedPods: oneOfEachKind(members), error: isError },
    preemption: undefined,
  };
}

export function statusOf(error: unknown): Status {
  if (error instanceof PluginFailure) return error.status;
  return new Status('Error', `the attempt failed: ${messageOf(error)}`, '', error);
}

export function refusedBy(members: readonly Pod[], status: Status, candidate: Candidate): Refused {
  const isError = status.code === 'Error';
  const { plugins, pending } = refusersOf(status);
  const prefix = candidate.kind === 'gang' ? `PodGroup ${candidate.gang.key} cannot start: ` : '';
  return {
    kind: 'refused',
    pods: members,
    verdict: {
      reason: isError ? 'SchedulerError' : 'Unschedulable',
      message: `${prefix}${status.message}.`,
      waitsFor: isError ? 'error' : 'permit',
    },
    failure: {
      refusedBy: plugins,
      pending,
      refusedPods: oneOfEachKind(members),
      error: isError,
    },
    preemption: undefined,
  };
}

/** One sentence for every member: which of them finds no node, and why, counted over the nodes. */
export function describeRefusal(candidate: Candidate, diagnosis: Diagnosis, placed: number, needed: number): string {
  if (candidate.kind === 'pod') return describeDiagnosis(diagnosis);
  const cannot = `PodGroup ${candidate.gang.key} cannot start`;
  if (diagnosis.refusal.kind === 'pod') return `${cannot}: ${diagnosis.refusal.status.message}.`;
  const after = placed === 0 ? '' : `with ${placed} of ${needed} members placed, `;
  return `${cannot}: ${after}${diagnosis.pod.name} finds no node: ${describeDiagnosis(diagnosis)}`;
}

/** Room for any member may be what the refused one lacks, so hints are asked about each kind. */
export function oneOfEachKind(members: readonly Pod[]): readonly Pod[] {
  // Whoever has volumes may wait for claims of its own.
  return [...new Map(members.map((pod) => [pod.volumes.length === 0 ? pod.template : pod, pod])).values()];
}

export function noDiagnosis(pod: Pod): Diagnosis {
  return {
    pod,
    nodeCount: 0,
    refusal: { kind: 'nodes', reasons: new Map(), resolvable: false },
    plugins: new Set(),
  };
}
