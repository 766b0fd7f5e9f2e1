import { podGroupNameOf } from '../../api/pod-group-membership.ts';
import { podRequests } from '../../api/pod-requests.ts';
import type { NodeSelectorTerm, RawPod } from '../../api/pod.ts';
import type { ResourceSum } from '../../api/resource-list.ts';

/** A container as its status needs it. */
export interface KubeletContainer {
  readonly name: string;
  readonly image: string;
}

/** What a simulated node knows of a pod. */
export interface KubeletPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since the epoch; 0 when the pod carries none. */
  readonly createdAt: number;
  /** Empty until bound. */
  readonly nodeName: string;
  readonly phase: string;
  readonly isDeleting: boolean;
  /** Has finalizers: it stays when it is deleted, until others have let it go. */
  readonly isHeld: boolean;
  /** The grace period that its deletion was given, in milliseconds. */
  readonly graceMs: number;
  readonly restartPolicy: string;
  readonly usesHostNetwork: boolean;
  readonly containers: readonly KubeletContainer[];
  readonly initContainers: readonly KubeletContainer[];
  /** Init containers that run as long as the pod does. */
  readonly sidecars: readonly KubeletContainer[];
  /** The pod's own slot (pods: 1) included. */
  readonly requests: ResourceSum;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Undefined: no required affinity. Terms are alternatives. */
  readonly requiredTerms: readonly NodeSelectorTerm[] | undefined;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** namespace/name of the group it names, whether or not that exists. */
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

/** Throws (TypeError, QuantityError) for what is not a pod. */
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
    isHeld: (metadata.finalizers ?? []).length > 0,
    graceMs: (metadata.deletionGracePeriodSeconds ?? 30) * 1000,
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

/** Whether a phase is one from which a pod does not return. */
export function isTerminalPhase(phase: string): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function toContainer({ name, image }: RawContainer): KubeletContainer {
  return { name: name ?? '', image: image ?? '' };
}
