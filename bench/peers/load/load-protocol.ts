import type { Workload } from '../workload.ts';

/** Connection to the API server. */
export interface LoadTarget {
  readonly server: string;
  /** Bearer token. */
  readonly token: string;
}

/** Kind of group object, and how pods refer to it. */
export type GroupKind = 'none' | 'label' | 'native';

/** What exists before a run. It is the same for all schedulers with the same kind of group. */
export interface Seed extends Pick<Workload, 'nodes' | 'nodeCpu' | 'victims'> {
  /** Of the victims. */
  readonly groups: GroupKind;
}

/** Requests from the benchmark to the load generator. The reply has the same kind, or `failed`. */
export type LoadRequest =
  /** Create what exists before the run: the nodes, the namespaces, the PodGroup CRD and the pods of low priority. */
  | ({ readonly kind: 'seed'; readonly target: LoadTarget; readonly schedulerName: string } & Seed)
  /** Create the groups and watch the pods, on a plane with these objects. */
  | {
      readonly kind: 'prepare';
      readonly target: LoadTarget;
      readonly workload: Workload;
      readonly groups: GroupKind;
      readonly schedulerName: string;
    }
  /** Create all pods. */
  | { readonly kind: 'create' }
  /** Wait until the pods that fit are bound, or until no pod was bound for too long. */
  | {
      readonly kind: 'await';
      /** Limits for the total time, and for the time between two bindings. */
      readonly limitMs: number;
      readonly stallMs: number;
    }
  /** Report the watch events so far. More pods may be bound since. */
  | { readonly kind: 'report' };

export type LoadReply =
  | { readonly kind: 'seed' }
  | { readonly kind: 'prepare' }
  /** Time when the first create was sent, and when the last one was answered, from `monotonicNow()`. */
  | { readonly kind: 'create'; readonly firstAt: number; readonly lastAt: number }
  | { readonly kind: 'await'; readonly complete: boolean }
  | {
      readonly kind: 'report';
      readonly pods: readonly PodTimes[];
      /** Indexes of the victims that have been deleted, each at most once. */
      readonly evicted: readonly number[];
      readonly watchRestarts: number;
    }
  | { readonly kind: 'failed'; readonly message: string };

/** Times of the watch events of a pod. */
export interface PodTimes {
  readonly gang: number;
  readonly createdAt: number;
  /** Absent if the pod was not bound. */
  readonly boundAt?: number;
}
