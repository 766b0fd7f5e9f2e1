import type { PersistentVolumeClaim } from '../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../api/persistent-volume.ts';
import type { Pod } from '../api/pod.ts';
import type { ResourceNames } from '../api/resource-names.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { AmountColumnsView } from '../cluster/amount-columns.ts';
import type { AssumedVolumes } from '../cluster/assumed-volumes.ts';
import type { ClaimsInUseView } from '../cluster/claims-in-use.ts';
import type { GangView } from '../cluster/gang-view.ts';
import type { AffinityTermIndexView } from '../cluster/affinity-term-index.ts';
import type { ListedObjectsView } from '../cluster/listed-objects.ts';
import type { ImagesView } from '../cluster/image-states.ts';
import type { NodeView } from '../cluster/node-info.ts';
import type { PlacedPodsView } from '../cluster/placed-pods.ts';
import type { FreeCapacityView } from '../cluster/free-capacity.ts';
import type { RequestedByPriorityView } from '../cluster/requested-by-priority.ts';
import type { Topology } from '../cluster/topologies.ts';
import type { Logger } from '../observability/logger.ts';
import type { SchedulingEntity } from './scheduling-entity.ts';
import type { Status } from './status.ts';
import type { DryRunOptions, DryRunResult } from './dry-run.ts';
import type { WaitingPods } from './waiting-pods.ts';

/** Writes Bindings. Resolves when the API server has accepted the Binding; rejects with a typed client error otherwise. */
export interface PodBinder {
  bind(binding: PodBinding, signal: AbortSignal): Promise<void>;
}

export interface PodBinding {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  /** Merged into the pod by the API server in the same write. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Called right before each request; throws WithdrawnError when the pod must not be bound anymore. Absent: always bind. */
  readonly mayBeSent?: () => void;
}

/** Writes the scheduler's decisions about PersistentVolumeClaims. Rejects when a write fails, or with the signal's reason. */
export interface VolumeWriter {
  /**
   * Reserves the volume for the claim; the PersistentVolume controller completes the binding. `isOurChoice`: the volume was not
   * reserved for the claim before. Returns the first resourceVersion of the volume that shows the reservation. Rejects when the volume
   * belongs to another claim.
   */
  bind(
    volume: PersistentVolume,
    reservation: PersistentVolumeClaim,
    options: { readonly isOurChoice: boolean; readonly signal: AbortSignal },
  ): Promise<string>;
  /**
   * Requests provisioning of a volume for the claim that the node can access. Returns the first resourceVersion of the claim that
   * shows the request. Rejects when the claim already selects another node.
   */
  provision(reservation: PersistentVolumeClaim, nodeName: string, signal: AbortSignal): Promise<string>;
}

/** The read side of the cluster, as plugins see it. */
export interface ClusterLister {
  readonly nodes: readonly NodeView[];
  readonly resources: ResourceNames;
  /** Changes with every change to a node, its pods or its reservations. */
  readonly generation: number;
  /** Changes when a node is added or removed, or when a field that scheduling reads changes. Pods on nodes don't count. */
  readonly nodesRevision: number;
  /** Index of the pods on nodes, by the properties that distinguish them. Built on first use and then kept up to date. */
  readonly placed: PlacedPodsView;
  /** Index of the pods' affinity terms, including terms of pods that are not scheduled yet. */
  readonly affinityTerms: AffinityTermIndexView;
  /** Objects of the kinds that the plugin's `reads` names. */
  readonly listed: ListedObjectsView;
  /** Volumes and claims, including decisions that are not written yet. */
  readonly assumedVolumes: AssumedVolumes;
  /** Claims in use by pods on nodes. Built on first use and then kept up to date. */
  readonly claimsInUse: ClaimsInUseView;
  /** Free capacity of the whole cluster. */
  readonly capacity: FreeCapacityView;
  /** Allocatable and requested amounts per node, in columns, for `scoreAll`. */
  readonly amounts: AmountColumnsView;
  /** Requested amounts by the priority of the pods. Built on first use and then kept up to date. */
  readonly requestedByPriority: RequestedByPriorityView;
  /** Images on nodes; kept if an enabled plugin sets `readsImages`. */
  readonly images: ImagesView;
  node(name: string): NodeView | undefined;
  /** Nodes grouped by the value of a label, by `NodeView.index`. Valid while `nodesRevision` stays the same. */
  topology(key: string): Topology;
  /** Returns the node that the pod is bound to or assumed on. */
  nodeOf(pod: Pod): NodeView | undefined;
  /** Returns the current state of the pod if it is not scheduled yet. */
  openPod(uid: string): Pod | undefined;
  pods(): Iterable<Pod>;
  gang(key: string): GangView | undefined;
  gangs(): Iterable<GangView>;
}

/**
 * Everything that a plugin may use besides its arguments. A plugin loaded by path imports only types from Tutti, so it gets all values
 * through this handle.
 */
export interface PluginHandle {
  /** Name of the profile. Pods with another `schedulerName` belong to other schedulers. */
  readonly schedulerName: string;
  /** Class for creating rejections. */
  readonly Status: typeof Status;
  /** The only source of time; tests may pass a virtual clock. */
  readonly clock: Clock;
  /** The only source of randomness; tests pass a seeded one. */
  readonly random: Random;
  /** Logger whose lines carry the plugin's name. */
  readonly logger: Logger;
  readonly cluster: ClusterLister;
  readonly waitingPods: WaitingPods;
  readonly binder: PodBinder;
  readonly volumes: VolumeWriter;
  /**
   * Returns whether the whole entity would fit in the cluster as changed by `options`. Makes a plan and then rolls everything back, so
   * it costs as much as a plan. For PostFilter and for code that runs between cycles: throws while a plan is being made, for example in
   * Filter, Reserve or Permit. If an attempt has paused, the scheduler first completes it without further pauses. Does not call
   * extenders: where extenders matter, a positive result covers only the plugins.
   */
  dryRun(schedulingEntity: SchedulingEntity, options?: DryRunOptions): DryRunResult;
  /**
   * Retries the entities of these pods now, without the rest of their backoff, and runs PreEnqueue again for gated entities. If an
   * attempt is in progress, it finishes first; if it fails, the queue retries the entity after a backoff. For changes that cause no event,
   * such as an external component that completed a plugin's request. Ignores pods that are not in the queue.
   */
  activate(pods: Iterable<Pod>): void;
  /**
   * Applies a change to state that this plugin's synchronous points read, at once or when the attempt in progress has ended. A large
   * attempt pauses to let I/O run. During a pause, state that does not come from `cluster` or from timers on `clock` must not change;
   * those two are deferred automatically. All deferred changes run in order.
   */
  betweenAttempts(change: () => void): void;
}
