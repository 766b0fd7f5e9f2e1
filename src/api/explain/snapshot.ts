import type { ListedObject } from '../listed-object.ts';
import type { Node } from '../node.ts';
import type { Pod, PodTemplate } from '../pod.ts';
import type { VerdictReason, WaitsFor } from '../verdict.ts';
import type { Assignment, Subject, Unknown } from './basis.ts';
import type { explainApiVersion } from './basis.ts';

/**
 * Version of the file format. It rises with each change after which an older version of Tutti would misread a file; a reader refuses newer
 * files.
 */
export const snapshotFormat = 1;

/** resource name -> amount in the scheduler's unit: cpu in millicores, memory and storage in bytes, others in units */
export type SnapshotAmounts = Readonly<Record<string, number>>;

/** What the scheduler reads of a node. */
export interface SnapshotNode extends Omit<Node, 'allocatable' | 'declaredFeatures'> {
  readonly allocatable: SnapshotAmounts;
  readonly declaredFeatures: readonly string[];
}

/** What pods of one shape share. */
export interface SnapshotTemplate extends Omit<PodTemplate, 'requests' | 'neededFeatures'> {
  readonly requests: SnapshotAmounts;
  readonly neededFeatures: readonly string[];
}

/** What the scheduler reads of a pod. */
export interface SnapshotPod extends Omit<Pod, 'key' | 'template'> {
  /** Index in `templates`. */
  readonly template: number;
  /** The node on which the scheduler has assumed the pod, whose Binding is not confirmed yet. */
  readonly assumedOn?: string;
}

/** What the scheduler reads of a PodGroup of either API. */
export interface SnapshotGroup {
  readonly source: 'scheduling.x-k8s.io' | 'scheduling.k8s.io';
  readonly uid: string;
  /** source, namespace and name in one */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly creationTimestamp: number;
  readonly minMember: number;
  readonly minResources?: SnapshotAmounts;
  readonly scheduleTimeoutSeconds?: number;
  readonly startedSince?: string;
  readonly startsAnew: boolean;
  readonly confirmsStart: boolean;
  readonly releases: boolean;
  readonly repairGraceMs: number;
  readonly unsupported?: string;
  readonly startIsSticky?: true;
  readonly waitsForGates?: true;
  readonly evictedWhole?: true;
  readonly memberPriority?: number;
  readonly memberPreemptionPolicy?: string;
}

/** What the scheduler knows of the life of a group, besides its objects. */
export interface SnapshotGroupLife {
  readonly key: string;
  readonly started: boolean;
  readonly hasEnded: boolean;
}

/** Capacity that is reserved for an owner. */
export interface SnapshotReservation {
  readonly kind: 'nomination' | 'repair' | 'backfill';
  /** uid of a pod in `pods`, or a placeholder for a pod that does not exist yet. */
  readonly owner: string | SnapshotPod;
  readonly nodeName: string;
  readonly isExclusive?: boolean;
  readonly isKept?: true;
  /** Index in `plans`. */
  readonly plan?: number;
}

/** What the reservations of one plan share. */
export interface SnapshotReservationPlan {
  readonly priority: number;
  readonly excludesSiblings?: boolean;
}

/** The plan that a dry run has made of an entity on the state in the snapshot. */
export interface SnapshotPlan {
  readonly fits: boolean;
  /** In the order of the plan. As many as could be made if it does not fit. */
  readonly assignments: readonly Assignment[];
  /** Why it does not fit. */
  readonly message?: string;
}

/**
 * Why a recorded verdict cannot be compared with a new attempt on the state in the snapshot.
 * - `changed`: the cluster has changed since the attempt. `retrying`: the next attempt is due.
 * - `memory`: it depends on what only the scheduler's memory holds, such as failed bindings, predicted starts or answers of extenders.
 * - `source`: it was read from a condition, which does not say on which state of the cluster it was found.
 */
export type NotComparable = 'changed' | 'retrying' | 'memory' | 'source';

/** An entity in the queue. */
export interface SnapshotEntity {
  /** `pod/` and a uid, or `gang/` and the key of a group. */
  readonly key: string;
  readonly subject: Subject;
  readonly state: 'gated' | 'active' | 'backoff' | 'unschedulable' | 'inFlight' | 'setAside';
  /** RFC 3339: end of the backoff. */
  readonly until?: string;
  /** The frozen key of QueueSort. */
  readonly priority: number;
  readonly incomplete: boolean;
  /** Milliseconds since the epoch. */
  readonly sortedBy: number;
  /** Since when it is ready, in milliseconds since the epoch; absent: it is not. */
  readonly readySince?: number;
  /** Since when it exists, in milliseconds since the epoch. */
  readonly since: number;
  readonly attempts: number;
  readonly rejectedBy: readonly string[];
  /** Why it is not ready. */
  readonly gate?: string;
  readonly verdict?: { readonly reason: VerdictReason; readonly message: string; readonly waitsFor: WaitsFor };
  /** Absent: nothing has changed since the attempt that gave the verdict. */
  readonly notComparable?: NotComparable;
  /** Absent: it was not planned again, because it is not ready, or the work for one snapshot was used up. */
  readonly plan?: SnapshotPlan;
}

/** How a snapshot whose names were replaced breaks ties: as the names would that it no longer has. */
export interface SnapshotTies {
  /** node name -> numbers that order otherwise equal nodes */
  readonly nodes: Readonly<Record<string, { readonly hash: number; readonly rank: number }>>;
  /** uid of a waiting pod -> numbers of its class */
  readonly pods: Readonly<Record<string, { readonly salt: number; readonly rank: number }>>;
}

/**
 * What the scheduler knows at one moment, as far as it decides about pods. It holds no environment, arguments, commands, Secrets, or annotations
 * that the scheduler does not read.
 */
export interface Snapshot {
  readonly apiVersion: typeof explainApiVersion;
  readonly kind: 'Snapshot';
  /** See `snapshotFormat`. */
  readonly format: number;
  readonly tuttiVersion: string;
  readonly source: 'scheduler' | 'api';
  /** RFC 3339. */
  readonly takenAt: string;
  readonly anonymized: boolean;
  readonly unknowns: readonly Unknown[];
  /** Of the scheduler that took it: orders equal nodes. */
  readonly seed: number;
  /** Profiles and backoff of a KubeSchedulerConfiguration. */
  readonly configuration: object;
  readonly nodes: readonly SnapshotNode[];
  readonly templates: readonly SnapshotTemplate[];
  readonly pods: readonly SnapshotPod[];
  readonly podGroups: readonly SnapshotGroup[];
  /** Of groups that have started, or start over. */
  readonly groupLives: readonly SnapshotGroupLife[];
  /** Objects of other kinds that plugins read. */
  readonly objects: readonly ListedObject[];
  readonly reservationPlans: readonly SnapshotReservationPlan[];
  readonly reservations: readonly SnapshotReservation[];
  /** In the order of QueueSort; those that are not ready last. */
  readonly queue: readonly SnapshotEntity[];
  readonly ties?: SnapshotTies;
}
