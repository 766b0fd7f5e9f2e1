import type { JsonObject } from '../../../src/plane/apiserver/json.ts';

/** A pod as the checkers read it, without a line of what the product reads it with. Amounts in millicores and MiB. */
export interface PlainPod {
  readonly key: string;
  readonly uid: string;
  readonly name: string;
  readonly version: number;
  readonly schedulerName: string;
  /** Name of its group; undefined: none. */
  readonly group: string | undefined;
  readonly node: string;
  readonly phase: string;
  /** Its node did not admit it. */
  readonly isRejected: boolean;
  readonly isLeaving: boolean;
  readonly isGated: boolean;
  readonly milliCpu: number;
  readonly mebibytes: number;
  readonly hostPorts: readonly number[];
  readonly zone: string | undefined;
  readonly priority: number;
  /** Somebody makes it again. */
  readonly isControlled: boolean;
  readonly nominatedNode: string;
  /** What a Binding left: for which group object, and by which plan. */
  readonly boundFor: string | undefined;
  readonly plan: string | undefined;
  /** The quorum of the group at that time; NaN: it is not said. */
  readonly quorum: number;
  readonly scheduled: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
}

export interface PlainNode {
  readonly name: string;
  readonly version: number;
  readonly milliCpu: number;
  readonly mebibytes: number;
  readonly pods: number;
  readonly zone: string | undefined;
  /** Nothing new may come. */
  readonly isClosed: boolean;
  /** Only pods that name its zone may come. */
  readonly isReserved: boolean;
}

export interface PlainGroup {
  readonly name: string;
  readonly uid: string;
  readonly version: number;
  readonly minMember: number;
  /** Its members are evicted when it cannot be completed. */
  readonly releases: boolean;
  readonly graceMs: number;
  readonly status: JsonObject;
}

const groupLabel = 'scheduling.x-k8s.io/pod-group';
/** object -> what was read of it: objects of the store never change */
const pods = new WeakMap<JsonObject, PlainPod>();

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
  const asked = [container.resources?.requests, state?.allocatedResources, state?.resources?.requests];
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    uid: metadata.uid,
    name: metadata.name,
    version: Number(metadata.resourceVersion),
    schedulerName: spec.schedulerName,
    group: metadata.labels?.[groupLabel],
    node: spec.nodeName ?? '',
    phase: status?.phase ?? 'Pending',
    isRejected: status?.phase === 'Failed' && status.reason === 'OutOfcpu',
    isLeaving: metadata.deletionTimestamp !== undefined,
    isGated: (spec.schedulingGates ?? []).length > 0,
    milliCpu: Math.max(...asked.map((requests) => milliCores(requests?.cpu))),
    mebibytes: Math.max(...asked.map((requests) => mebibytes(requests?.memory))),
    hostPorts: (container.ports ?? []).flatMap(({ hostPort }: any) => (hostPort > 0 ? [hostPort] : [])),
    zone: spec.nodeSelector?.zone,
    priority: spec.priority ?? 0,
    isControlled: (metadata.ownerReferences ?? []).some(({ controller }: any) => controller === true),
    nominatedNode: status?.nominatedNodeName ?? '',
    boundFor: annotations['tutti.dev/pod-group-uid'],
    plan: annotations['tutti.dev/plan'],
    quorum: Number(annotations['tutti.dev/quorum']),
    scheduled: condition && { reason: '', message: '', ...condition },
  };
}

export function plainNode(object: JsonObject): PlainNode {
  const { metadata, spec, status } = object as any;
  return {
    name: metadata.name,
    version: Number(metadata.resourceVersion),
    milliCpu: milliCores(status.allocatable.cpu),
    mebibytes: mebibytes(status.allocatable.memory),
    pods: Number(status.allocatable.pods),
    zone: metadata.labels?.zone,
    isClosed: spec?.unschedulable === true || (spec?.taints ?? []).some(({ key }: any) => key !== 'reserved'),
    isReserved: (spec?.taints ?? []).some(({ key }: any) => key === 'reserved'),
  };
}

export function plainGroup(object: JsonObject): PlainGroup {
  const { metadata, spec, status } = object as any;
  return {
    name: metadata.name,
    uid: metadata.uid,
    version: Number(metadata.resourceVersion),
    minMember: spec?.minMember ?? 1,
    releases: spec?.repairPolicy !== 'KeepTrying',
    graceMs: (spec?.repairGraceSeconds ?? 60) * 1000,
    status: status ?? {},
  };
}

/** It takes up room on its node. */
export function isOnNode(pod: PlainPod): boolean {
  return pod.node !== '' && !hasEnded(pod);
}

export function hasEnded({ phase }: PlainPod): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** It waits for a node. */
export function isOpen(pod: PlainPod): boolean {
  return pod.node === '' && !hasEnded(pod) && !pod.isLeaving && !pod.isGated;
}

/** The only forms that this world writes. */
function milliCores(text: string | undefined): number {
  if (text === undefined) return 0;
  return text.endsWith('m') ? Number(text.slice(0, -1)) : Number(text) * 1000;
}

function mebibytes(text: string | undefined): number {
  if (text === undefined) return 0;
  if (text.endsWith('Gi')) return Number(text.slice(0, -2)) * 1024;
  if (text.endsWith('Mi')) return Number(text.slice(0, -2));
  throw new Error(`no amount that this world writes: ${text}`);
}
