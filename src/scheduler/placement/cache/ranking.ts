import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import type { Status } from '../../../framework/status.ts';
import type { Asked, FeasibilityOptions } from './asked.ts';
import { Feasibility } from './feasibility.ts';
import { NodeScores } from './node-scores.ts';

/**
 * The feasible nodes for pods that are alike, best first. Building it costs one pass over the nodes, in which only nodes that
 * changed since the pods' like was last seen are filtered and scored again; each further identical pod costs one step,
 * because a placement changes a single node.
 */
export class Ranking {
  readonly #options: FeasibilityOptions;
  readonly #feasibility: Feasibility;
  readonly #scores: NodeScores;
  readonly #salt: number;
  #asked: Asked;
  #isBuilt = false;
  #readsOthers = true;
  /** Of PreScore or Reserve. */
  #error: Status | undefined;

  /** Nothing is looked at yet. `salt`: equal ones order equal nodes alike. */
  constructor(options: FeasibilityOptions & { readonly salt: number }, asked: Asked) {
    this.#options = options;
    this.#salt = options.salt;
    this.#asked = asked;
    this.#feasibility = new Feasibility(options, asked);
    this.#scores = new NodeScores(options, this.#feasibility, asked);
  }

  /** On how many nodes the pod fits, before anybody is placed; undefined where they have to be looked at one by one. */
  countAtOnce(): number | undefined {
    const { nodes, buffers } = this.#options;
    buffers.order.begin(nodes, this.#salt);
    return this.#feasibility.countAtOnce(this.#asked);
  }

  /** How the nodes that the pod fits on are counted, before anybody is placed. Nothing is listed or scored. */
  counting(generation: number): Feasibility {
    this.#feasibility.beginToCount(generation);
    return this.#feasibility;
  }

  /** Looks at the nodes as they are now, for `diagnose`; a ranking that was built before is none any more. */
  look(): void {
    this.#isBuilt = false;
    this.#findFeasible();
  }

  /** How many nodes are left to choose from, once it is built. */
  get size(): number {
    return this.#options.buffers.order.size;
  }

  /** A plugin failed; nothing may be placed by this ranking. */
  get error(): Status | undefined {
    return this.#scoringError ?? this.#feasibility.error;
  }

  get #scoringError(): Status | undefined {
    return this.#error ?? this.#scores.error;
  }

  /** The node to take; undefined when none fits. */
  best(): NodeInfo | undefined {
    return this.error !== undefined ? undefined : this.#options.nodes[this.#options.buffers.order.best()];
  }

  /** Some node was rejected in a way that may change when other pods are placed. */
  get dependsOnOthers(): boolean {
    return this.#feasibility.dependsOnOthers;
  }

  /** What has been placed where may be why a node is rejected: a plugin reads other nodes, or Reserve has its own account. */
  get dependsOnAssignedPods(): boolean {
    return this.#readsOthers || this.#feasibility.isRejectedByReserve;
  }

  /** A plugin that did not skip the pod reads other nodes, so the ranking is out of date after every placement. */
  get readsOthers(): boolean {
    return this.#readsOthers;
  }

  /** As `Feasibility.isRejectedForGood`, of what was found last. */
  get isRejectedForGood(): boolean {
    return this.#scoringError === undefined && this.#feasibility.isRejectedForGood;
  }

  /** Whether these are the nodes that PreFilter left to choose from; undefined: all. */
  isAmong(nodeNames: ReadonlySet<string> | undefined): boolean {
    return sameNames(nodeNames, this.#asked.nodeNames);
  }

  /**
   * Whether the ranking, up to date for one pod, is right for another too that is alike to the node-local plugins. `state`
   * and `nodeNames` are what PreFilter says of that one.
   */
  serves({ pod, state, nodeNames }: Asked): boolean {
    if (!this.#isBuilt || !this.isAmong(nodeNames)) return false;
    if (pod === this.#asked.pod) return true;
    if (this.#readsOthers) return false;
    const { profile } = this.#options;
    const failure = profile.scoring.preScoreOthers(state, pod, () => this.#feasible());
    return failure === undefined && !profile.readsOthers(state, pod);
  }

  /** Takes the best node out for good, because Reserve rejected it. An Error ends the ranking until it is built again. */
  rejectBest(status: Status): void {
    if (status.code === 'Error') {
      this.#error ??= status;
      return;
    }
    const { nodes, buffers } = this.#options;
    this.#feasibility.reject(nodes[buffers.order.best()]!, status);
    buffers.order.removeBest();
  }

  /**
   * An identical pod was just assumed on the best node: looks at that node again. Does nothing where plugins read other
   * nodes: `build` for the next pod has to follow.
   */
  placedOnBest(): void {
    if (this.#readsOthers) return;
    const { nodes, buffers } = this.#options;
    const node = nodes[buffers.order.best()]!;
    const isFeasible = this.#feasibility.stillFits(node);
    if (!this.#scores.replace(node, isFeasible)) this.build(this.#asked);
    else if (isFeasible) buffers.order.bestChanged();
    else buffers.order.removeBest();
  }

  /** Looks at the nodes as they are, for this pod: the one that the ranking is for, or another that is alike to the node-local plugins. */
  build(asked: Asked): void {
    this.#asked = asked;
    this.#isBuilt = true;
    this.#readsOthers = true;
    const { profile } = this.#options;
    const size = this.#findFeasible();
    if (this.error !== undefined) return;
    if (size === 0) {
      this.#readsOthers = profile.filtersByOthers(asked.state, asked.pod);
      return;
    }
    this.#error = profile.scoring.preScore(asked.state, asked.pod, () => this.#feasible());
    if (this.#error !== undefined) return;
    this.#readsOthers = profile.readsOthers(asked.state, asked.pod);
    const begun = profile.begin();
    this.#scores.score(this.#readsOthers);
    profile.ran('Score', this.#scores.error !== undefined ? 'Error' : 'Success', begun);
  }

  /** Why `pod`, one of those that are alike, finds no node (any more). */
  diagnose(pod: Pod): Diagnosis {
    if (!this.#options.buffers.isOf(this.#feasibility)) this.build(this.#asked);
    const diagnosis = this.#feasibility.diagnose(pod);
    const error = this.#scoringError;
    if (error === undefined) return diagnosis;
    const plugins = new Set([...diagnosis.plugins, error.plugin].filter((name) => name !== ''));
    return { ...diagnosis, rejection: { kind: 'pod', status: error }, plugins };
  }

  #findFeasible(): number {
    const { profile, nodes, buffers } = this.#options;
    this.#error = undefined;
    this.#scores.begin(this.#asked);
    buffers.order.begin(nodes, this.#salt);
    const begun = profile.begin();
    const size = this.#feasibility.find(this.#asked);
    profile.ran('Filter', this.error !== undefined ? 'Error' : size === 0 ? 'Unschedulable' : 'Success', begun);
    return size;
  }

  #feasible(): readonly NodeInfo[] {
    const { nodes, buffers } = this.#options;
    const { indexes, size } = buffers.order;
    const feasible: NodeInfo[] = [];
    for (let i = 0; i < size; i++) feasible.push(nodes[indexes[i]!]!);
    return feasible;
  }
}

/** Whether two choices of nodes are the same; undefined: all. */
export function sameNames(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): boolean {
  if (a === b) return true;
  if (a?.size !== b?.size) return false;
  for (const name of a!) if (!b!.has(name)) return false;
  return true;
}
