import { explainApiVersion } from '../../../api/explain/basis.ts';
import type { Basis, PartError, Subject } from '../../../api/explain/basis.ts';
import type { EntityState } from '../../../api/explain/explanation.ts';
import type { StatusItem, StatusList } from '../../../api/explain/lists.ts';
import { parseGroupKey } from '../../../api/group-key.ts';
import type { GroupSource } from '../../../api/group-key.ts';
import { nativePodGroupPath, nativeVersions, projectNativePodGroup } from '../../../api/native-pod-group.ts';
import { podGroupPath } from '../../../api/pod-group.ts';
import type { KubeClient } from '../../../client/kube-client.ts';
import { CollectionLister } from '../../../compose/cluster-state/collection-lister.ts';
import { retryWhenGone } from '../../../compose/cluster-state/retry-when-gone.ts';
import type { SubjectArgument } from '../subject-argument.ts';
import { groupItem } from './group-item.ts';
import { podItem } from './pod-item.ts';
import { absentStatusGroup, nativeStatusGroupOf, statusGroupOf } from './status-group.ts';
import type { StatusGroup } from './status-group.ts';
import { projectStatusPod } from './status-pod.ts';
import type { StatusPod } from './status-pod.ts';

/** What the user wants to see. */
export interface StatusSelection {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** Label selector for groups and single pods. */
  readonly selector?: string | undefined;
  /** Only these. Empty: all. */
  readonly subjects: readonly SubjectArgument[];
  /** Pods in no group are shown if they name one of these. Absent: only those among `subjects`. */
  readonly podsOf?: readonly string[] | undefined;
}

export interface StatusOptions extends StatusSelection {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly signal?: AbortSignal | undefined;
}

/** Urgent states first. */
const order: readonly EntityState[] = ['Partial', 'Waiting', 'Starting', 'Degraded', 'Running', 'Finished', 'Unknown'];

/** Lists the pod groups, and their states as their objects and pods show them. A part that cannot be listed is an error beside the rest. */
export async function loadStatus(options: StatusOptions): Promise<StatusList> {
  const { now } = options;
  const { groups, pods, isListed, errors } = await retryWhenGone(() => listObjects(options));
  /** group key -> pods that name it */
  const members = Map.groupBy(pods ?? [], ({ groupKey, nativeGroupKey }) => groupKey ?? nativeGroupKey);
  const known = new Set(groups.map(({ key }) => key));
  // A group that does not exist has no labels.
  const named = options.selector === undefined ? [...members.keys()] : [];
  const absent = named.flatMap((key) => {
    if (key === undefined || known.has(key)) return [];
    const { source, namespace, name } = parseGroupKey(key);
    return isListed(source) ? [absentStatusGroup(source, namespace, name)] : [];
  });
  const chosen = [...groups, ...absent].filter((group) => isChosenGroup(options, group));
  const singles = (members.get(undefined) ?? []).filter((pod) => isChosenPod(options, pod));
  const items = [
    ...chosen.map((group) => groupItem(group, pods && (members.get(group.key) ?? []), now)),
    ...singles.map(podItem),
  ];
  const basis: Basis = {
    source: 'conditions',
    takenAt: new Date(now).toISOString(),
    ageSeconds: 0,
    unknowns: ['assumedPods', ...(pods === undefined ? (['hiddenPods'] as const) : []), 'queueOrder', 'reservations'],
  };
  return statusListOf(items, basis, errors, options.subjects);
}

/** Returns the list of these items, urgent states first, with an error for each of `subjects` that is not among them. */
export function statusListOf(
  items: readonly StatusItem[],
  basis: Basis,
  errors: readonly PartError[],
  subjects: readonly SubjectArgument[],
): StatusList {
  return {
    apiVersion: explainApiVersion,
    kind: 'StatusList',
    basis,
    items: items.toSorted(inOrder),
    totals: totalsOf(items),
    errors: [...errors, ...missingSubjects(subjects, items)],
  };
}

interface Objects {
  readonly groups: readonly StatusGroup[];
  /** Undefined: the caller may not list them. */
  readonly pods: readonly StatusPod[] | undefined;
  /** Returns whether the groups of this API are among `groups`. */
  readonly isListed: (source: GroupSource) => boolean;
  readonly errors: readonly PartError[];
}

async function listObjects(options: StatusOptions): Promise<Objects> {
  const errors: PartError[] = [];
  const { client, namespace, selector, signal } = options;
  const lister = new CollectionLister({ client, signal }, errors);
  const groups: StatusGroup[] = [];
  const pods: StatusPod[] = [];
  const selected = selector === undefined ? {} : { labelSelector: selector };
  const podPath = namespace === undefined ? '/api/v1/pods' : `/api/v1/namespaces/${namespace}/pods`;
  const nativePaths = nativeVersions.map((version) => nativePodGroupPath(version, namespace));
  const [ofTutti, native, ofPods] = await Promise.all([
    lister.fill(podGroupPath(namespace), (raw) => groups.push(statusGroupOf(raw)), selected),
    lister.fillFirst(nativePaths, (raw) => groups.push(nativeStatusGroupOf(projectNativePodGroup(raw))), selected),
    lister.fill(podPath, (raw) => pods.push(projectStatusPod(raw))),
  ]);
  if (ofTutti === 'absent') {
    const message = 'the API server does not serve PodGroups of scheduling.x-k8s.io: apply crds/, or install the chart';
    errors.push({ part: 'podgroups.scheduling.x-k8s.io', message });
  }
  return {
    groups,
    pods: ofPods === 'listed' ? await selectSingles(options, pods) : undefined,
    isListed: (source) => (source === 'scheduling.k8s.io' ? native : ofTutti) === 'listed',
    errors,
  };
}

/** Drops pods without a group that the selector does not match. Members stay, whatever their labels. */
async function selectSingles(options: StatusOptions, pods: readonly StatusPod[]): Promise<readonly StatusPod[]> {
  const { client, namespace, selector, podsOf, signal } = options;
  if (selector === undefined || podsOf === undefined) return pods;
  const path = namespace === undefined ? '/api/v1/pods' : `/api/v1/namespaces/${namespace}/pods`;
  const matching = new Set<string>();
  const add = (raw: unknown): void => {
    matching.add((raw as { readonly metadata: { readonly uid: string } }).metadata.uid);
  };
  await new CollectionLister({ client, signal }, []).fill(path, add, { labelSelector: selector, metadataOnly: true });
  return pods.filter((pod) => isMember(pod) || matching.has(pod.uid));
}

function isMember({ groupKey, nativeGroupKey }: StatusPod): boolean {
  return groupKey !== undefined || nativeGroupKey !== undefined;
}

function isNamed({ subjects }: StatusSelection, kind: Subject['kind'], name: string, source?: GroupSource): boolean {
  // A name without a kind is that of a group, and one without an API that of a group of either.
  return (
    subjects.length === 0 ||
    subjects.some(
      (subject) =>
        subject.name === name && (subject.kind ?? 'PodGroup') === kind && (subject.source ?? source) === source,
    )
  );
}

/** Returns whether this group is to be shown. The selector is not checked. */
export function isChosenGroup(
  selection: StatusSelection,
  { name, source }: Pick<StatusGroup, 'name' | 'source'>,
): boolean {
  return isNamed(selection, 'PodGroup', name, source);
}

/** Returns whether this pod without a group is to be shown. The selector is not checked. */
export function isChosenPod(
  selection: StatusSelection,
  { name, scheduledBy }: Pick<StatusPod, 'name' | 'scheduledBy'>,
): boolean {
  if (selection.subjects.length > 0) return isNamed(selection, 'Pod', name);
  return selection.podsOf?.includes(scheduledBy) === true;
}

/** Message of a named object that does not exist. */
export const notFound = 'not found';

/** Returns an error for each object that the user has named and that is not there. */
export function missingSubjects(
  subjects: readonly SubjectArgument[],
  items: readonly StatusItem[],
): readonly PartError[] {
  return subjects.flatMap(({ kind = 'PodGroup', name }) => {
    const isThere = items.some(({ subject }) => subject.kind === kind && subject.name === name);
    if (isThere) return [];
    return [{ part: `${kind === 'Pod' ? 'pod' : 'group'}/${name}`, message: notFound }];
  });
}

function totalsOf(items: readonly StatusItem[]): StatusList['totals'] {
  const totals: Partial<Record<EntityState, number>> = {};
  for (const state of order) {
    const count = items.filter((item) => item.state === state).length;
    if (count > 0) totals[state] = count;
  }
  return totals;
}

function inOrder(a: StatusItem, b: StatusItem): number {
  const byState = order.indexOf(a.state) - order.indexOf(b.state);
  return byState || compare(a.subject.namespace, b.subject.namespace) || compare(a.subject.name, b.subject.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
