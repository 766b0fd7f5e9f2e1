import type { RawPod } from '../../../api/pod.ts';
import { cutText, maxMessageLength, safeName } from '../../../base/safe-text.ts';
import { projectMemberPod } from '../../../controller/member-pod.ts';
import type { MemberPod } from '../../../controller/member-pod.ts';

/** The parts of a pod from which its state, or that of its group, is derived. */
export interface StatusPod extends MemberPod {
  /** spec.schedulerName. */
  readonly scheduledBy: string;
  /** RFC 3339, if the object has it. */
  readonly createdAt: string | undefined;
  /** The condition PodScheduled, also of a pod without a group. */
  readonly condition: StatusCondition | undefined;
}

/** The parts of a condition that are shown. */
export interface StatusCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly since: string | undefined;
}

/** Projects a pod from JSON. Throws MalformedObjectError, which names the invalid field. */
export function projectStatusPod(input: unknown): StatusPod {
  const pod = projectMemberPod(input);
  const { metadata, spec, status } = input as Pick<RawPod, 'metadata' | 'status'> & { readonly spec?: RawPod['spec'] };
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return {
    ...pod,
    scheduledBy: safeName(spec?.schedulerName ?? 'default-scheduler'),
    createdAt: metadata.creationTimestamp,
    condition: scheduled && statusConditionOf(scheduled),
  };
}

/** Returns the parts of a condition that are shown; a message is cut to the length of those that Tutti writes. */
export function statusConditionOf(condition: {
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
}): StatusCondition {
  const { status, reason = '', message = '', lastTransitionTime } = condition;
  return {
    status,
    reason: safeName(reason),
    message: cutText(message, maxMessageLength),
    since: lastTransitionTime ?? undefined,
  };
}
