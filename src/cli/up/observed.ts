import { safeMessage, safeName } from '../../base/safe-text.ts';
import { mislabeledWorkloadOf } from '../../api/mislabeled-workload.ts';
import type { LabeledKind, MislabeledWorkload } from '../../api/mislabeled-workload.ts';
import { parseGroupKey } from '../../api/group-key.ts';
import { lookAlikesOf, podGroupMembershipOf } from '../../api/pod-group-membership.ts';
import type { LookAlike } from '../../api/pod-group-membership.ts';
import { projectNativePodGroup } from '../../api/native-pod-group.ts';
import { defaultMinMember } from '../../api/pod-group.ts';
import { podRequests } from '../../api/pod-requests.ts';
import type { RawRequestSpec } from '../../api/pod-requests.ts';
import { readResources } from '../../api/resource-list.ts';
import type { RawResources, ResourceSum } from '../../api/resource-list.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** The fields of a pod that `tutti up` uses, as the API server returned them. */
export interface ObservedPod {
  /** namespace/name */
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Key of the PodGroup that schedules the pod, whether or not it exists; see `groupKeyOf`. */
  readonly group: string | undefined;
  /** Labels and annotations that may have been meant to make the pod a member; empty for a member. */
  readonly lookAlikes: readonly LookAlike[];
  /** Key of the workload that controls the pod, as in ObservedWorkload. */
  readonly owner: string | undefined;
  /** Whether a Job controls the pod. The Job then decides whether a failure matters. */
  readonly isOfJob: boolean;
  readonly nodeName: string | undefined;
  /** When the API server bound the pod, in milliseconds since the epoch, rounded down to the second; undefined if unknown. */
  readonly boundAtMs: number | undefined;
  readonly phase: PodPhase;
  /** Why the pod is not scheduled: the message of its PodScheduled condition. */
  readonly verdict: string | undefined;
  /** Why the pod failed; undefined if it did not. */
  readonly failure: string | undefined;
  /** Requests for cpu and for extended resources such as nvidia.com/gpu. */
  readonly requests: Amounts;
}

/** Resource name -> amount: only cpu, in millicores, and extended resources, in units. */
export type Amounts = Readonly<Record<string, number>>;

/** The fields of a node that `tutti up` uses. */
export interface ObservedNode {
  readonly name: string;
  readonly allocatable: Amounts;
}

/** The fields of a PodGroup that `tutti up` uses. */
export interface ObservedGroup {
  /** See `groupKeyOf`. */
  readonly key: string;
  readonly uid: string;
  readonly minMember: number;
}

/** The fields of a Deployment or StatefulSet that `tutti up` uses to explain pods without a group. */
export interface ObservedWorkload {
  /** `Deployment namespace/name` */
  readonly key: string;
  /** Set if the workload has the label of a group, but its pods lack it. */
  readonly mislabeled: MislabeledWorkload | undefined;
}

/** The fields of a Job that `tutti up` uses. */
export interface ObservedJob {
  /** namespace/name */
  readonly key: string;
  /** How the Job ended; undefined while it runs. */
  readonly end: 'Complete' | 'Failed' | undefined;
  /** Why the Job ended, for example `BackoffLimitExceeded`. */
  readonly reason: string;
  /** As in ObservedWorkload. */
  readonly mislabeled: MislabeledWorkload | undefined;
}

/** JSON from the API server. Any field may be missing. */
interface RawObject {
  readonly metadata?: {
    readonly uid?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly {
      readonly kind?: string;
      readonly name?: string;
      readonly controller?: boolean;
    }[];
  };
}

interface RawPod extends RawObject {
  readonly spec?: RawRequestSpec & {
    readonly nodeName?: string;
    readonly schedulingGroup?: { readonly podGroupName?: string };
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly containerStatuses?: readonly {
      readonly name?: string;
      readonly state?: { readonly terminated?: { readonly exitCode?: number } };
    }[];
    readonly conditions?: readonly {
      readonly type?: string;
      readonly status?: string;
      readonly message?: string;
      readonly lastTransitionTime?: string | Date | null;
    }[];
  };
}

interface RawJob extends RawObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly reason?: string }[];
  };
}

interface RawGroup extends RawObject {
  readonly spec?: { readonly minMember?: number };
}

interface RawNode extends RawObject {
  readonly status?: { readonly allocatable?: RawResources };
}

const phases = new Set<string>(['Pending', 'Running', 'Succeeded', 'Failed']);

/** Reads a pod from the JSON of a watch or the typed object of a list. Never throws, whatever the server sent. All texts are safe to show. */
export function observePod(object: unknown): ObservedPod {
  const pod = object as RawPod;
  const { uid = '', namespace = '', name = '', labels, annotations, ownerReferences = [] } = pod.metadata ?? {};
  const { phase = 'Pending', reason, message, conditions } = pod.status ?? {};
  const { schedulingGroup } = pod.spec ?? {};
  const group = podGroupMembershipOf({ namespace, labels, annotations, schedulingGroup })?.key;
  const owner = ownerOf(ownerReferences);
  const scheduled = conditions?.find(({ type }) => type === 'PodScheduled');
  const boundAtMs = scheduled?.status === 'True' ? new Date(scheduled.lastTransitionTime ?? NaN).getTime() : NaN;
  return {
    key: `${namespace}/${name}`,
    uid,
    namespace,
    name,
    group,
    lookAlikes: group === undefined ? lookAlikesOf(labels, annotations) : [],
    owner: owner && `${owner.kind} ${namespace}/${owner.name}`,
    isOfJob: owner?.kind === 'Job',
    nodeName: nonEmpty(pod.spec?.nodeName),
    boundAtMs: Number.isNaN(boundAtMs) ? undefined : boundAtMs,
    phase: phases.has(phase) ? (phase as PodPhase) : 'Unknown',
    verdict: scheduled?.status === 'False' ? nonEmpty(safeMessage(scheduled.message ?? '')) : undefined,
    failure:
      phase === 'Failed' ? safeMessage([reason, message].filter(Boolean).join(': ') || exitText(pod)) : undefined,
    requests: readAmounts(() => podRequests(pod.spec ?? {}).sum),
  };
}

/** Returns the workload of a pod: for the pods of a ReplicaSet, the Deployment after which the ReplicaSet is named. */
function ownerOf(
  references: NonNullable<NonNullable<RawObject['metadata']>['ownerReferences']>,
): { readonly kind: string; readonly name: string } | undefined {
  const { kind = '', name = '' } = references.find(({ controller }) => controller === true) ?? {};
  if (kind === 'ReplicaSet') return { kind: 'Deployment', name: name.replace(/-[^-]*$/, '') };
  return kind === '' ? undefined : { kind, name };
}

/** Names the container that failed, for pods whose status has no reason or message. */
function exitText({ status }: RawPod): string {
  for (const { name = '', state } of status?.containerStatuses ?? []) {
    const exitCode = state?.terminated?.exitCode ?? 0;
    if (exitCode !== 0) return `container ${name} exited with ${exitCode}`;
  }
  return 'failed';
}

/** Reads a PodGroup, with the contract of `observePod`. */
export function observeGroup(object: unknown): ObservedGroup {
  const group = object as RawGroup;
  const { uid = '', namespace = '', name = '' } = group.metadata ?? {};
  const minMember = group.spec?.minMember;
  return {
    key: `${namespace}/${name}`,
    uid,
    minMember: typeof minMember === 'number' ? minMember : defaultMinMember,
  };
}

/** Reads a PodGroup of Kubernetes itself. Throws MalformedObjectError if it has no policy. A basic group is whole with its first pod. */
export function observeNativeGroup(object: unknown): ObservedGroup {
  const { key, uid, minCount = 1 } = projectNativePodGroup(object);
  return { key, uid, minMember: minCount };
}

/** Reads a Job, with the contract of `observePod`. */
export function observeJob(object: unknown): ObservedJob {
  const { metadata, status } = object as RawJob;
  const ends = (status?.conditions ?? []).filter((condition) => condition.status === 'True');
  const end = (['Complete', 'Failed'] as const).find((type) => ends.some((condition) => condition.type === type));
  return {
    key: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`,
    end,
    reason: safeName(ends.find(({ type }) => type === end)?.reason ?? ''),
    mislabeled: mislabeledWorkloadOf('Job', object),
  };
}

/** Reads a workload of this kind, with the contract of `observePod`. */
export function observeWorkload(kind: Exclude<LabeledKind, 'Job'>, object: unknown): ObservedWorkload {
  const { metadata } = object as RawObject;
  const key = `${kind} ${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
  return { key, mislabeled: mislabeledWorkloadOf(kind, object) };
}

/** Reads a node, with the contract of `observePod`. */
export function observeNode(object: unknown): ObservedNode {
  const { metadata, status } = object as RawNode;
  const allocatable = readAmounts(() => readResources(status?.allocatable ?? {}));
  return { name: metadata?.name ?? '', allocatable };
}

export function isFinished({ phase }: Pick<ObservedPod, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Returns `red` for a pod or group default/red of either API, and namespace/name for other namespaces. */
export function shownName(key: string): string {
  const { namespace, name } = parseGroupKey(key);
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** Returns no amounts if a quantity is invalid: the server should have rejected it, and a view cannot handle it better. */
function readAmounts(read: () => ResourceSum): Amounts {
  try {
    return Object.fromEntries([...read()].filter(([name]) => name === 'cpu' || name.includes('/')));
  } catch {
    return {};
  }
}
