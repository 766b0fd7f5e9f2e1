import { projectPodGroup } from '../../api/pod-group.ts';
import type { PodGroup, PodGroupStatus } from '../../api/pod-group.ts';
import { podGroupLabel } from '../../api/pod-group-membership.ts';
import { planAnnotations } from '../../api/pod.ts';
import { predictedStartCondition } from '../../api/predicted-start.ts';
import { projectMemberPod } from '../member-pod.ts';
import type { MemberPod } from '../member-pod.ts';

/** Creation time of test groups, in milliseconds since the epoch. */
export const creation = Date.UTC(2026, 0, 1);

export interface TestGroup {
  readonly name?: string;
  readonly namespace?: string;
  readonly minMember?: number;
  readonly minResources?: Readonly<Record<string, string>>;
  readonly scheduleTimeoutSeconds?: number;
  readonly repairGraceSeconds?: number;
  readonly status?: PodGroupStatus;
  readonly resourceVersion?: string;
  readonly createdAt?: number;
}

/** Returns the PodGroup `default/group`, projected from the API's form. */
export function podGroup(options: TestGroup = {}): PodGroup {
  const { name = 'group', namespace = 'default', status, resourceVersion = '1' } = options;
  const { minMember, minResources, scheduleTimeoutSeconds, repairGraceSeconds } = options;
  return projectPodGroup({
    metadata: {
      ...{ name, namespace, uid: `uid-of-${namespace}-${name}`, resourceVersion, generation: 1 },
      creationTimestamp: new Date(options.createdAt ?? creation).toISOString(),
    },
    spec: { minMember, minResources, scheduleTimeoutSeconds, repairGraceSeconds },
    status,
  });
}

export interface TestMember {
  readonly uid?: string;
  readonly namespace?: string;
  readonly group?: string;
  readonly phase?: string;
  /** Default: bound unless Pending. */
  readonly nodeName?: string;
  readonly ready?: boolean;
  readonly deleting?: boolean;
  readonly gated?: boolean;
  /** Reason and message of its PodScheduled condition with status False. */
  readonly verdict?: { readonly reason: string; readonly message: string };
  /** Its predicted start: the confidence, and RFC 3339 or nothing. */
  readonly start?: readonly [confidence: string, time: string];
  readonly owners?: readonly string[];
  /** status.reason. */
  readonly reason?: string;
  /** Reason of its DisruptionTarget condition. */
  readonly disruptedBy?: string;
  /** uid of the PodGroup whose plan bound it. */
  readonly plannedGroupUid?: string;
  /** Its minMember at that time. */
  readonly plannedQuorum?: number;
}

/** Returns a projected pod of `default/group`. */
export function memberPod(options: TestMember = {}): MemberPod {
  const { uid = 'a', namespace = 'default', group = 'group', phase = 'Pending', ready, deleting, verdict } = options;
  return projectMemberPod({
    metadata: {
      ...{ uid, namespace, name: `pod-${uid}`, resourceVersion: '1', labels: { [podGroupLabel]: group } },
      annotations: {
        ...(options.plannedGroupUid && { [planAnnotations.groupUid]: options.plannedGroupUid }),
        ...(options.plannedQuorum && { [planAnnotations.quorum]: String(options.plannedQuorum) }),
      },
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ownerReferences: options.owners?.map((name) => ({ apiVersion: 'batch/v1', kind: 'Job', name, uid: name })),
    },
    spec: {
      nodeName: options.nodeName ?? (phase === 'Pending' ? undefined : 'node-a'),
      schedulingGates: options.gated ? [{ name: 'example.com/wait' }] : undefined,
    },
    status: {
      phase,
      ...(options.reason !== undefined && { reason: options.reason }),
      conditions: [
        ...(options.disruptedBy === undefined
          ? []
          : [{ type: 'DisruptionTarget', status: 'True', reason: options.disruptedBy }]),
        { type: 'Ready', status: ready ? 'True' : 'False' },
        ...(verdict === undefined ? [] : [{ type: 'PodScheduled', status: 'False', ...verdict }]),
        ...(options.start === undefined
          ? []
          : [{ type: predictedStartCondition, status: 'True', reason: options.start[0], message: options.start[1] }]),
      ],
    },
  });
}

/** Returns `count` members that differ only in their uid: prefix-0, prefix-1, … */
export function memberPods(count: number, options: TestMember = {}): MemberPod[] {
  return Array.from({ length: count }, (_, index) =>
    memberPod({ ...options, uid: `${options.uid ?? options.phase ?? 'Pending'}-${index}` }),
  );
}
