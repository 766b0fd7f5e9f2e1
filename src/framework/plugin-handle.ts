import type { PersistentVolumeClaim } from '../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../api/persistent-volume.ts';
import type { Pod } from '../api/pod.ts';
import type { ResourceNames } from '../api/resource-names.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { AmountColumnsView } from '../cluster/amount-columns.ts';
import type { AssumedVolumes } from '../cluster/assumed-volumes.ts';
import type { ClaimsInUseView } from '../cluster/claims-in-use.ts';
import type { GangView } from '../cluster/gang.ts';
import type { AffinityTermIndexView } from '../cluster/affinity-term-index.ts';
import type { ListedObjectsView } from '../cluster/listed-objects.ts';
import type { ImagesView } from '../cluster/image-states.ts';
import type { NodeView } from '../cluster/node-info.ts';
import type { PlacedPodsView } from '../cluster/placed-pods.ts';
import type { FreeCapacityView } from '../cluster/free-capacity.ts';
import type { Topology } from '../cluster/topologies.ts';
import type { Logger } from '../observability/logger.ts';
import type { SchedulingEntity } from './scheduling-entity.ts';
import type { Status } from './status.ts';
import type { DryRunOptions, DryRunResult } from './dry-run.ts';
import type { WaitingPods } from './waiting-pods.ts';

/** Who writes a Binding; answers when the API server has accepted it, rejects with a typed client error otherwise. */
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
  /** Asked each time at the last moment: throws WithdrawnError when the pod is not to be bound any more. Absent: it is in any case. */
  readonly mayBeSent?: () => void;
}

/** Who writes what has been chosen for PersistentVolumeClaims. Rejects when it cannot be written, or with the signal's reason. */
export interface VolumeWriter {
  /**
   * Keeps the volume for the claim; whoever binds volumes does the rest. `isOurChoice`: nobody had kept it for the claim before. Answers
   * the volume's resourceVersion from which on it is so. Rejects when it has gone to another claim.
   */
  bind(
    volume: PersistentVolume,
    reservation: PersistentVolumeClaim,
    options: { readonly isOurChoice: boolean; readonly signal: AbortSignal },
  ): Promise<string>;
  /**
   * Has a volume made for the claim where the node can reach it. Answers the claim's resourceVersion from which on it is so. Rejects when
   * it is to be made for another node.
   */
  provision(reservation: PersistentVolumeClaim, nodeName: string, signal: AbortSignal): Promise<string>;
}

/** The read side of the cluster, as plugins see it. */
export interface ClusterLister {
  readonly nodes: readonly NodeView[];
  readonly resources: ResourceNames;
  /** Changes with everything that happens to any node, and what runs or is kept there. */
  readonly generation: number;
  /** Changes when a node comes or goes, or changes in what scheduling reads of it; what runs on nodes does not count. */
  readonly nodesRevision: number;
  /** Pods on nodes by what tells them apart. It is kept from the first time on that somebody asks. */
  readonly placed: PlacedPodsView;
  /** What pods say of other pods, those included that are still to be placed. */
  readonly affinityTerms: AffinityTermIndexView;
  /** What the plugin reads of the kinds that its `reads` names. */
  readonly listed: ListedObjectsView;
  /** Volumes and claims as they will be when what has been decided is written. */
  readonly assumedVolumes: AssumedVolumes;
  /** Which claims pods on nodes use. It is kept from the first time on that somebody asks. */
  readonly claimsInUse: ClaimsInUseView;
  /** What is free, in sum. */
  readonly capacity: FreeCapacityView;
  /** What nodes have and what is taken there, in columns: for `scoreAll`. */
  readonly amounts: AmountColumnsView;
  /** Which images nodes have, if some enabled plugin `readsImages`. */
  readonly images: ImagesView;
  node(name: string): NodeView | undefined;
  /** Which nodes have the same value of a label, by `NodeView.index`. Good for as long as `nodesRevision` stands. */
  topology(key: string): Topology;
  /** The node that the pod is bound to or assumed on. */
  nodeOf(pod: Pod): NodeView | undefined;
  /** The pod as it is now if it still waits for a node. */
  openPod(uid: string): Pod | undefined;
  pods(): Iterable<Pod>;
  gang(key: string): GangView | undefined;
  gangs(): Iterable<GangView>;
}

/**
 * What a plugin may use beside its arguments. It is the only way to values of Tutti's: a plugin that is loaded by path imports
 * types alone.
 */
export interface PluginHandle {
  /** The profile's name: pods of other schedulers are not ours to place. */
  readonly schedulerName: string;
  /** The class, to make rejections with. */
  readonly Status: typeof Status;
  /** The only time there is; a test's may be a virtual one. */
  readonly clock: Clock;
  /** The only source of chance; a test's repeats itself. */
  readonly random: Random;
  /** Its lines carry the plugin's name. */
  readonly logger: Logger;
  readonly cluster: ClusterLister;
  readonly waitingPods: WaitingPods;
  readonly binder: PodBinder;
  readonly volumes: VolumeWriter;
  /**
   * Would the entity fit, whole, if the cluster were otherwise? Plans on the picture as `options` change it, and puts everything
   * back as it was. Costs what a plan costs. For PostFilter and for what runs between cycles: throws while a plan is being
   * made, as in Filter, Reserve or Permit. An attempt that has paused is decided first, in one piece. Extenders are not asked: where they have a say, a yes is the plugins' alone.
   */
  dryRun(schedulingEntity: SchedulingEntity, options?: DryRunOptions): DryRunResult;
  /**
   * Whoever waits with one of these pods, alone or as a gang, is tried now, without the rest of its back-off, and asked about again if
   * it was gated. An attempt that is under way decides first; if it fails there is another, after a back-off. For what no event tells of:
   * somebody outside has done what a plugin asked for. Pods that do not wait are passed over.
   */
  activate(pods: Iterable<Pod>): void;
  /**
   * Makes a change of what this plugin's synchronous points read: at once, or when the attempt that is under way has ended. A large
   * attempt pauses to let others do I/O; what a plugin learns meanwhile from anywhere else than `cluster` and its timers on
   * `clock`, which wait by themselves, must not move under it. In order with all other changes.
   */
  betweenAttempts(change: () => void): void;
}
