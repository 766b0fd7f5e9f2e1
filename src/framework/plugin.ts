import type { ListedKind } from '../api/listed-object.ts';
import type { Pod } from '../api/pod.ts';
import type { NodeView } from '../cluster/node-info.ts';
import type { SchedulingEntity, QueueKey } from './scheduling-entity.ts';
import type { EventRegistration } from './cluster-event.ts';
import type { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { PluginHandle } from './plugin-handle.ts';
import type { Status } from './status.ts';
import type { Nomination } from './dry-run.ts';
import type { ResourceDemand } from './resource-demand.ts';

/** PreFilter's way to say that only these nodes are worth looking at. */
export interface NodeNames {
  readonly nodeNames: ReadonlySet<string>;
}

/** Permit's way to say that the pod has to wait for somebody's Allow, at most this long. */
export interface Wait {
  readonly waitMs: number;
}

/**
 * What a group-level or pod-level PostFilter found out about an entity that does not fit. With nominations it asks for room: it
 * is kept for the nominated members, all of them or none, while the victims go.
 */
export interface PostFilterResult {
  /** Appended to the verdict. */
  readonly message: string;
  /** Where each member will go that the entity is short of; a plan of `handle.dryRun`. Absent: nothing is kept. */
  readonly nominations?: readonly Nomination[];
  /** Pods that have to go first; evicted once the room is kept. Only beside nominations. */
  readonly victims?: readonly Pod[];
}

/**
 * A scheduler plugin: any of kube-scheduler's extension points, as optional methods. The points from PreEnqueue to Permit
 * are synchronous and run inside one scheduling cycle, on a picture that does not change meanwhile; PreBind, Bind and
 * PostBind belong to the binding cycle. Everywhere `undefined` means Success. A plugin that throws fails its entity with
 * an Error status that names it; it never stops the loop. A plugin with any other member, inherited ones included, is rejected when it is
 * loaded: helpers and state are #private or outside the object.
 */
export interface Plugin {
  readonly name: string;

  /**
   * True for the plugin that decides what a gang is. Without one in the profile groups mean nothing: their members are
   * scheduled as lone pods.
   */
  readonly decidesGangs?: boolean;

  /**
   * True when Filter or Score read anything but the pod and the one node they are given (other pods, other nodes): their
   * answers are then asked anew after each placement of a plan, for the pods for which PreFilter (PreScore for Score) did not
   * answer Skip. Default false: answers are reused while the pod's signature and the node's generation stay the same.
   */
  readonly readsOtherNodes?: boolean;

  /**
   * Of a plugin that reads other nodes, once PreFilter and PreScore have run: whether what its Filter and Score say of this pod, and of
   * those that it signs alike, may change when one of them is placed. False: they are asked as others are. Must be cheap. Absent: it may.
   */
  dependsOnAssignedPods?(state: CycleState, pod: Pod): boolean;

  /** Kinds that it reads by `handle.cluster.listed`. They are watched only where an enabled plugin reads them. Default: none. */
  readonly reads?: readonly ListedKind[];

  /** True when it reads the images of nodes and pods. They are only kept where an enabled plugin reads them. Default false. */
  readonly readsImages?: boolean;

  /** How long its PreBind or Bind may take for one pod, in milliseconds. Default ten minutes. */
  readonly asyncDeadlineMs?: number;

  /**
   * The canonical text of everything about the pod that this plugin's PreFilter, Filter, PreScore, Score and hints read: equal
   * texts, equal answers. The answers are kept, so nothing else may be in it, the time for one. Asked about each pod in each
   * attempt, so it must be cheap. `undefined`: not reusable. A plugin with Filter or Score but without `sign` makes no pod reusable.
   */
  sign?(pod: Pod): string | undefined;

  /**
   * The canonical text of what Filter and Score read about this pod elsewhere in the picture, beside `sign` and the node that they are
   * given: answers are kept for as long as it stays the same. Only for what no placement changes, such as which nodes there
   * are. Must be cheap. Absent: nothing.
   */
  signCluster?(pod: Pod): string;

  /**
   * May the entity enter the queue? A rejection gates it; it is asked again whenever the entity or its group changes, and, but for the plugin
   * that decides what a gang is, after each event that the plugin registered and whose hint agrees. Must be cheap.
   */
  preEnqueue?(schedulingEntity: SchedulingEntity): Status | undefined;

  /** QueueSort: negative when `a` goes first. Exactly one enabled plugin has it. Must be a total order. */
  compare?(a: QueueKey, b: QueueKey): number;

  /**
   * Once an attempt for pods that this plugin signs alike, else once a pod and attempt. `Skip` switches this plugin's Filter off
   * for the attempt; any rejection ends it. A plugin that reads other nodes is asked again after each placement if it skipped a
   * pod, unless it did so with `Status.skipThroughout`.
   */
  preFilter?(state: CycleState, pod: Pod): Status | NodeNames | undefined;
  /**
   * `added` is now on `node`: brings what PreFilter computed for `pod` up to date. Called for each member that a plan places, and
   * where room is kept for somebody. A plugin that reads other nodes and has PreFilter but not both of these is asked
   * PreFilter again after each placement, as is one whose PreFilter had nothing to compute (it skipped the pod, rejected it or
   * named nodes). Any answer but `undefined` is a failure.
   */
  preFilterAddPod?(state: CycleState, pod: Pod, added: Pod, node: NodeView): Status | undefined;
  /** Takes back what `preFilterAddPod` did. */
  preFilterRemovePod?(state: CycleState, pod: Pod, removed: Pod, node: NodeView): Status | undefined;

  /**
   * Is it certain, without a look at the nodes, that not so many of these pods pass Filter, wherever they are put? Asked of what this
   * plugin has rejected, before it is tried again; must be cheap. Whatever may change a `true` must be an event that it registered.
   */
  rulesOut?(demand: ResourceDemand): boolean;

  /** May the pod run on this node? Must not allocate on success; return constants on failure. */
  filter?(state: CycleState, pod: Pod, node: NodeView): Status | undefined;

  /**
   * `filter` of many nodes at once, for a plugin that reads other nodes and is therefore asked about all of them after each placement, or
   * that is quicker so than node by node: of the first `size` nodes of `indexes` (`NodeView.index`) keeps those that it would let the pod
   * go to, in their order, at the beginning. Answers how many. Must let go exactly where `filter` does, which is asked for the reasons.
   */
  filterAll?(state: CycleState, pod: Pod, indexes: Int32Array, size: number): number;

  /**
   * Asked when a plan has found no way for these pods, which are to be placed together: sets of nodes (`NodeView.index`) of which one
   * has to hold those that this plugin ties to each other, because it does not let them apart. The plan is tried within each, the
   * roomiest first. Undefined: it ties nobody.
   */
  domainsFor?(members: readonly Pod[]): readonly (readonly number[])[] | undefined;

  /** Once, after the entity failed. The first plugin that returns a result ends the point. */
  postFilter?(schedulingEntity: SchedulingEntity, diagnosis: Diagnosis): PostFilterResult | undefined;

  /**
   * Once before Score. `feasible` lists the nodes that passed Filter, at a cost. `Skip` switches this plugin's Score off for
   * the attempt.
   */
  preScore?(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined;

  /** Any finite number; 0 to 100 where the plugin has no NormalizeScore. Higher is better. */
  score?(state: CycleState, pod: Pod, node: NodeView): number;

  /**
   * `score` of many nodes at once: of the first `size` nodes of `indexes` (`NodeView.index`), into `scores` by that index. For a plugin
   * that is quicker so than node by node; `score` is asked about single ones all the same, and both must say the same. One that reads
   * other nodes is asked about all that passed Filter, once after PreScore.
   */
  scoreAll?(state: CycleState, pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void;

  /**
   * Turns the raw scores of all feasible nodes into 0 to 100, in place. Each result may depend only on its own raw score
   * and on the least and the greatest of them (as with all of kube-scheduler's), because a gang's next member reuses the
   * normalised scores while those two stand. That is not asked of a plugin that reads other nodes: it is given all of them each time.
   */
  normalizeScore?(state: CycleState, pod: Pod, scores: Float64Array): void;

  /** Told that the pod is assumed on the node. A rejection undoes the placement. */
  reserve?(state: CycleState, pod: Pod, node: NodeView): Status | undefined;
  /**
   * Undoes Reserve, in reverse plugin order, once for each pod and node; also called for pods that this plugin never reserved.
   */
  unreserve?(state: CycleState, pod: Pod, nodeName: string): void;

  /** The gate before binding: `undefined` passes, `Wait` parks the pod until Allow or Reject, a Status rejects. */
  permit?(state: CycleState, pod: Pod, nodeName: string): Status | Wait | undefined;

  /**
   * Asked before PreBind: `Skip` when there is nothing to be done for this pod, which then need not be waited for. Absent: there may
   * always be something.
   */
  preBindPreFlight?(state: CycleState, pod: Pod, nodeName: string): Status | undefined;
  /** Work that must be done before the pod is bound (volumes). For a gang, every member's runs before any Bind. */
  preBind?(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined>;
  /** Binds the pod, or answers `Skip`. The first plugin that does not skip decides. */
  bind?(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined>;
  /** For information, after Bind. */
  postBind?(state: CycleState, pod: Pod, nodeName: string): void;

  /** Which events may help a pod that this plugin turned away. Read once at start; none means that only the flush retries it. */
  eventsToRegister?(): readonly EventRegistration[];
}

/** Makes a plugin of one profile. `args` is what the configuration gives it, already decoded from JSON; throws when it is not valid. */
export type PluginFactory = (args: unknown, handle: PluginHandle) => Plugin;
