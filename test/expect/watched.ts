import type { Condition } from '../../src/api/condition.ts';
import { groupKeyOf } from '../../src/api/group-key.ts';
import { nativeGroup } from '../../src/api/native-pod-group.ts';
import type { PodGroupSpec, PodGroupStatus } from '../../src/api/pod-group.ts';
import type { RawPod } from '../../src/api/pod.ts';

// Objects as a watch shows them, reduced to the fields that tests read.

export interface WatchedObject {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: string;
  };
}

export interface WatchedPod extends RawPod {
  readonly status?: RawPod['status'] & { readonly reason?: string; readonly message?: string };
}

export interface WatchedNode extends WatchedObject {
  readonly status?: { readonly allocatable?: Readonly<Record<string, string>> };
}

export interface WatchedPodGroup extends WatchedObject {
  readonly spec?: PodGroupSpec;
  readonly status?: PodGroupStatus & { readonly conditions?: readonly Condition[] };
}

/** A PodGroup of `scheduling.k8s.io`. */
export interface WatchedNativeGroup extends WatchedObject {
  readonly spec?: { readonly schedulingPolicy?: { readonly gang?: { readonly minCount: number } } };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface WatchedEvent extends WatchedObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly involvedObject?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/** Returns namespace/name; for cluster-scoped objects the name. */
export function keyOf({ metadata: { namespace, name } }: WatchedObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Returns the key of the pod or group that the Event is about; see `groupKeyOf`. */
export function involvedKeyOf({ involvedObject = {} }: WatchedEvent): string {
  const { apiVersion = '', namespace = '', name = '' } = involvedObject;
  return apiVersion.startsWith(`${nativeGroup}/`) ? groupKeyOf(nativeGroup, namespace, name) : `${namespace}/${name}`;
}
