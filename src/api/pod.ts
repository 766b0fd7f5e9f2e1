import type { NodeFeature, RawFeatureSpec } from './node-features.ts';
import type { MembershipDisagreement } from './pod-group-membership.ts';
import type { RawRequestSpec, RawRequestStatus } from './pod-requests.ts';
import type { ResourceList } from './resource-list.ts';
import type { LabelSelector } from './label-selector.ts';
import type { PodVolume, RawPodVolume } from './pod-volume.ts';
import type { NodeSelectorTerm } from './node-selector.ts';
import { cutText, maxMessageLength, safeName } from '../base/safe-text.ts';
import { sameLabels } from './same-labels.ts';
import type { PredictedStart } from './verdict.ts';

export type { NodeSelectorRequirement, NodeSelectorTerm } from './node-selector.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

export interface NodeAffinityRules {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
  };
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly preference: NodeSelectorTerm;
  }[];
}

/** An inter-pod affinity or anti-affinity term, as in the API. */
export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector | null;
  readonly namespaces?: readonly string[] | null;
  readonly namespaceSelector?: LabelSelector | null;
  readonly topologyKey: string;
}

export interface PodAffinityTerms {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | null;
  readonly preferredDuringSchedulingIgnoredDuringExecution?:
    readonly { readonly weight: number; readonly podAffinityTerm: PodAffinityTerm }[] | null;
}

/** The inter-pod affinity and anti-affinity of a pod. */
export interface PodAffinityRules {
  readonly podAffinity?: PodAffinityTerms | null;
  readonly podAntiAffinity?: PodAffinityTerms | null;
}

/** A topology spread constraint, as in the API. */
export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector | null;
  readonly minDomains?: number | null;
  readonly nodeAffinityPolicy?: string | null;
  readonly nodeTaintsPolicy?: string | null;
  readonly matchLabelKeys?: readonly string[] | null;
}

/** Controller kinds whose selectors define which pods belong together, for default spread constraints. */
export type SelectingController = 'ReplicationController' | 'ReplicaSet' | 'StatefulSet';

export interface HostPort {
  readonly protocol: string;
  readonly hostIP: string;
  readonly port: number;
}

/**
 * The part of a pod that identical pods share and node-local plugins read. Interned: pods from one template share one object, so a gang of
 * a thousand pods costs one.
 */
export interface PodTemplate {
  /** Includes the pod's own slot (pods: 1). */
  readonly requests: ResourceList;
  /** For scoring: a container without a request counts as 100m CPU and 200 MiB. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
  readonly nodeSelector: Readonly<Record<string, string>> | undefined;
  readonly nodeAffinity: NodeAffinityRules | undefined;
  readonly tolerations: readonly Toleration[];
  readonly hostPorts: readonly HostPort[];
  /** Undefined if the pod has neither affinity nor anti-affinity terms. */
  readonly podAffinity: PodAffinityRules | undefined;
  readonly topologySpread: readonly TopologySpreadConstraint[];
  /** The pod's controller if it has one of these kinds. */
  readonly controller: { readonly kind: SelectingController; readonly name: string } | undefined;
  /** Image names of init containers, containers and volumes, one entry each, as nodes report them. Empty unless a plugin reads images. */
  readonly images: readonly string[];
  /** Names of the resource claims in the pod spec. */
  readonly resourceClaims: readonly string[];
  /** Features that the pod requires of the kubelet, in order. */
  readonly neededFeatures: readonly NodeFeature[];
  readonly terminationGracePeriodSeconds: number;
  /** True if its preemptionPolicy is Never: no pod is evicted for it. */
  readonly neverPreempts?: true;
  /** True if a DaemonSet controls it, so that its replacement can run on no other node. */
  readonly isOfDaemonSet?: true;
  /** True for a static pod, which the API server cannot stop. */
  readonly isStatic?: true;
}

export interface PodScheduledCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Transition time, in milliseconds since the epoch. Only for bound members of a group. */
  readonly since?: number;
}

/** The mark of a preemption on its victim: the condition DisruptionTarget with status True and reason PreemptionByScheduler. */
export interface PreemptionMark {
  /** The scheduler that set it, according to the message. Empty if the message names none. */
  readonly schedulerName: string;
  /** Transition time, in milliseconds since the epoch; 0 if the condition has none. */
  readonly since: number;
}

/** The owner that controls a pod and recreates it. Not an interface, because it is interned as a record of texts. */
export type ControllerReference = Readonly<Record<'kind' | 'name' | 'uid', string>>;

/** The scheduler's projection of a pod: only the fields that it reads. */
export interface Pod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** namespace/name */
  readonly key: string;
  readonly resourceVersion: string;
  /** Milliseconds since the epoch. */
  readonly creationTimestamp: number;
  /** Pods with equal labels share one object. */
  readonly labels: Readonly<Record<string, string>>;
  /** Key of the group that schedules the pod, whether or not it exists; see `groupKeyOf`. */
  readonly podGroupKey: string | undefined;
  /** Key of the group in spec.schedulingGroup, if the label or annotation names another group. */
  readonly otherGroupKey: string | undefined;
  /** Set if label and annotation name different groups. The label wins. */
  readonly membershipDisagreement: MembershipDisagreement | undefined;
  readonly schedulerName: string;
  readonly priority: number;
  /** Empty until bound. */
  readonly nodeName: string;
  readonly nominatedNodeName: string;
  readonly phase: PodPhase;
  readonly deleting: boolean;
  /** When a pod that is being deleted should be gone, in seconds since the epoch; 0: it is not, or its deletionTimestamp is no time. */
  readonly deletionTimestamp: number;
  readonly schedulingGates: readonly string[];
  readonly podScheduled: PodScheduledCondition | undefined;
  /** From the condition with the predicted start of the pod's entity. Undefined once the pod is bound. */
  readonly predictedStart: PredictedStart | undefined;
  /** UID of the PodGroup for which the pod was bound, from the Binding's annotation. */
  readonly plannedGroupUid: string | undefined;
  /** minMember of that PodGroup when its plan was bound, from the annotation. */
  readonly plannedQuorum: number | undefined;
  /** When the kubelet accepted the pod, in seconds since the epoch, which take less memory than milliseconds; 0: not yet. */
  readonly startedAt: number;
  /** Annotation controller.kubernetes.io/pod-deletion-cost: among a group's members of equal priority, those with the lowest cost are evicted first. */
  readonly deletionCost: number;
  /** How long the pod runs from its start, in seconds, from the annotation tutti.dev/runtime; 0: not declared, or invalid. */
  readonly runtimeSeconds: number;
  /** Set if the annotation tutti.dev/runtime declares no run time: its value, cut. */
  readonly invalidRuntime: string | undefined;
  /** Set if the pod has no group, but a key by which another gang scheduler would find one; see `keyOfOtherScheduler`. */
  readonly groupKeyOfOther: string | undefined;
  /** spec.activeDeadlineSeconds: the kubelet ends the pod this long after its start; 0: none. */
  readonly deadlineSeconds: number;
  /** Pods with the same controller share one object. Without reservations, it has no name: only whether there is a controller counts. */
  readonly controller: ControllerReference | undefined;
  /** status.reason of a failed pod. A node that rejects a pod at admission sets it. */
  readonly failedBecause: string | undefined;
  /** Reason of the condition DisruptionTarget, if the condition is True. */
  readonly disruptedBy: string | undefined;
  /** Set while the pod carries the mark of a preemption. */
  readonly preemptionMark: PreemptionMark | undefined;
  /** Volumes that affect scheduling. Not in the template, because otherwise identical pods often have their own claims. */
  readonly volumes: readonly PodVolume[];
  readonly template: PodTemplate;
}

/** Reason of the condition DisruptionTarget on the victims of a preemption. */
export const preemptionReason = 'PreemptionByScheduler';
/** The same for pods that a user evicts by the API. */
export const evictionReason = 'EvictionByEvictionAPI';

/** Annotations that a Binding sets on the pod, so that the record of a plan survives the scheduler. */
export const planAnnotations = {
  groupUid: 'tutti.dev/pod-group-uid',
  /** ID of the plan. All pods that one plan bound have the same value. */
  plan: 'tutti.dev/plan',
  /** minMember when the first Binding of the plan was sent. */
  quorum: 'tutti.dev/quorum',
} as const;

/** Returns the annotation with the PodGroup's UID. Users can write it too: text that is no UID matches no group, and is cut. */
export function plannedGroupUidOf(annotations: Readonly<Record<string, string>> | undefined): string | undefined {
  const uid = annotations?.[planAnnotations.groupUid];
  return uid === undefined ? undefined : safeName(uid);
}

/** Returns the texts of a condition. They are as short as those that Tutti writes, or one character longer, so that they differ. */
export function conditionTextsOf({ status, reason = '', message = '' }: RawCondition): PodScheduledCondition {
  return { status, reason: safeName(reason), message: cutText(message, maxMessageLength + 1) };
}

/** Returns the transition time of a PodScheduled condition that is True, because nothing reads it for others. */
export function boundSinceOf({ status, lastTransitionTime = '' }: RawCondition): { since?: number } {
  const since = status === 'True' ? Date.parse(lastTransitionTime) : NaN;
  return Number.isNaN(since) ? {} : { since };
}

/** Returns the quorum annotation, or undefined for a pod that was bound alone or by another scheduler. */
export function plannedQuorumOf(annotations: Readonly<Record<string, string>> | undefined): number | undefined {
  const quorum = Number(annotations?.[planAnnotations.quorum]);
  return Number.isSafeInteger(quorum) && quorum > 0 ? quorum : undefined;
}

export function isTerminal(pod: { readonly phase: PodPhase }): boolean {
  return pod.phase === 'Succeeded' || pod.phase === 'Failed';
}

/**
 * Returns whether the pod succeeded by itself. A pod that had to leave its node may exit with 0 during its grace period, too: it is being deleted. The mark
 * of a preemption does not decide, because it may be written after the pod has ended.
 */
export function succeededByItself(pod: Pick<Pod, 'phase' | 'deleting'>): boolean {
  return pod.phase === 'Succeeded' && !pod.deleting;
}

/**
 * Returns whether a bound or terminal pod was bound for a group object with another UID: an earlier group of the same name, or the group
 * that its label named then. Returns false for pods that Tutti did not bind.
 */
export function isBoundForAnother(pod: Pick<Pod, 'plannedGroupUid' | 'nodeName' | 'phase'>, groupUid: string): boolean {
  const isBound = pod.nodeName !== '' || isTerminal(pod);
  return isBound && pod.plannedGroupUid !== undefined && pod.plannedGroupUid !== groupUid;
}

/** Returns whether the pod in the API still waits for a node: not bound, not terminal and not being deleted. */
export function isUnbound(pod: Pod): boolean {
  return pod.nodeName === '' && !pod.deleting && !isTerminal(pod);
}

/**
 * Returns whether two versions of a pod are equal for scheduling. Ignores Tutti's own verdict, the change from Pending to Running, and
 * container statuses.
 */
export function podsEqualForScheduling(a: Pod, b: Pod): boolean {
  return (
    a.template === b.template &&
    a.nodeName === b.nodeName &&
    a.nominatedNodeName === b.nominatedNodeName &&
    a.podGroupKey === b.podGroupKey &&
    a.otherGroupKey === b.otherGroupKey &&
    a.plannedGroupUid === b.plannedGroupUid &&
    a.schedulerName === b.schedulerName &&
    a.priority === b.priority &&
    a.runtimeSeconds === b.runtimeSeconds &&
    a.deadlineSeconds === b.deadlineSeconds &&
    a.deleting === b.deleting &&
    isTerminal(a) === isTerminal(b) &&
    (a.phase === b.phase || !isTerminal(a)) &&
    a.schedulingGates.length === b.schedulingGates.length &&
    a.schedulingGates.every((gate, i) => gate === b.schedulingGates[i]) &&
    sameLabels(a.labels, b.labels)
  );
}

type RawContainer = NonNullable<RawRequestSpec['containers']>[number] &
  NonNullable<RawFeatureSpec['containers']>[number] & {
    readonly image?: string;
    readonly ports?: readonly { readonly hostPort?: number; readonly hostIP?: string; readonly protocol?: string }[];
  };

/** The fields of a v1 Pod that Tutti reads, in JSON. */
export interface RawPod {
  readonly metadata: {
    readonly uid: string;
    readonly namespace: string;
    readonly name: string;
    readonly resourceVersion: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name: string;
      readonly uid?: string;
      readonly controller?: boolean;
    }[];
  };
  readonly spec: Omit<RawRequestSpec & RawFeatureSpec, 'containers' | 'initContainers'> & {
    readonly containers?: readonly RawContainer[];
    readonly initContainers?: readonly RawContainer[];
    readonly schedulerName?: string;
    readonly priority?: number;
    readonly preemptionPolicy?: string;
    readonly schedulingGroup?: { readonly podGroupName?: string } | null;
    readonly nodeName?: string;
    readonly schedulingGates?: readonly { readonly name: string }[];
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly affinity?: { readonly nodeAffinity?: NodeAffinityRules } & PodAffinityRules;
    readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[] | null;
    readonly tolerations?: readonly Toleration[];
    readonly resourceClaims?: readonly { readonly name: string }[] | null;
    readonly volumes?: readonly RawPodVolume[] | null;
    readonly terminationGracePeriodSeconds?: number;
    readonly activeDeadlineSeconds?: number;
  };
  readonly status?: Omit<RawRequestStatus, 'conditions'> & {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly startTime?: string;
    readonly nominatedNodeName?: string;
    readonly conditions?: readonly RawCondition[];
  };
}

export interface RawCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}
