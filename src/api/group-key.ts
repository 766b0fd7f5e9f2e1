import { podGroupResource } from './pod-group.ts';

/** The APIs that a pod group can come from: that of scheduler-plugins, and that of Kubernetes itself. */
export type GroupSource = 'scheduling.x-k8s.io' | 'scheduling.k8s.io';

/** apiVersion under which Events and messages refer to a group. */
export const groupApiVersions = {
  'scheduling.x-k8s.io': podGroupResource.apiVersion,
  'scheduling.k8s.io': 'scheduling.k8s.io/v1beta1',
} as const satisfies Record<GroupSource, string>;

/** What a group key holds. */
export interface GroupName {
  readonly source: GroupSource;
  readonly namespace: string;
  /** As a pod or a PodGroup names it: a pod can name a group that cannot exist. */
  readonly name: string;
}

const native = 'scheduling.k8s.io';
const nativePrefix = `${native}/`;

/**
 * Returns the key of a pod group, which messages show too: `namespace/name` for `scheduling.x-k8s.io`, and
 * `scheduling.k8s.io/namespace/name` for a group of Kubernetes itself. The name of a namespace has no dot, so two groups of one name never share a
 * key, whatever name a pod gives.
 */
export function groupKeyOf(source: GroupSource, namespace: string, name: string): string {
  return source === native ? `${nativePrefix}${namespace}/${name}` : `${namespace}/${name}`;
}

/** The inverse of `groupKeyOf`. */
export function parseGroupKey(key: string): GroupName {
  const isNative = key.startsWith(nativePrefix);
  const start = isNative ? nativePrefix.length : 0;
  const slash = key.indexOf('/', start);
  return {
    source: isNative ? native : 'scheduling.x-k8s.io',
    namespace: key.slice(start, slash),
    name: key.slice(slash + 1),
  };
}
