import type { JsonObject } from '../../../src/plane/apiserver/json.ts';

/** A pod as the checkers read it, without any code of the product. Amounts in millicores and MiB. */
export interface PlainPod {
  readonly key: string;
  readonly uid: string;
  readonly name: string;
  readonly version: number;
  readonly schedulerName: string;
  /** Name of the group that schedules it, as `groupNameIn` writes it; undefined: none. */
  readonly group: string | undefined;
  /** Name of the group of Kubernetes itself that its spec names, although its label names another group; undefined: none. */
  readonly otherGroup: string | undefined;
  /** What terms on pods find it by: the names of groups in its labels. */
  readonly labeledAs: readonly string[];
  readonly node: string;
  readonly phase: string;
  /** Its node did not admit it. */
  readonly isRejected: boolean;
  readonly isLeaving: boolean;
  readonly isGated: boolean;
  readonly milliCpu: number;
  readonly mebibytes: number;
  readonly gpus: number;
  readonly hostPorts: readonly number[];
  readonly zone: string | undefined;
  /** Tolerates the taint of reserved nodes. */
  readonly toleratesReserved: boolean;
  /** Required terms on where pods with a group's label are. */
  readonly terms: readonly PlainTerm[];
  /** Name of its PersistentVolumeClaim; undefined: it has no volume. */
  readonly claim: string | undefined;
  /** The extender decides on its nodes as well. */
  readonly isManaged: boolean;
  readonly priority: number;
  /** A controller recreates it. */
  readonly isControlled: boolean;
  readonly nominatedNode: string;
  /** From the annotations of the Binding: the uid of the group object, and the plan. */
  readonly boundFor: string | undefined;
  readonly plan: string | undefined;
  /** The quorum of the group at that time; NaN: not recorded. */
  readonly quorum: number;
  readonly scheduled: PlainCondition | undefined;
  /** The condition DisruptionTarget; undefined: the pod does not have it. */
  readonly disruption: PlainDisruption | undefined;
  readonly graceMs: number;
  /** Its preemptionPolicy is Never. */
  readonly neverPreempts: boolean;
  /** Name of the PodDisruptionBudget that matches it; undefined: none. */
  readonly budget: string | undefined;
  /** When it started, in milliseconds since the epoch; undefined: its status does not show it. */
  readonly startedAt: number | undefined;
  /** How long it runs at most by its deadline or its annotation, in milliseconds; undefined: it declares nothing valid. */
  readonly declaredMs: number | undefined;
  /** The predicted start that it shows for its entity. */
  readonly predicted: PlainPrediction | undefined;
}

export interface PlainCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339, in whole seconds. */
  readonly lastTransitionTime: string;
}

export interface PlainPrediction {
  readonly confidence: string;
  /** Milliseconds since the epoch; undefined: none yet. */
  readonly at: number | undefined;
}

export interface PlainDisruption {
  /** False: it was taken back. */
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

/**
 * A required term on the pods with a group's label in the pod's topology domain: none (`apart`), at least one (`together`), or at most one
 * more than in the emptiest domain (`spread`).
 */
export interface PlainTerm {
  readonly kind: 'apart' | 'together' | 'spread';
  readonly domain: 'node' | 'zone';
  readonly group: string;
}

export interface PlainNode {
  readonly name: string;
  readonly version: number;
  readonly milliCpu: number;
  readonly mebibytes: number;
  readonly gpus: number;
  readonly pods: number;
  readonly zone: string | undefined;
  /** Takes no new pods. */
  readonly isClosed: boolean;
  /** Takes only pods that tolerate its taint. */
  readonly isReserved: boolean;
}

export interface PlainGroup {
  /** As `groupNameIn` writes it. */
  readonly name: string;
  readonly isNative: boolean;
  readonly uid: string;
  readonly version: number;
  /** 0: its pods start one by one. */
  readonly minMember: number;
  /** Preemption evicts all members or none. */
  readonly goesWhole: boolean;
  /** What all members must have; undefined: they may differ. */
  readonly memberPriority: number | undefined;
  /** The scheduler evicts its members when it cannot complete the group. */
  readonly releases: boolean;
  readonly graceMs: number;
  readonly status: JsonObject;
}

/** Label of pods that the extender handles. */
export const managedLabel = 'simulation.example/managed';
/** Label of pods that a PodDisruptionBudget matches, with its name. */
export const budgetLabel = 'simulation.example/budget';
/** Annotation that declares how long a pod runs. */
export const runtimeAnnotation = 'tutti.dev/runtime';
export const hostnameLabel = 'kubernetes.io/hostname';
/** Label of members of a group of Kubernetes itself, with its name, for terms on them. The scheduler does not read it as a group. */
export const nativeLabel = 'simulation.example/native';
export const groupLabel = 'scheduling.x-k8s.io/pod-group';
export const gpuResource = 'nvidia.com/gpu';
/** Key of the taint of reserved nodes. */
export const reservedTaint = 'reserved';
/** object -> parsed pod; objects of the store never change */
const pods = new WeakMap<JsonObject, PlainPod>();

const nativePrefix = 'native:';

/** Returns the name by which the checkers know a group: with the namespace if that is not `default`, and with a prefix if it `isNative`. */
export function groupNameIn(
  namespace: string | undefined,
  name: string | undefined,
  isNative = false,
): string | undefined {
  if (name === undefined) return undefined;
  const prefix = isNative ? nativePrefix : '';
  return (namespace ?? 'default') === 'default' ? `${prefix}${name}` : `${prefix}${namespace}/${name}`;
}

/** Returns which object has this name among the checkers. */
export function groupObjectOf(name: string): {
  readonly resource: 'podgroups' | 'nativepodgroups';
  readonly key: string;
} {
  const isNative = name.startsWith(nativePrefix);
  const rest = isNative ? name.slice(nativePrefix.length) : name;
  return {
    resource: isNative ? 'nativepodgroups' : 'podgroups',
    key: rest.includes('/') ? rest : `default/${rest}`,
  };
}

/** Returns the name of the group that the scheduler calls so in a message. */
export function groupNameOfKey(key: string): string {
  const parts = key.split('/');
  const [namespace, name] = parts.slice(-2) as [string, string];
  return groupNameIn(namespace, name, parts.length > 2)!;
}

/** Reports whether a resource of the store is one of the two kinds of groups. */
export function isGroupResource(resource: string): boolean {
  return resource === 'podgroups.scheduling.x-k8s.io' || resource === 'podgroups.scheduling.k8s.io';
}

export function plainPod(object: JsonObject): PlainPod {
  let pod = pods.get(object);
  if (pod === undefined) {
    pod = readPod(object as any);
    pods.set(object, pod);
  }
  return pod;
}

function readPod({ metadata, spec, status }: any): PlainPod {
  const annotations = metadata.annotations ?? {};
  const condition = status?.conditions?.find(({ type }: any) => type === 'PodScheduled');
  const [container] = spec.containers;
  const [state] = status?.containerStatuses ?? [];
  const labeled = groupNameIn(metadata.namespace, metadata.labels?.[groupLabel]);
  const native = groupNameIn(metadata.namespace, spec.schedulingGroup?.podGroupName, true);
  const asked = [container.resources?.requests, state?.allocatedResources, state?.resources?.requests];
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    uid: metadata.uid,
    name: metadata.name,
    version: Number(metadata.resourceVersion),
    schedulerName: spec.schedulerName,
    group: labeled ?? native,
    otherGroup: labeled === undefined ? undefined : native,
    labeledAs: labelsOf(metadata.namespace, metadata.labels),
    node: spec.nodeName ?? '',
    phase: status?.phase ?? 'Pending',
    isRejected: status?.phase === 'Failed' && status.reason === 'OutOfcpu',
    isLeaving: metadata.deletionTimestamp !== undefined,
    isGated: (spec.schedulingGates ?? []).length > 0,
    milliCpu: Math.max(...asked.map((requests) => milliCores(requests?.cpu))),
    mebibytes: Math.max(...asked.map((requests) => mebibytes(requests?.memory))),
    gpus: Math.max(...asked.map((requests) => Number(requests?.[gpuResource] ?? 0))),
    hostPorts: (container.ports ?? []).flatMap(({ hostPort }: any) => (hostPort > 0 ? [hostPort] : [])),
    zone: spec.nodeSelector?.zone,
    toleratesReserved: (spec.tolerations ?? []).some(({ key }: any) => key === reservedTaint),
    terms: termsOf(spec, metadata.namespace),
    claim: spec.volumes?.find(({ persistentVolumeClaim }: any) => persistentVolumeClaim)?.persistentVolumeClaim
      .claimName,
    isManaged: metadata.labels?.[managedLabel] === 'true',
    priority: spec.priority ?? 0,
    isControlled: (metadata.ownerReferences ?? []).some(({ controller }: any) => controller === true),
    nominatedNode: status?.nominatedNodeName ?? '',
    boundFor: annotations['tutti.dev/pod-group-uid'],
    plan: annotations['tutti.dev/plan'],
    quorum: Number(annotations['tutti.dev/quorum']),
    scheduled: condition && { reason: '', message: '', lastTransitionTime: '', ...condition },
    disruption: disruptionOf(status),
    graceMs: (spec.terminationGracePeriodSeconds ?? 30) * 1000,
    neverPreempts: spec.preemptionPolicy === 'Never',
    budget: metadata.labels?.[budgetLabel],
    startedAt: status?.startTime === undefined ? undefined : Date.parse(status.startTime),
    declaredMs: declaredMsOf(spec, annotations),
    predicted: predictionOf(status),
  };
}

/** Reads the only formats of run times that the simulation writes. */
function declaredMsOf({ activeDeadlineSeconds }: any, annotations: any): number | undefined {
  if (activeDeadlineSeconds !== undefined) return activeDeadlineSeconds * 1000;
  const [, seconds] = /^(\d+)s?$/.exec(annotations[runtimeAnnotation] ?? '') ?? [];
  return Number(seconds) > 0 ? Number(seconds) * 1000 : undefined;
}

function predictionOf(status: any): PlainPrediction | undefined {
  const condition = status?.conditions?.find(({ type }: any) => type === 'tutti.dev/PredictedStart');
  if (condition?.status !== 'True') return undefined;
  const { reason: confidence, message = '' } = condition;
  return { confidence, at: message === '' ? undefined : Date.parse(message) };
}

function disruptionOf(status: any): PlainDisruption | undefined {
  const condition = status?.conditions?.find(({ type }: any) => type === 'DisruptionTarget');
  if (condition === undefined) return undefined;
  const { status: value, reason = '', message = '' } = condition;
  return { isTrue: value === 'True', reason, message };
}

function termsOf({ affinity, topologySpreadConstraints = [] }: any, namespace: string): PlainTerm[] {
  const of = (kind: PlainTerm['kind'], terms: readonly any[] = []): PlainTerm[] =>
    terms.map(({ topologyKey, labelSelector }) => ({
      kind,
      domain: topologyKey === hostnameLabel ? 'node' : 'zone',
      group: labelsOf(namespace, labelSelector.matchLabels)[0]!,
    }));
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  return [
    ...of('apart', affinity?.podAntiAffinity?.[required]),
    ...of('together', affinity?.podAffinity?.[required]),
    ...of('spread', topologySpreadConstraints),
  ];
}

function labelsOf(namespace: string, labels: any = {}): string[] {
  return [groupNameIn(namespace, labels[groupLabel]), groupNameIn(namespace, labels[nativeLabel], true)].filter(
    (name) => name !== undefined,
  );
}

export function plainNode(object: JsonObject): PlainNode {
  const { metadata, spec, status } = object as any;
  return {
    name: metadata.name,
    version: Number(metadata.resourceVersion),
    milliCpu: milliCores(status.allocatable.cpu),
    mebibytes: mebibytes(status.allocatable.memory),
    gpus: Number(status.allocatable[gpuResource] ?? 0),
    pods: Number(status.allocatable.pods),
    zone: metadata.labels?.zone,
    isClosed: spec?.unschedulable === true || (spec?.taints ?? []).some(({ key }: any) => key !== reservedTaint),
    isReserved: (spec?.taints ?? []).some(({ key }: any) => key === reservedTaint),
  };
}

export function plainGroup(object: JsonObject): PlainGroup {
  const { metadata, spec, status } = object as any;
  const policy = spec?.schedulingPolicy;
  const isNative = policy !== undefined;
  return {
    name: groupNameIn(metadata.namespace, metadata.name, isNative)!,
    isNative,
    uid: metadata.uid,
    version: Number(metadata.resourceVersion),
    minMember: isNative ? (policy.gang?.minCount ?? 0) : (spec?.minMember ?? 1),
    goesWhole: spec?.disruptionMode?.all !== undefined,
    memberPriority: isNative ? (spec.priority ?? 0) : undefined,
    releases: spec?.repairPolicy !== 'KeepTrying',
    graceMs: (spec?.repairGraceSeconds ?? 60) * 1000,
    status: status ?? {},
  };
}

/** Reports whether the pod uses capacity on its node. */
export function isOnNode(pod: PlainPod): boolean {
  return pod.node !== '' && !hasEnded(pod);
}

export function hasEnded({ phase }: PlainPod): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Reports whether the pod carries the mark of a preemption. */
export function isMarked({ disruption }: PlainPod): boolean {
  return disruption?.isTrue === true && disruption.reason === 'PreemptionByScheduler';
}

/** Reports whether the pod waits for a node. */
export function isOpen(pod: PlainPod): boolean {
  return pod.node === '' && !hasEnded(pod) && !pod.isLeaving && !pod.isGated;
}

/** Parses the only formats that the simulation writes. */
function milliCores(text: string | undefined): number {
  if (text === undefined) return 0;
  return text.endsWith('m') ? Number(text.slice(0, -1)) : Number(text) * 1000;
}

function mebibytes(text: string | undefined): number {
  if (text === undefined) return 0;
  if (text.endsWith('Gi')) return Number(text.slice(0, -2)) * 1024;
  if (text.endsWith('Mi')) return Number(text.slice(0, -2));
  throw new Error(`unknown format of an amount: ${text}`);
}
