import { podGroupNameOf } from '../../api/pod-group-membership.ts';
import { defaultMinMember } from '../../api/pod-group.ts';
import { podRequests } from '../../api/pod-requests.ts';
import type { RawRequestSpec } from '../../api/pod-requests.ts';
import { readResources } from '../../api/resource-list.ts';
import type { RawResources, ResourceSum } from '../../api/resource-list.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** What `tutti up` shows and judges of a pod, as the API gave it. */
export interface ObservedPod {
  /** namespace/name */
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** namespace/name of the PodGroup it names, whether or not that exists. */
  readonly group: string | undefined;
  /** Whether a Job has made it, which says what becomes of it when it fails. */
  readonly isOfJob: boolean;
  readonly nodeName: string | undefined;
  /** When the API server bound it, in milliseconds since the epoch, cut to the second; undefined where its conditions do not say. */
  readonly boundAtMs: number | undefined;
  readonly phase: PodPhase;
  /** Why it is not scheduled, as its PodScheduled condition says. */
  readonly verdict: string | undefined;
  /** Why it failed; undefined unless it did. */
  readonly failure: string | undefined;
  /** What it requests, of cpu and of extended resources such as nvidia.com/gpu. */
  readonly requests: Amounts;
}

/** Resource name -> amount: cpu in millicores, extended resources in units; nothing else. */
export type Amounts = Readonly<Record<string, number>>;

/** What `tutti up` shows of a node. */
export interface ObservedNode {
  readonly name: string;
  readonly allocatable: Amounts;
}

/** What `tutti up` shows and judges of a PodGroup. */
export interface ObservedGroup {
  /** namespace/name */
  readonly key: string;
  readonly uid: string;
  readonly minMember: number;
}

/** What `tutti up` judges of a Job. */
export interface ObservedJob {
  /** namespace/name */
  readonly key: string;
  /** How it has ended; undefined: it has not. */
  readonly end: 'Complete' | 'Failed' | undefined;
  /** Why: `BackoffLimitExceeded`. */
  readonly reason: string;
}

/** The API's JSON, of which nothing is relied upon. */
interface RawObject {
  readonly metadata?: {
    readonly uid?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind?: string; readonly controller?: boolean }[];
  };
}

interface RawPod extends RawObject {
  readonly spec?: RawRequestSpec & { readonly nodeName?: string };
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

/** Reads a pod; takes the JSON of a watch and the typed object of a list alike. Never throws for what a server may send. */
export function observePod(object: unknown): ObservedPod {
  const pod = object as RawPod;
  const { uid = '', namespace = '', name = '', labels, annotations, ownerReferences = [] } = pod.metadata ?? {};
  const { phase = 'Pending', reason, message, conditions } = pod.status ?? {};
  const group = podGroupNameOf(labels, annotations)?.name;
  const scheduled = conditions?.find(({ type }) => type === 'PodScheduled');
  const boundAtMs = scheduled?.status === 'True' ? new Date(scheduled.lastTransitionTime ?? NaN).getTime() : NaN;
  return {
    key: `${namespace}/${name}`,
    uid,
    namespace,
    name,
    group: group === undefined ? undefined : `${namespace}/${group}`,
    isOfJob: ownerReferences.some(({ kind, controller }) => kind === 'Job' && controller === true),
    nodeName: nonEmpty(pod.spec?.nodeName),
    boundAtMs: Number.isNaN(boundAtMs) ? undefined : boundAtMs,
    phase: phases.has(phase) ? (phase as PodPhase) : 'Unknown',
    verdict: scheduled?.status === 'False' ? nonEmpty(scheduled.message) : undefined,
    failure: phase === 'Failed' ? [reason, message].filter(Boolean).join(': ') || exitText(pod) : undefined,
    requests: readAmounts(() => podRequests(pod.spec ?? {}).sum),
  };
}

/** Which of its containers failed; the node says no more. */
function exitText({ status }: RawPod): string {
  for (const { name = '', state } of status?.containerStatuses ?? []) {
    const exitCode = state?.terminated?.exitCode ?? 0;
    if (exitCode !== 0) return `container ${name} exited with ${exitCode}`;
  }
  return 'failed';
}

/** Reads a PodGroup, as `observePod` a pod. */
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

/** Reads a Job, as `observePod` a pod. */
export function observeJob(object: unknown): ObservedJob {
  const { metadata, status } = object as RawJob;
  const ends = (status?.conditions ?? []).filter((condition) => condition.status === 'True');
  const end = (['Complete', 'Failed'] as const).find((type) => ends.some((condition) => condition.type === type));
  return {
    key: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`,
    end,
    reason: ends.find(({ type }) => type === end)?.reason ?? '',
  };
}

/** Reads a node, as `observePod` a pod. */
export function observeNode(object: unknown): ObservedNode {
  const { metadata, status } = object as RawNode;
  const allocatable = readAmounts(() => readResources(status?.allocatable ?? {}));
  return { name: metadata?.name ?? '', allocatable };
}

export function isFinished({ phase }: Pick<ObservedPod, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** `red` for default/red, else namespace/name. */
export function shownName(key: string): string {
  return key.startsWith('default/') ? key.slice('default/'.length) : key;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** None where something is no quantity: the server should have rejected it, and a view is no place to say so. */
function readAmounts(read: () => ResourceSum): Amounts {
  try {
    return Object.fromEntries([...read()].filter(([name]) => name === 'cpu' || name.includes('/')));
  } catch {
    return {};
  }
}
