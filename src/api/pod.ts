import { neededFeatures } from './node-features.ts';
import type { NodeFeature, RawFeatureSpec } from './node-features.ts';
import { normalizedImageName } from './node-images.ts';
import { podGroupNameOf } from './pod-group-membership.ts';
import type { MembershipDisagreement } from './pod-group-membership.ts';
import { isBeingResized, podRequests, requestParts } from './pod-requests.ts';
import type { PodRequests, RawRequestSpec, RawRequestStatus } from './pod-requests.ts';
import { toResourceList } from './resource-list.ts';
import type { ResourceList } from './resource-list.ts';
import type { ResourceNames } from './resource-names.ts';
import type { LabelSelector } from './label-selector.ts';
import { podVolumesOf } from './pod-volume.ts';
import type { PodVolume, RawPodVolume } from './pod-volume.ts';
import type { NodeSelectorTerm } from './node-selector.ts';
import { LabelInterner } from './label-interner.ts';
import { WeakInterner } from '../base/weak-interner.ts';
import { sameLabels } from './same-labels.ts';

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

/** One wish to be, or not to be, where other pods are; as the API has it. */
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

/** What a pod says of other pods: beside which it is to be, and beside which not. */
export interface PodAffinityRules {
  readonly podAffinity?: PodAffinityTerms | null;
  readonly podAntiAffinity?: PodAffinityTerms | null;
}

/** How pods that a selector matches are to be spread; as the API has it. */
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

/** The kinds of controllers whose selector tells which pods belong together. */
export type SelectingController = 'ReplicationController' | 'ReplicaSet' | 'StatefulSet';

export interface HostPort {
  readonly protocol: string;
  readonly hostIP: string;
  readonly port: number;
}

/**
 * What identical pods have in common and node-local plugins read. Interned: pods made from one template share one object,
 * so a gang of a thousand costs one.
 */
export interface PodTemplate {
  /** The pod's own slot (pods: 1) included. */
  readonly requests: ResourceList;
  /** For scoring: containers without a request count 100m CPU and 200 MiB. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
  readonly nodeSelector: Readonly<Record<string, string>> | undefined;
  readonly nodeAffinity: NodeAffinityRules | undefined;
  readonly tolerations: readonly Toleration[];
  readonly hostPorts: readonly HostPort[];
  /** Undefined when it says nothing of other pods. */
  readonly podAffinity: PodAffinityRules | undefined;
  readonly topologySpread: readonly TopologySpreadConstraint[];
  /** Its controller, in its own namespace, where that is of one of these kinds. */
  readonly controller: { readonly kind: SelectingController; readonly name: string } | undefined;
  /** Of init containers, containers and volumes, one entry for each, as nodes name them. Empty unless somebody reads them. */
  readonly images: readonly string[];
  /** Names of the resource claims that it has to be given. */
  readonly resourceClaims: readonly string[];
  /** What not every node's kubelet can do; in order. */
  readonly neededFeatures: readonly NodeFeature[];
}

export interface PodScheduledCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Of a member of a group that is on a node: since when, in milliseconds since the epoch. */
  readonly since?: number;
}

/** The scheduler's projection of a pod: what it reads, nothing else. */
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
  /** namespace/name of the PodGroup it names, whether or not that exists. */
  readonly podGroupKey: string | undefined;
  /** Set when label and annotation name different groups (the label wins). */
  readonly membershipDisagreement: MembershipDisagreement | undefined;
  readonly schedulerName: string;
  readonly priority: number;
  /** Empty until bound. */
  readonly nodeName: string;
  readonly nominatedNodeName: string;
  readonly phase: PodPhase;
  readonly deleting: boolean;
  readonly schedulingGates: readonly string[];
  readonly podScheduled: PodScheduledCondition | undefined;
  /** uid of the PodGroup that it was bound for, as the Binding's annotation says. */
  readonly plannedGroupUid: string | undefined;
  /** minMember of that PodGroup when it was bound with others, as the annotation says. */
  readonly plannedQuorum: number | undefined;
  /** A controller owns it, and makes another when it goes. */
  readonly isControlled: boolean;
  /** Why it has failed, as status.reason says: what a node writes that has not admitted it. */
  readonly failedBecause: string | undefined;
  /** Why it has to go, or had to: the reason of its condition DisruptionTarget. */
  readonly disruptedBy: string | undefined;
  /** Those that scheduling has to do with. Not in the template: the claims of pods that are alike otherwise are often their own. */
  readonly volumes: readonly PodVolume[];
  readonly template: PodTemplate;
}

/** Annotations that a Binding leaves on the pod, so that the truth about a plan survives the scheduler. */
export const planAnnotations = {
  groupUid: 'tutti.dev/pod-group-uid',
  /** Identifies the plan: all pods bound by one decision carry the same value. */
  plan: 'tutti.dev/plan',
  /** minMember when the plan was made. */
  quorum: 'tutti.dev/quorum',
} as const;

/** Undefined: it was bound by itself, or by nobody who says. */
export function plannedQuorumOf(annotations: Readonly<Record<string, string>> | undefined): number | undefined {
  const quorum = Number(annotations?.[planAnnotations.quorum]);
  return Number.isSafeInteger(quorum) && quorum > 0 ? quorum : undefined;
}

export function isTerminal(pod: { readonly phase: PodPhase }): boolean {
  return pod.phase === 'Succeeded' || pod.phase === 'Failed';
}

/**
 * It is on a node, or has ended, for another group object than the one with this uid: for a former one of the same name, or
 * for the one that its label named then. One that nobody of ours bound is never said to be.
 */
export function isBoundForAnother(pod: Pick<Pod, 'plannedGroupUid' | 'nodeName' | 'phase'>, groupUid: string): boolean {
  const isBound = pod.nodeName !== '' || isTerminal(pod);
  return isBound && pod.plannedGroupUid !== undefined && pod.plannedGroupUid !== groupUid;
}

/** As the API shows it the pod still waits for a node: it is on none, and neither ended nor being deleted. */
export function isUnbound(pod: Pod): boolean {
  return pod.nodeName === '' && !pod.deleting && !isTerminal(pod);
}

/**
 * Whether nothing that scheduling reads differs: our own verdict, a phase on the way from Pending to Running and what the kubelet
 * says of containers change only the rest.
 */
export function podsScheduleAlike(a: Pod, b: Pod): boolean {
  return (
    a.template === b.template &&
    a.nodeName === b.nodeName &&
    a.nominatedNodeName === b.nominatedNodeName &&
    a.podGroupKey === b.podGroupKey &&
    a.plannedGroupUid === b.plannedGroupUid &&
    a.schedulerName === b.schedulerName &&
    a.priority === b.priority &&
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

/** The parts of a v1 Pod that are read, as JSON gives them. */
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
    readonly nodeName?: string;
    readonly schedulingGates?: readonly { readonly name: string }[];
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly affinity?: { readonly nodeAffinity?: NodeAffinityRules } & PodAffinityRules;
    readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[] | null;
    readonly tolerations?: readonly Toleration[];
    readonly resourceClaims?: readonly { readonly name: string }[] | null;
    readonly volumes?: readonly RawPodVolume[] | null;
  };
  readonly status?: Omit<RawRequestStatus, 'conditions'> & {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly nominatedNodeName?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

/** Only the time of a pod that is on a node is read, so only that is kept. */
function sinceOf(condition: { readonly status: string; readonly lastTransitionTime?: string }): { since?: number } {
  const since = condition.status === 'True' ? Date.parse(condition.lastTransitionTime ?? '') : NaN;
  return Number.isNaN(since) ? {} : { since };
}

const noLabels: Readonly<Record<string, string>> = Object.freeze({});
const nothing: readonly never[] = Object.freeze([]);
/** Pods of so many kinds in turn are recognised by what their specs say, where that is no longer than so many characters. */
const recentTexts = 256;
const longestText = 8_192;
const phases: readonly string[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] satisfies PodPhase[];

/** Makes pod projections; one per process, because the projections it makes share templates and resource ids. */
export class PodProjector {
  readonly #names: ResourceNames;
  readonly #readsImages: boolean;
  /** canonical text of a template -> the template */
  readonly #templates = new WeakInterner<PodTemplate>();
  /**
   * What specs read lately say -> the template, while it lives. The same can be said in many ways, so unlike the canonical texts these
   * are not kept for as long as somebody holds the template.
   */
  readonly #recent = new Map<string, WeakRef<PodTemplate>>();
  readonly #labels = new LabelInterner();

  /** `images`: whether somebody reads them; by default they are not kept. */
  constructor(names: ResourceNames, { images = false }: { readonly images?: boolean } = {}) {
    this.#names = names;
    this.#readsImages = images;
  }

  /** Throws (TypeError, QuantityError) for what is not a pod; the message names the field. */
  project(input: unknown): Pod {
    const raw = input as RawPod;
    const { metadata, spec, status } = raw;
    for (const field of ['uid', 'namespace', 'name', 'resourceVersion'] as const) {
      if (typeof metadata[field] !== 'string') throw new TypeError(`metadata.${field} is not a string`);
    }
    const group = podGroupNameOf(metadata.labels, metadata.annotations);
    const scheduled = status?.conditions?.find((condition) => condition.type === 'PodScheduled');
    const disruption = status?.conditions?.find((condition) => condition.type === 'DisruptionTarget');
    return {
      uid: metadata.uid,
      namespace: metadata.namespace,
      name: metadata.name,
      key: `${metadata.namespace}/${metadata.name}`,
      resourceVersion: metadata.resourceVersion,
      creationTimestamp: metadata.creationTimestamp === undefined ? 0 : Date.parse(metadata.creationTimestamp),
      labels: metadata.labels === undefined ? noLabels : this.#labels.intern(metadata.labels),
      podGroupKey: group === undefined ? undefined : `${metadata.namespace}/${group.name}`,
      membershipDisagreement: group?.disagreement,
      schedulerName: spec.schedulerName ?? 'default-scheduler',
      priority: spec.priority ?? 0,
      nodeName: spec.nodeName ?? '',
      nominatedNodeName: status?.nominatedNodeName ?? '',
      phase: phases.includes(status?.phase ?? '') ? (status!.phase as PodPhase) : 'Pending',
      deleting: metadata.deletionTimestamp !== undefined,
      schedulingGates: spec.schedulingGates?.map((gate) => gate.name) ?? nothing,
      podScheduled: scheduled && {
        status: scheduled.status,
        reason: scheduled.reason ?? '',
        message: scheduled.message ?? '',
        ...(group !== undefined && sinceOf(scheduled)),
      },
      plannedGroupUid: metadata.annotations?.[planAnnotations.groupUid],
      plannedQuorum: plannedQuorumOf(metadata.annotations),
      isControlled: metadata.ownerReferences?.some((owner) => owner.controller === true) ?? false,
      failedBecause: status?.phase === 'Failed' ? status.reason : undefined,
      disruptedBy: disruption?.status === 'True' ? (disruption.reason ?? '') : undefined,
      volumes: podVolumesOf(metadata.name, spec.volumes),
      template: this.#template(raw),
    };
  }

  #template({ metadata, spec, status }: RawPod): PodTemplate {
    const rest = {
      nodeSelector: spec.nodeSelector,
      nodeAffinity: spec.affinity?.nodeAffinity,
      tolerations: spec.tolerations ?? nothing,
      hostPorts: hostPortsOf(spec),
      podAffinity: podAffinityOf(spec.affinity),
      topologySpread: spec.topologySpreadConstraints ?? nothing,
      controller: controllerOf(metadata.ownerReferences),
      images: this.#readsImages ? imagesOf(spec) : nothing,
      resourceClaims: spec.resourceClaims?.map(({ name }) => name) ?? nothing,
      neededFeatures: neededFeatures(spec),
    };
    if (status !== undefined && isBeingResized(spec, status)) return this.#interned(podRequests(spec, status), rest);
    const text = JSON.stringify([requestParts(spec), rest]);
    const known = this.#recent.get(text)?.deref();
    if (known !== undefined) return known;
    const template = this.#interned(podRequests(spec), rest);
    if (text.length > longestText) return template;
    if (this.#recent.size >= recentTexts) this.#recent.clear();
    this.#recent.set(text, new WeakRef(template));
    return template;
  }

  #interned({ sum, ...scoring }: PodRequests, rest: Omit<PodTemplate, keyof PodRequests | 'requests'>): PodTemplate {
    sum.set('pods', 1);
    const template: PodTemplate = { requests: toResourceList(sum, this.#names), ...scoring, ...rest };
    return this.#templates.intern(JSON.stringify(template), template);
  }
}

function podAffinityOf(affinity: RawPod['spec']['affinity']): PodAffinityRules | undefined {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  if (!hasTerms(podAffinity) && !hasTerms(podAntiAffinity)) return undefined;
  return {
    ...(hasTerms(podAffinity) && { podAffinity }),
    ...(hasTerms(podAntiAffinity) && { podAntiAffinity }),
  };
}

function hasTerms(terms: PodAffinityTerms | null | undefined): terms is PodAffinityTerms {
  const required = terms?.requiredDuringSchedulingIgnoredDuringExecution?.length ?? 0;
  return required + (terms?.preferredDuringSchedulingIgnoredDuringExecution?.length ?? 0) > 0;
}

/** apiVersion and kind -> the kind, of those whose selectors are read */
const selectingControllers: Readonly<Record<string, SelectingController>> = {
  'v1 ReplicationController': 'ReplicationController',
  'apps/v1 ReplicaSet': 'ReplicaSet',
  'apps/v1 StatefulSet': 'StatefulSet',
};

function controllerOf(owners: RawPod['metadata']['ownerReferences']): PodTemplate['controller'] {
  const owner = owners?.find(({ controller }) => controller === true);
  if (owner === undefined) return undefined;
  const key = `${owner.apiVersion} ${owner.kind}`;
  return Object.hasOwn(selectingControllers, key) ? { kind: selectingControllers[key]!, name: owner.name } : undefined;
}

function imagesOf({ initContainers, containers, volumes }: RawPod['spec']): readonly string[] {
  const ofContainers = [...(initContainers ?? nothing), ...(containers ?? nothing)].map(({ image }) => image ?? '');
  const ofVolumes = (volumes ?? nothing).flatMap(({ image }) => (image === undefined ? [] : [image.reference ?? '']));
  return [...ofContainers, ...ofVolumes].map(normalizedImageName);
}

/** The host ports of the containers that run as long as the pod: init containers only when they are sidecars. */
function hostPortsOf(spec: RawPod['spec']): readonly HostPort[] {
  const sidecars = spec.initContainers?.filter((container) => container.restartPolicy === 'Always') ?? nothing;
  const ports = [...sidecars, ...(spec.containers ?? nothing)]
    .flatMap((container) => container.ports ?? nothing)
    .filter((port) => (port.hostPort ?? 0) > 0);
  if (ports.length === 0) return nothing;
  return ports.map((port) => ({
    protocol: port.protocol === undefined || port.protocol === '' ? 'TCP' : port.protocol,
    hostIP: port.hostIP === undefined || port.hostIP === '' ? '0.0.0.0' : port.hostIP,
    port: port.hostPort!,
  }));
}
