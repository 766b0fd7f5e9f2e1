import { invalidRuntimeOf, runtimeSecondsOf } from './declared-runtime.ts';
import { toEpochSeconds } from './kubernetes-time.ts';
import { neededFeatures } from './node-features.ts';
import { normalizedImageName } from './node-images.ts';
import { keyOfOtherScheduler, podGroupMembershipOf } from './pod-group-membership.ts';
import { isBeingResized, podRequests, requestParts } from './pod-requests.ts';
import type { PodRequests } from './pod-requests.ts';
import { toResourceList } from './resource-list.ts';
import type { ResourceNames } from './resource-names.ts';
import { podVolumesOf } from './pod-volume.ts';
import { predictedStartOf } from './predicted-start.ts';
import { RecordInterner } from './record-interner.ts';
import { cutText, safeName } from '../base/safe-text.ts';
import { WeakInterner } from '../base/weak-interner.ts';
import { boundSinceOf, conditionTextsOf, plannedGroupUidOf, plannedQuorumOf, preemptionReason } from './pod.ts';
import type {
  ControllerReference,
  HostPort,
  Pod,
  PodAffinityRules,
  PodAffinityTerms,
  PodPhase,
  PodTemplate,
  PreemptionMark,
  RawCondition,
  RawPod,
  SelectingController,
} from './pod.ts';

type RawOwner = NonNullable<RawPod['metadata']['ownerReferences']>[number];

/** kube-scheduler's message, and ours, begins with the name of the scheduler. */
function preemptionMarkOf(condition: RawCondition): PreemptionMark | undefined {
  const { status, reason, message = '', lastTransitionTime = '' } = condition;
  if (status !== 'True' || reason !== preemptionReason) return undefined;
  const end = message.indexOf(': preempting ');
  return {
    schedulerName: end < 0 ? '' : safeName(message.slice(0, end)),
    since: Date.parse(lastTransitionTime) || 0,
  };
}

/** The API server's default, which every pod from it has. */
const defaultGracePeriodSeconds = 30;
const noLabels: Readonly<Record<string, string>> = Object.freeze({});
const someController: ControllerReference = Object.freeze({ kind: '', name: '', uid: '' });
const nothing: readonly never[] = Object.freeze([]);
/** Number of spec texts that the projector remembers, and the maximum length of such a text in characters. */
const maxRecentTexts = 256;
const maxTextLength = 8_192;
const phases: readonly string[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] satisfies PodPhase[];

/** Creates pod projections. One instance per process, because its projections share templates and resource ids. */
export class PodProjector {
  readonly #names: ResourceNames;
  readonly #readsImages: boolean;
  readonly #readsControllers: boolean;
  /** canonical text of a template -> template */
  readonly #templates = new WeakInterner<PodTemplate>();
  /**
   * text of a recent spec -> template, weakly referenced. One template can have many spec texts, so unlike canonical texts they are not
   * kept as long as the template.
   */
  readonly #recent = new Map<string, WeakRef<PodTemplate>>();
  readonly #labels = new RecordInterner<Pod['labels']>();
  readonly #controllers = new RecordInterner<ControllerReference>();
  #latestGroupKey = '';

  /**
   * `images`: whether a plugin reads images. By default they are dropped. `controllers`: whether anything reads which controller a pod has.
   * If not, all controllers become one without a name.
   */
  constructor(names: ResourceNames, options: { readonly images?: boolean; readonly controllers?: boolean } = {}) {
    const { images = false, controllers = true } = options;
    this.#names = names;
    this.#readsImages = images;
    this.#readsControllers = controllers;
  }

  /** Projects a pod. Throws TypeError or QuantityError if it is malformed; the message names the field. */
  project(input: unknown): Pod {
    const raw = input as RawPod;
    const { metadata, spec, status } = raw;
    for (const field of ['uid', 'namespace', 'name', 'resourceVersion'] as const) {
      if (typeof metadata[field] !== 'string') throw new TypeError(`metadata.${field} is not a string`);
    }
    const { namespace, labels, annotations } = metadata;
    const group = podGroupMembershipOf({ namespace, labels, annotations, schedulingGroup: spec.schedulingGroup });
    const scheduled = status?.conditions?.find((condition) => condition.type === 'PodScheduled');
    const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
    const disruption = status?.conditions?.find((condition) => condition.type === 'DisruptionTarget');
    return {
      uid: metadata.uid,
      namespace: metadata.namespace,
      name: metadata.name,
      key: `${metadata.namespace}/${metadata.name}`,
      resourceVersion: metadata.resourceVersion,
      creationTimestamp: metadata.creationTimestamp === undefined ? 0 : Date.parse(metadata.creationTimestamp),
      labels: metadata.labels === undefined ? noLabels : this.#labels.intern(metadata.labels),
      podGroupKey: group && this.#sharedGroupKey(group.key),
      otherGroupKey: group?.otherKey,
      membershipDisagreement: group?.disagreement,
      schedulerName: spec.schedulerName === undefined ? 'default-scheduler' : safeName(spec.schedulerName),
      priority: spec.priority ?? 0,
      nodeName: spec.nodeName ?? '',
      nominatedNodeName: status?.nominatedNodeName ?? '',
      phase: phases.includes(status?.phase ?? '') ? (status!.phase as PodPhase) : 'Pending',
      deleting: metadata.deletionTimestamp !== undefined,
      deletionTimestamp: toEpochSeconds(metadata.deletionTimestamp),
      schedulingGates: spec.schedulingGates?.map((gate) => gate.name) ?? nothing,
      podScheduled: scheduled && {
        ...conditionTextsOf(scheduled),
        ...(group !== undefined && boundSinceOf(scheduled)),
      },
      predictedStart: spec.nodeName === undefined ? predictedStartOf(status?.conditions) : undefined,
      plannedGroupUid: plannedGroupUidOf(metadata.annotations),
      plannedQuorum: plannedQuorumOf(metadata.annotations),
      startedAt: toEpochSeconds(status?.startTime),
      deletionCost: deletionCostOf(metadata.annotations),
      runtimeSeconds: runtimeSecondsOf(metadata.annotations),
      invalidRuntime: invalidRuntimeOf(metadata.annotations),
      groupKeyOfOther: group === undefined ? keyOfOtherScheduler(metadata.labels, metadata.annotations) : undefined,
      deadlineSeconds: spec.activeDeadlineSeconds ?? 0,
      controller: controller && this.#referenceTo(controller),
      failedBecause: status?.phase === 'Failed' && status.reason !== undefined ? safeName(status.reason) : undefined,
      disruptedBy: disruption?.status === 'True' ? safeName(disruption.reason ?? '') : undefined,
      preemptionMark: disruption && preemptionMarkOf(disruption),
      volumes: podVolumesOf(metadata.name, spec.volumes),
      template: this.#template(raw, controller),
    };
  }

  #referenceTo({ kind = '', name, uid = '' }: RawOwner): ControllerReference {
    if (!this.#readsControllers) return someController;
    // The API server does not check the uid. This is more than the length of one that it assigned.
    return this.#controllers.intern({ kind: safeName(kind), name: safeName(name), uid: cutText(uid, 64) });
  }

  #template({ metadata, spec, status }: RawPod, controller: RawOwner | undefined): PodTemplate {
    const rest = {
      nodeSelector: spec.nodeSelector,
      nodeAffinity: spec.affinity?.nodeAffinity,
      tolerations: spec.tolerations ?? nothing,
      hostPorts: hostPortsOf(spec),
      podAffinity: podAffinityOf(spec.affinity),
      topologySpread: spec.topologySpreadConstraints ?? nothing,
      controller: controller && selectingController(controller),
      images: this.#readsImages ? imagesOf(spec) : nothing,
      resourceClaims: spec.resourceClaims?.map(({ name }) => name) ?? nothing,
      neededFeatures: neededFeatures(spec),
      terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? defaultGracePeriodSeconds,
      ...(spec.preemptionPolicy === 'Never' && { neverPreempts: true as const }),
      ...(controller?.kind === 'DaemonSet' && { isOfDaemonSet: true as const }),
      ...(isStatic(metadata.annotations) && { isStatic: true as const }),
    };
    if (status !== undefined && isBeingResized(spec, status)) return this.#interned(podRequests(spec, status), rest);
    const text = JSON.stringify([requestParts(spec), rest]);
    const known = this.#recent.get(text)?.deref();
    if (known !== undefined) return known;
    const template = this.#interned(podRequests(spec), rest);
    if (text.length > maxTextLength) return template;
    if (this.#recent.size >= maxRecentTexts) this.#recent.clear();
    this.#recent.set(text, new WeakRef(template));
    return template;
  }

  /** Members of a group mostly come one after the other. Equal keys that are one string take less memory, and are found faster in maps. */
  #sharedGroupKey(key: string): string {
    if (key !== this.#latestGroupKey) this.#latestGroupKey = key;
    return this.#latestGroupKey;
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

/** `apiVersion kind` -> kind, for kinds with selectors */
const selectingControllers: Readonly<Record<string, SelectingController>> = {
  'v1 ReplicationController': 'ReplicationController',
  'apps/v1 ReplicaSet': 'ReplicaSet',
  'apps/v1 StatefulSet': 'StatefulSet',
};

function selectingController(owner: RawOwner): PodTemplate['controller'] {
  const key = `${owner.apiVersion} ${owner.kind}`;
  return Object.hasOwn(selectingControllers, key)
    ? { kind: selectingControllers[key]!, name: safeName(owner.name) }
    : undefined;
}

/** The kubelet marks the API server's copies of static pods; it also marks where it read a pod itself. */
function isStatic(annotations: RawPod['metadata']['annotations']): boolean {
  if (annotations === undefined) return false;
  const source = annotations['kubernetes.io/config.source'];
  return annotations['kubernetes.io/config.mirror'] !== undefined || (source !== undefined && source !== 'api');
}

/** Ignores values that Kubernetes does not accept: it requires a 32-bit integer. */
function deletionCostOf(annotations: RawPod['metadata']['annotations']): number {
  const text = annotations?.['controller.kubernetes.io/pod-deletion-cost'];
  if (text === undefined || !/^-?\d{1,10}$/.test(text)) return 0;
  const cost = Number(text);
  return cost === (cost | 0) ? cost : 0;
}

function imagesOf({ initContainers, containers, volumes }: RawPod['spec']): readonly string[] {
  const ofContainers = [...(initContainers ?? nothing), ...(containers ?? nothing)].map(({ image }) => image ?? '');
  const ofVolumes = (volumes ?? nothing).flatMap(({ image }) => (image === undefined ? [] : [image.reference ?? '']));
  return [...ofContainers, ...ofVolumes].map(normalizedImageName);
}

/** Returns the host ports of containers and sidecars, but not of other init containers. */
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
