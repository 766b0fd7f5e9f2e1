import { MalformedObjectError } from '../api/malformed-object-error.ts';
import { safeMessage, safeName } from '../base/safe-text.ts';
import { lookAlikesOf, nativeGroupKeyOf, podGroupNameOf } from '../api/pod-group-membership.ts';
import type { LookAlike } from '../api/pod-group-membership.ts';
import { boundSinceOf, conditionTextsOf, plannedGroupUidOf, plannedQuorumOf } from '../api/pod.ts';
import type { PodPhase, PodScheduledCondition, RawPod } from '../api/pod.ts';
import { predictedStartOf, sameStart } from '../api/predicted-start.ts';
import type { PredictedStart } from '../api/verdict.ts';

/** The parts of a pod from which the controller derives a PodGroup's status. */
export interface MemberPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** namespace/name of the PodGroup in the label or annotation, whether or not it exists. */
  readonly groupKey: string | undefined;
  /** Key of the PodGroup in spec.schedulingGroup, whether or not it exists; see `groupKeyOf`. The label does not change it. */
  readonly nativeGroupKey: string | undefined;
  /** Only for a pod with a nativeGroupKey. */
  readonly schedulerName: string | undefined;
  /** What may have been meant to make the pod a member of a group; empty for a member. */
  readonly lookAlikes: readonly LookAlike[];
  /** `Job red`: the controller of a pod with look-alikes; undefined for other pods. */
  readonly controlledBy: string | undefined;
  /** uid of the PodGroup whose plan bound the pod, from the Binding's annotation. */
  readonly plannedGroupUid: string | undefined;
  /** minMember of that PodGroup when its plan bound the pod, from the annotation. */
  readonly plannedQuorum: number | undefined;
  readonly phase: PodPhase;
  /** Empty until bound. */
  readonly nodeName: string;
  /** Its Ready condition is True. */
  readonly ready: boolean;
  /** Deletion has started: the pod may still run for its grace period. */
  readonly deleting: boolean;
  /** The pod has scheduling gates, so it may not be scheduled yet. */
  readonly gated: boolean;
  readonly podScheduled: PodScheduledCondition | undefined;
  /** When the scheduler expects its group to start. */
  readonly predictedStart: PredictedStart | undefined;
  /** status.reason of a failed pod; empty if the pod has not failed or has no reason. */
  readonly failedBecause: string;
  /** Reason of the DisruptionTarget condition. */
  readonly disruptedBy: string | undefined;
  /** namespace/name of its owners, sorted and joined by commas; empty without owners. Safe to show. */
  readonly owners: string;
}

type RawMemberPod = Pick<RawPod, 'metadata' | 'spec' | 'status'>;

const none: readonly never[] = Object.freeze([]);
const phases: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

/** Projects a pod from JSON. Throws MalformedObjectError, which names the invalid field. */
export function projectMemberPod(input: unknown): MemberPod {
  const { metadata, spec, status } = input as Partial<RawMemberPod>;
  for (const field of ['uid', 'namespace', 'name'] as const) {
    const key = metadata?.namespace === undefined ? '' : `${metadata.namespace}/${metadata.name}`;
    if (typeof metadata?.[field] !== 'string') {
      throw new MalformedObjectError('Pod', key, `metadata.${field}`, 'must be a string');
    }
  }
  const { uid, namespace, name, labels, annotations, ownerReferences, deletionTimestamp } = metadata!;
  const group = podGroupNameOf(labels, annotations);
  const nativeGroupKey = nativeGroupKeyOf({ namespace, schedulingGroup: spec?.schedulingGroup });
  const isMember = group !== undefined || nativeGroupKey !== undefined;
  const lookAlikes = isMember ? none : lookAlikesOf(labels, annotations);
  const controller = lookAlikes.length === 0 ? undefined : ownerReferences?.find((owner) => owner.controller === true);
  const conditionOf = (type: string): PodScheduledCondition | undefined => {
    const condition = status?.conditions?.find((candidate) => candidate.type === type);
    return condition && { ...conditionTextsOf(condition), ...(type === 'PodScheduled' && boundSinceOf(condition)) };
  };
  const disruption = isMember ? conditionOf('DisruptionTarget') : undefined;
  return {
    uid,
    namespace,
    name,
    groupKey: group === undefined ? undefined : `${namespace}/${group.name}`,
    nativeGroupKey,
    schedulerName: nativeGroupKey === undefined ? undefined : safeName(spec?.schedulerName ?? 'default-scheduler'),
    lookAlikes,
    controlledBy: controller && `${safeName(controller.kind ?? '')} ${safeName(controller.name)}`,
    plannedGroupUid: plannedGroupUidOf(annotations),
    plannedQuorum: plannedQuorumOf(annotations),
    phase: phases.find((phase) => phase === status?.phase) ?? 'Pending',
    nodeName: spec?.nodeName ?? '',
    ready: conditionOf('Ready')?.status === 'True',
    deleting: deletionTimestamp !== undefined && deletionTimestamp !== null,
    gated: (spec?.schedulingGates ?? none).length > 0,
    podScheduled: isMember ? conditionOf('PodScheduled') : undefined,
    predictedStart:
      group === undefined || spec?.nodeName !== undefined ? undefined : predictedStartOf(status?.conditions),
    failedBecause: status?.phase === 'Failed' ? safeName(status.reason ?? '') : '',
    disruptedBy: disruption?.status === 'True' ? disruption.reason : undefined,
    owners: safeMessage(
      (ownerReferences ?? none)
        .map((owner) => `${namespace}/${owner.name}`)
        .sort()
        .join(','),
    ),
  };
}

/** Returns whether two versions lead to the same status. */
export function isSameMemberPod(a: MemberPod, b: MemberPod): boolean {
  if (!isMember(a) && !isMember(b)) return sameLookAlikes(a.lookAlikes, b.lookAlikes);
  return (
    a.uid === b.uid &&
    a.groupKey === b.groupKey &&
    a.nativeGroupKey === b.nativeGroupKey &&
    a.plannedGroupUid === b.plannedGroupUid &&
    a.plannedQuorum === b.plannedQuorum &&
    a.phase === b.phase &&
    a.nodeName === b.nodeName &&
    a.ready === b.ready &&
    a.deleting === b.deleting &&
    a.gated === b.gated &&
    a.failedBecause === b.failedBecause &&
    a.disruptedBy === b.disruptedBy &&
    a.podScheduled?.status === b.podScheduled?.status &&
    a.podScheduled?.reason === b.podScheduled?.reason &&
    a.podScheduled?.message === b.podScheduled?.message &&
    sameStart(a.predictedStart, b.predictedStart) &&
    a.owners === b.owners
  );
}

function isMember({ groupKey, nativeGroupKey }: MemberPod): boolean {
  return groupKey !== undefined || nativeGroupKey !== undefined;
}

function sameLookAlikes(a: readonly LookAlike[], b: readonly LookAlike[]): boolean {
  return a.length === b.length && a.every(({ key, name }, at) => key === b[at]!.key && name === b[at]!.name);
}
