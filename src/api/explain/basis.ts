/** `apiVersion` of everything that the explaining commands print. Within a version, fields are only added. */
export const explainApiVersion = 'explain.tutti.dev/v1alpha1';

/**
 * Where an answer comes from.
 * - `conditions`: conditions and annotations of the objects in one namespace.
 * - `api`: all nodes and pods, listed by the caller, and planned with in the caller's process; with `hiddenPods` among the unknowns, only
 *   the pods and groups of some namespaces.
 * - `scheduler`: the scheduler that leads.
 * - `snapshot`: a file.
 */
export type Source = 'conditions' | 'api' | 'scheduler' | 'snapshot';

/**
 * What an answer does not know.
 * - `configuration`: the scheduler's configuration; the defaults are assumed.
 * - `assumedPods`, `reservations`, `queueOrder`: what only the scheduler's memory holds.
 * - `hiddenPods`, `hiddenNodes`: the caller may not list them all.
 * - `plugins`: plugins of others, which run only in the scheduler. `extenders`: what extenders would answer.
 * - `admission`: how the API server would change or reject the objects.
 * - `volumes`: objects of storage that the caller may not list.
 * - `workCap`: the work for one answer was used up before everything was tried.
 */
export type Unknown =
  | 'configuration'
  | 'assumedPods'
  | 'reservations'
  | 'queueOrder'
  | 'hiddenPods'
  | 'hiddenNodes'
  | 'plugins'
  | 'extenders'
  | 'admission'
  | 'volumes'
  | 'workCap';

/** The cluster state that an answer rests on. */
export interface Basis {
  readonly source: Source;
  /** RFC 3339. */
  readonly takenAt: string;
  /** Seconds between the cluster state and the answer. */
  readonly ageSeconds: number;
  /** Changes whenever something changes that decides where pods fit. Absent: not all of it is known. */
  readonly version?: string;
  /** Sorted. */
  readonly unknowns: readonly Unknown[];
}

/** A pod group or a pod. `source` tells apart the two kinds of PodGroup. */
export interface Subject {
  readonly kind: 'PodGroup' | 'Pod';
  readonly source?: 'scheduling.x-k8s.io' | 'scheduling.k8s.io';
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
}

/** A part of an answer that failed; the other parts are valid. */
export interface PartError {
  readonly part: string;
  readonly message: string;
}

/** resource name -> Kubernetes quantity; names sorted */
export type Quantities = Readonly<Record<string, string>>;

/** A member and the node that it would get. */
export interface Assignment {
  readonly member: string;
  readonly node: string;
}
