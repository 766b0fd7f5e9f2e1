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
import type { PreemptionLimits } from './preemption-limits.ts';
import type { PreemptionPolicy } from './preemption-policy.ts';
import type { ResourceDemand } from './resource-demand.ts';

/** Result of PreFilter that limits the attempt to these nodes. */
export interface NodeNames {
  readonly nodeNames: ReadonlySet<string>;
}

/** Result of Permit: the pod waits for an Allow, at most this long. */
export interface Wait {
  readonly waitMs: number;
}

/**
 * Result of PostFilter for an entity that does not fit. With nominations the plugin requests reservations: the scheduler reserves
 * capacity for all nominated members, or for none, while the victims terminate.
 *
 * If the plugin signs the pods, a result without nominations also holds for the other entities of the equivalence class, as `undefined`
 * does, until an event may help them. A result with nominations holds for one entity; the next entity of the class is tried after it.
 */
export interface PostFilterResult {
  /** Text that the scheduler appends to the verdict. Without nominations it must fit all entities of the class, so it names none of them. */
  readonly message: string;
  /**
   * True if the events that the plugin registered may change this result: their hints then run for this entity, besides those of the
   * plugins that rejected its pods. Default false: only the events of those plugins may help.
   */
  readonly eventsMayHelp?: boolean;
  /** Node for each member that the entity still needs, as planned by `handle.dryRun`. Absent: no reservation. */
  readonly nominations?: readonly Nomination[];
  /** Pods to evict once the capacity is reserved. Only allowed together with nominations. */
  readonly victims?: readonly Pod[];
  /** Instead of nominations: the scheduler searches for victims by this policy, and the policy describes the result. */
  readonly policy?: PreemptionPolicy;
}

/**
 * A scheduler plugin: any of kube-scheduler's extension points, as optional methods. The points from PreEnqueue to Permit are
 * synchronous and run inside one scheduling cycle, on a snapshot that does not change during the cycle. PreBind, Bind and PostBind
 * run in the binding cycle. At every point `undefined` means Success. If a plugin throws, its entity fails with an Error status that
 * names the plugin; the scheduling loop continues. Loading rejects a plugin with any other member, own or inherited: keep helpers and
 * state in #private members or outside the object.
 */
export interface Plugin {
  readonly name: string;

  /**
   * True for the plugin that decides what a gang is. In a profile without one, groups have no meaning: the scheduler schedules their
   * members as single pods. Once PreEnqueue has accepted two gangs with equal demands (the same minResources, number of members needed
   * and signatures), its PreFilter must give them the same result.
   */
  readonly decidesGangs?: boolean;

  /**
   * True when Filter or Score reads anything besides the pod and the given node, such as other pods or other nodes. The scheduler then
   * calls them again after each assignment of a plan, except for pods for which PreFilter (PreScore for Score) returned Skip.
   * Default false: the scheduler reuses results while the pod's signature and the node's generation stay the same.
   */
  readonly readsOtherNodes?: boolean;

  /**
   * For a plugin that reads other nodes, called after PreFilter and PreScore: returns whether assigning a pod with the same signature
   * may change the results of Filter and Score for this pod. False: the scheduler reuses results as for a plugin that reads one node.
   * Must be cheap. Absent: true.
   */
  dependsOnAssignedPods?(state: CycleState, pod: Pod): boolean;

  /**
   * For a plugin that reads other nodes, called after PreFilter: returns whether assigning `other` to a node may change the result of
   * Filter for `pod` on that node. False for the owner of a reservation: the scheduler does not call Filter again as if the owner ran
   * there. Must be cheap, and may depend only on the two pods. Absent: true.
   */
  dependsOnPod?(state: CycleState, pod: Pod, other: Pod): boolean;

  /** Kinds that the plugin reads through `handle.cluster.listed`. Tutti watches a kind only if an enabled plugin reads it. Default: none. */
  readonly reads?: readonly ListedKind[];

  /** True when the plugin reads the images of nodes and pods. Tutti keeps them only if an enabled plugin reads them. Default false. */
  readonly readsImages?: boolean;

  /** Deadline of PreBind and of Bind for one pod, in milliseconds. Default: ten minutes. */
  readonly asyncDeadlineMs?: number;

  /**
   * Returns the canonical text of everything about the pod that this plugin's PreFilter, Filter, PostFilter, PreScore, Score, `rulesOut`
   * and hints read. Pods with equal texts must get equal results. The scheduler caches results by this text, so these points must not
   * depend on anything else, for example the time. Of a gang, PostFilter may also read how many members it needs and its
   * minResources. Runs for each pod in each attempt, so it must be cheap. `undefined`: results are not reusable. While a plugin with
   * Filter or Score has no `sign`, no result is reusable for any pod. While a plugin with PostFilter has none, entities share no rejection.
   */
  sign?(pod: Pod): string | undefined;

  /**
   * Returns the canonical text of what Filter and Score read about this pod elsewhere in the snapshot, besides `sign` and the given
   * node. Cached results stay valid while the text stays the same. Only for state that no assignment changes, such as the set of nodes.
   * Must be cheap. Absent: they read nothing else.
   */
  signCluster?(pod: Pod): string;

  /**
   * Returns a rejection to keep the entity out of the active queue (gated). The scheduler calls it again whenever the entity or its
   * group changes. Except for the plugin that decides what a gang is, it also calls it after each event that the plugin registered and
   * whose hint returns true. Must be cheap.
   */
  preEnqueue?(schedulingEntity: SchedulingEntity): Status | undefined;

  /** QueueSort: returns a negative number when `a` goes first. Exactly one enabled plugin has it. Must be a total order. */
  compare?(a: QueueKey, b: QueueKey): number;

  /**
   * Runs once per attempt for all pods to which this plugin gives the same signature, otherwise once per pod and attempt. `Skip` disables
   * this plugin's Filter for the attempt; any rejection ends the attempt. If a plugin that reads other nodes skipped a pod, the scheduler
   * calls it again after each assignment, unless the plugin returned `Status.skipThroughout`.
   */
  preFilter?(state: CycleState, pod: Pod): Status | NodeNames | undefined;
  /**
   * Updates what PreFilter computed for `pod` after `added` was assigned to `node`. Called for each member that a plan assigns and for
   * each reservation. If a plugin reads other nodes and has PreFilter but not both of these methods, the scheduler calls PreFilter
   * again after each assignment. It does the same if PreFilter computed nothing (it skipped the pod, rejected it or named nodes).
   * Any result other than `undefined` is a failure.
   */
  preFilterAddPod?(state: CycleState, pod: Pod, added: Pod, node: NodeView): Status | undefined;
  /** Reverts `preFilterAddPod`. */
  preFilterRemovePod?(state: CycleState, pod: Pod, removed: Pod, node: NodeView): Status | undefined;

  /**
   * Returns whether it is certain, without looking at single nodes, that fewer than the needed number of these pods can pass Filter,
   * whatever nodes they get. For a plugin with PostFilter: whatever pods it evicts. The scheduler does not retry an entity that a plugin
   * with Filter rejected and rules out, if all plugins with PostFilter rule it out too. Must be cheap. The plugin must register every
   * event that may turn a `true` into `false`.
   */
  rulesOut?(demand: ResourceDemand): boolean;

  /** Returns a rejection if the pod must not run on this node. Must not allocate on success; return constants on failure. */
  filter?(state: CycleState, pod: Pod, node: NodeView): Status | undefined;

  /**
   * `filter` for many nodes at once. For a plugin that reads other nodes, which the scheduler calls for all nodes after each assignment,
   * or for one that is faster this way. Of the first `size` entries of `indexes` (`NodeView.index`), moves the nodes that pass to the
   * front, in their order, and returns their number. Must pass exactly the nodes that `filter` passes; `filter` supplies the reasons.
   */
  filterAll?(state: CycleState, pod: Pod, indexes: Int32Array, size: number): number;

  /** For a plugin with PostFilter: how the scheduler carries out its preemptions. Absent fields have defaults. */
  readonly preemptionLimits?: Partial<PreemptionLimits>;

  /**
   * Called when no plan was found for these pods, which must be placed together. Returns sets of nodes (`NodeView.index`), such as
   * topology domains, one of which must contain all pods that this plugin keeps together. The planner tries each set, the one with the
   * most free capacity first. Undefined: the plugin keeps no pods together.
   */
  domainsFor?(members: readonly Pod[]): readonly (readonly number[])[] | undefined;

  /**
   * Runs once after the entity failed. As in kube-scheduler, the first result that helps the entity ends the point: one with nominations, or
   * with a policy by which the scheduler finds victims. Otherwise the verdict contains the messages of all plugins. If a plugin throws, no
   * further one is called, and the entity shares its rejection with no other. Also called to explain why an entity waits; the result is then not
   * carried out.
   */
  postFilter?(schedulingEntity: SchedulingEntity, diagnosis: Diagnosis): PostFilterResult | undefined;

  /**
   * Runs once before Score. `feasible` returns the nodes that passed Filter; calling it is expensive. `Skip` disables this plugin's
   * Score for the attempt.
   */
  preScore?(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined;

  /** Returns any finite number; 0 to 100 if the plugin has no NormalizeScore. Higher is better. */
  score?(state: CycleState, pod: Pod, node: NodeView): number;

  /**
   * `score` for many nodes at once: scores the first `size` entries of `indexes` (`NodeView.index`) and writes each score to `scores` at
   * the node's index. For a plugin that is faster this way. The scheduler still calls `score` for single nodes, and both must agree. For
   * a plugin that reads other nodes, it is called once after PreScore with all nodes that passed Filter.
   */
  scoreAll?(state: CycleState, pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void;

  /**
   * Maps the raw scores of all feasible nodes to 0 to 100, in place. Each result may depend only on its own raw score and on the minimum
   * and maximum of all scores, as in all of kube-scheduler's plugins. While both stay the same, the next member of a gang reuses the
   * normalized scores. Plugins that read other nodes are exempt, because they get all scores each time.
   */
  normalizeScore?(state: CycleState, pod: Pod, scores: Float64Array): void;

  /** Called when the pod is assumed on the node. A rejection undoes the assignment. */
  reserve?(state: CycleState, pod: Pod, node: NodeView): Status | undefined;
  /** Undoes Reserve, in reverse plugin order, once per pod and node. Also called for pods that this plugin never reserved. */
  unreserve?(state: CycleState, pod: Pod, nodeName: string): void;

  /** The gate before binding: `undefined` passes, `Wait` makes the pod wait until Allow or Reject, a Status rejects. */
  permit?(state: CycleState, pod: Pod, nodeName: string): Status | Wait | undefined;

  /** Runs before PreBind. `Skip`: the plugin has no work for this pod, so the scheduler does not wait for it. Absent: never skips. */
  preBindPreFlight?(state: CycleState, pod: Pod, nodeName: string): Status | undefined;
  /** Does work that must finish before the pod is bound (volumes). For a gang, PreBind of every member runs before any Bind. */
  preBind?(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined>;
  /** Binds the pod, or returns `Skip`. The first plugin that does not skip decides. */
  bind?(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined>;
  /** Runs after Bind, for information only. */
  postBind?(state: CycleState, pod: Pod, nodeName: string): void;

  /** Returns the events that may make a pod schedulable that this plugin rejected. Read once at start. Empty: only the flush retries it. */
  eventsToRegister?(): readonly EventRegistration[];
}

/** Creates a plugin for one profile. `args` is the plugin's configuration, decoded from JSON. Throws when it is not valid. */
export type PluginFactory = (args: unknown, handle: PluginHandle) => Plugin;
