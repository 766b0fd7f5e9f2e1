import type { Workload } from '../workload.ts';

/** How to reach the API server under the load. */
export interface LoadTarget {
  readonly server: string;
  /** Bearer token. */
  readonly token: string;
}

/** Which kind of object says that pods belong together, and how a pod names it. */
export type GroupKind = 'none' | 'label' | 'native';

/** From the bench to the load generator. Each is answered by the reply of the same name, or by `failed`. */
export type LoadRequest =
  /** Make what is the same for every scheduler: the nodes, the namespace and the definition of PodGroups. */
  | {
      readonly kind: 'seed';
      readonly target: LoadTarget;
      readonly nodes: number;
      readonly nodeCpu: number;
    }
  /** On a plane with all that: make the groups, and watch the pods. */
  | {
      readonly kind: 'prepare';
      readonly target: LoadTarget;
      readonly workload: Workload;
      readonly groups: GroupKind;
      readonly schedulerName: string;
    }
  /** Make all pods. */
  | { readonly kind: 'create' }
  /** Wait until the pods that fit are bound, or nothing has been for too long. */
  | {
      readonly kind: 'await';
      /** How long it may take altogether, and how long it may take from one bind to the next. */
      readonly limitMs: number;
      readonly stallMs: number;
    }
  /** Tell what has been seen; more may have been bound since. */
  | { readonly kind: 'report' };

export type LoadReply =
  | { readonly kind: 'seed' }
  | { readonly kind: 'prepare' }
  /** When the first create was sent and the last was answered. Times here are those of `monotonicNow()`. */
  | { readonly kind: 'create'; readonly firstAt: number; readonly lastAt: number }
  | { readonly kind: 'await'; readonly complete: boolean }
  | { readonly kind: 'report'; readonly pods: readonly PodTimes[]; readonly watchRestarts: number }
  | { readonly kind: 'failed'; readonly message: string };

/** When the watch brought the news of one pod. */
export interface PodTimes {
  readonly gang: number;
  readonly createdAt: number;
  /** Absent: not bound. */
  readonly boundAt?: number;
}
