import { podGroupNameOf } from '../../api/pod-group-membership.ts';
import { podRequests } from '../../api/pod-requests.ts';
import type { NodeSelectorTerm, RawPod } from '../../api/pod.ts';
import type { ResourceSum } from '../../api/resource-list.ts';

/** The fields of a container that its status contains. */
export interface KubeletContainer {
  readonly name: string;
  readonly image: string;
}

/** The fields of a pod that a simulated node uses. */
export interface KubeletPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since the epoch; 0 if the pod has no creation timestamp. */
  readonly createdAt: number;
  /** Empty until bound. */
  readonly nodeName: string;
  readonly phase: string;
  readonly isDeleting: boolean;
  /** A pod with finalizers still exists after its deletion, until their owners remove them. */
  readonly hasFinalizers: boolean;
  /** Grace period of the deletion, in milliseconds. */
  readonly graceMs: number;
  /** How long the pod may be active from its start, in milliseconds; undefined: forever. */
  readonly deadlineMs: number | undefined;
  readonly restartPolicy: string;
  readonly usesHostNetwork: boolean;
  readonly containers: readonly KubeletContainer[];
  readonly initContainers: readonly KubeletContainer[];
  /** Init containers that run as long as the pod. */
  readonly sidecars: readonly KubeletContainer[];
  /** Requests of the pod, including its slot (pods: 1). */
  readonly requests: ResourceSum;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Required node affinity: alternative terms; undefined if there is none. */
  readonly requiredTerms: readonly NodeSelectorTerm[] | undefined;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** namespace/name of the PodGroup that the pod names, whether or not it exists. */
  readonly groupKey: string | undefined;
  /** Name of that group. */
  readonly groupName: string | undefined;
}

type RawContainer = NonNullable<RawPod['spec']['containers']>[number] & {
  readonly name?: string;
  readonly image?: string;
};

type RawKubeletPod = RawPod & {
  readonly metadata: { readonly deletionGracePeriodSeconds?: number; readonly finalizers?: readonly string[] };
  readonly spec: { readonly restartPolicy?: string; readonly hostNetwork?: boolean };
};

/** Reads a pod. Throws TypeError or QuantityError if the object is not a valid pod. */
export function readKubeletPod(raw: unknown): KubeletPod {
  const { metadata, spec, status } = raw as RawKubeletPod;
  if (typeof spec !== 'object' || spec === null) throw new TypeError('spec is not an object');
  const { sum } = podRequests(spec);
  sum.set('pods', 1);
  const initContainers = (spec.initContainers ?? []) as readonly RawContainer[];
  const groupName = podGroupNameOf(metadata.labels, metadata.annotations)?.name;
  return {
    uid: metadata.uid,
    namespace: metadata.namespace,
    name: metadata.name,
    createdAt: Date.parse(metadata.creationTimestamp ?? '') || 0,
    nodeName: spec.nodeName ?? '',
    phase: status?.phase ?? 'Pending',
    isDeleting: metadata.deletionTimestamp !== undefined,
    hasFinalizers: (metadata.finalizers ?? []).length > 0,
    graceMs: (metadata.deletionGracePeriodSeconds ?? 30) * 1000,
    deadlineMs: spec.activeDeadlineSeconds === undefined ? undefined : spec.activeDeadlineSeconds * 1000,
    restartPolicy: spec.restartPolicy ?? 'Always',
    usesHostNetwork: spec.hostNetwork === true,
    containers: (spec.containers ?? []).map(toContainer),
    initContainers: initContainers.filter(({ restartPolicy }) => restartPolicy !== 'Always').map(toContainer),
    sidecars: initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always').map(toContainer),
    requests: sum,
    nodeSelector: spec.nodeSelector ?? {},
    requiredTerms: spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
    annotations: metadata.annotations ?? {},
    groupKey: groupName === undefined ? undefined : `${metadata.namespace}/${groupName}`,
    groupName,
  };
}

/** Whether the phase is final. */
export function isTerminalPhase(phase: string): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function toContainer({ name, image }: RawContainer): KubeletContainer {
  return { name: name ?? '', image: image ?? '' };
}
