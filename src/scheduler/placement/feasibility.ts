import type { Pod } from '../../api/pod.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import { filtersFor, notPreselected } from '../../framework/profile.ts';
import type { FilterPlugin, Profile } from '../../framework/profile.ts';
import type { Status } from '../../framework/status.ts';
import { filterBesideClaims } from './filter-beside-claims.ts';
import type { Answering, KeptShare } from './kept-answers.ts';
import type { KnownNodes } from './known-nodes.ts';
import { notAsked } from './narrowing.ts';
import type { Narrowing } from './narrowing.ts';
import type { NodeTable } from './node-table.ts';
import type { RankingRoom } from './ranking-room.ts';

/** A pod, with what PreFilter said of it. */
export interface Asked {
  readonly pod: Pod;
  readonly state: CycleState;
  /** The only nodes worth looking at; undefined: all. */
  readonly nodeNames: ReadonlySet<string> | undefined;
}

/** What pods that are alike are asked about. */
export interface FeasibilityOptions {
  readonly profile: Profile;
  readonly nodes: readonly NodeInfo[];
  readonly answering: Answering;
  /** Indexes of the only nodes to look at; absent: all. */
  readonly within?: readonly number[] | undefined;
  /** What extenders said of the nodes; absent: they have no say. */
  readonly narrowing?: Narrowing | undefined;
  /** Told how many nodes will be looked at, each time; may throw. */
  readonly spend?: ((steps: number) => void) | undefined;
  /** Whether a claimant is on a node already, or gone, so that its claim no longer counts. */
  readonly hasNoClaim: (uid: string) => boolean;
  readonly room: RankingRoom;
  /** What is known of pods that are alike; kept along a plan. */
  readonly known: KnownNodes;
}

/** A share of the plugins at work on one pod. */
interface Working {
  readonly share: KeptShare;
  readonly table: NodeTable;
  /** Those that were not told to skip the pod. */
  readonly filters: readonly FilterPlugin[];
}

/** Which nodes a pod fits on, and why not on the others. Only nodes that changed since its like was asked about are looked at again. */
export class Feasibility {
  readonly #options: FeasibilityOptions;
  #asked: Asked;
  #working: readonly Working[] = [];
  #anew: readonly FilterPlugin[] = [];
  #others: readonly FilterPlugin[] = [];
  #error: Status | undefined;
  #dependsOnOthers = false;
  /** Some node was refused by something else than the plugins that look at it alone. */
  #isNarrowed = false;
  /** node index -> refusal by Reserve; stands for as long as this */
  readonly #reserve = new Map<number, Status>();

  constructor(options: FeasibilityOptions, asked: Asked) {
    this.#options = options;
    this.#asked = asked;
  }

  get asked(): Asked {
    return this.#asked;
  }

  /** A plugin failed: nothing is known. */
  get error(): Status | undefined {
    return this.#error;
  }

  /** Some node was refused in a way that may change when other pods are placed. */
  get dependsOnOthers(): boolean {
    return this.#dependsOnOthers;
  }

  get isRefusedByReserve(): boolean {
    return this.#reserve.size > 0;
  }

  /** The kept answers, where scores are kept too. */
  get kept(): readonly { readonly share: KeptShare; readonly table: NodeTable }[] {
    return this.#working;
  }

  /**
   * Lists the nodes that fit in the room's order; answers how many. They count as long as the room is not taken by another. With
   * `generation`, the cluster's, it is noted which nodes the plugins that look at one alone let the pod go to.
   */
  find(asked: Asked, generation?: number): number {
    const { nodes, within, narrowing, known, room } = this.#options;
    this.#begin(asked);
    if (generation !== undefined) known.begin(nodes.length, generation);
    const isNew = generation !== undefined;
    const mayBeNarrowed =
      asked.nodeNames !== undefined || narrowing !== undefined || this.#reserve.size > 0 || this.#others.length > 0;
    const { indexes } = room.order;
    const nodeCount = this.#nodeCount;
    let size = 0;
    for (let place = 0; place < nodeCount; place++) {
      const node = nodes[within === undefined ? place : within[place]!]!;
      if (isNew) {
        if (!this.#fitsAlone(node)) continue;
        known.note(node);
      } else if (!(known.fits(node) ?? this.#fitsAlone(node))) continue;
      if (mayBeNarrowed && this.#isRefused(node)) continue;
      indexes[size++] = node.index;
    }
    // Nothing is known of a node that a plugin failed on.
    if (this.#error !== undefined) known.forget();
    room.order.size = size;
    return size;
  }

  #begin(asked: Asked): void {
    const { profile, nodes, answering, spend, room } = this.#options;
    spend?.(this.#nodeCount);
    const { state } = asked;
    this.#asked = asked;
    this.#error = undefined;
    this.#dependsOnOthers = false;
    this.#isNarrowed = this.#reserve.size > 0;
    this.#anew = filtersFor(state, answering.anew.filters);
    this.#others = filtersFor(state, profile.otherFilters);
    this.#working = answering.kept.map((share) => {
      const table = share.table();
      table.reserve(nodes.length);
      return { share, table, filters: filtersFor(state, share.filters) };
    });
    room.take(this, nodes.length);
  }

  /** The node, one that fitted, has changed: does it still? */
  stillFits(node: NodeInfo): boolean {
    return this.#fitsAlone(node);
  }

  /** Whether the plugins that look at this node alone let the pod go there. */
  #fitsAlone(node: NodeInfo): boolean {
    const { index, generation } = node;
    const working = this.#working;
    for (let i = 0; i < working.length; i++) {
      const { table } = working[i]!;
      if (table.filtered[index] !== generation) this.#ask(working[i]!, node);
      if (table.statuses[index] !== undefined) return false;
    }
    if (this.#anew.length === 0) return true;
    const status = this.#filter(this.#anew, node);
    if (status === undefined) return true;
    this.#refuse(node, status);
    return false;
  }

  /** Reserve refuses the node, for as long as this is used. */
  refuse(node: NodeInfo, status: Status): void {
    this.#reserve.set(node.index, status);
    this.#isNarrowed = true;
  }

  /**
   * Whether every node refuses the pod in a way that has nothing to do with other pods: neither taking some away nor placing
   * more can help.
   */
  get isRefusedForGood(): boolean {
    if (this.#error !== undefined || this.#isNarrowed) return false;
    for (let place = 0; place < this.#nodeCount; place++) {
      if (this.#statusOf(this.#indexAt(place))?.code !== 'UnschedulableAndUnresolvable') return false;
    }
    return true;
  }

  /** Why the pod finds no node (any more). */
  diagnose(pod: Pod): Diagnosis {
    const nodeCount = this.#nodeCount;
    if (this.#error !== undefined) {
      const { plugin } = this.#error;
      return { pod, nodeCount, refusal: { kind: 'pod', status: this.#error }, plugins: new Set(plugin && [plugin]) };
    }
    /** Most nodes are refused by one of a few constants. */
    const counts = new Map<Status, number>();
    for (let place = 0; place < nodeCount; place++) {
      const status = this.#statusOf(this.#indexAt(place));
      if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    const reasons = new Map<string, number>();
    const plugins = new Set<string>();
    let resolvable = false;
    for (const [status, count] of counts) {
      for (const reason of status.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
      if (status.plugin !== '') plugins.add(status.plugin);
      resolvable ||= status.code === 'Unschedulable';
    }
    return { pod, nodeCount, refusal: { kind: 'nodes', reasons, resolvable }, plugins };
  }

  get #nodeCount(): number {
    const { within, nodes } = this.#options;
    return within === undefined ? nodes.length : within.length;
  }

  /** Index of the node that is looked at in this place. */
  #indexAt(place: number): number {
    const { within } = this.#options;
    return within === undefined ? place : within[place]!;
  }

  /** The first refusal, in the profile's order of those that look at this node alone. */
  #statusOf(index: number): Status | undefined {
    const node = this.#options.nodes[index]!;
    for (const working of this.#working) {
      const { table } = working;
      // It was known without a look, or somebody else has had the table.
      if (table.filtered[index] !== node.generation) this.#ask(working, node);
      const status = table.statuses[index];
      if (status !== undefined) return this.#refusedEarlier(node, status) ?? status;
    }
    const status = this.#reserve.get(index) ?? this.#options.room.refusals[index] ?? this.#filter(this.#anew, node);
    return status && (this.#refusedEarlier(node, status) ?? status);
  }

  /** Where several share the work, one that comes before in the profile may refuse the node too: what it says counts. */
  #refusedEarlier(node: NodeInfo, status: Status): Status | undefined {
    if (this.#working.length + Math.min(1, this.#anew.length) < 2) return undefined;
    const { profile } = this.#options;
    const place = profile.localFilters.findIndex(({ name }) => name === status.plugin);
    // All of them come before PreFilter's choice of nodes; beside claims each of them is asked twice.
    const filters = profile.localFilters.slice(0, place < 0 || node.claims.size > 0 ? undefined : place);
    return this.#filter(filtersFor(this.#asked.state, filters), node);
  }

  #ask({ table, filters }: Working, node: NodeInfo): void {
    const status = this.#filter(filters, node);
    table.statuses[node.index] = status;
    if (status?.code === 'Error') this.#error ??= status;
    else table.markFiltered(node);
  }

  /** By Reserve, PreFilter's choice of nodes, extenders, or those that read other nodes: never reused. */
  #isRefused(node: NodeInfo): boolean {
    if (this.#reserve.has(node.index)) return true;
    const status = this.#refusalByOthers(node);
    if (status === undefined) return false;
    this.#isNarrowed = true;
    this.#refuse(node, status);
    return true;
  }

  #refuse(node: NodeInfo, status: Status): void {
    this.#options.room.refuse(node.index, status);
    if (status.code === 'Error') this.#error ??= status;
  }

  #refusalByOthers(node: NodeInfo): Status | undefined {
    const { narrowing } = this.#options;
    if (this.#asked.nodeNames?.has(node.name) === false) return notPreselected;
    if (narrowing?.allowed.has(node.name) === false) return narrowing.refused.get(node.name) ?? notAsked;
    const status = this.#others.length === 0 ? undefined : this.#filter(this.#others, node);
    if (status !== undefined) this.#dependsOnOthers = true;
    return status;
  }

  #filter(filters: readonly FilterPlugin[], node: NodeInfo): Status | undefined {
    const { profile, hasNoClaim } = this.#options;
    const { state, pod } = this.#asked;
    if (node.claims.size === 0) return profile.filterAll(filters, state, pod, node);
    return filterBesideClaims(profile, filters, state, pod, node, hasNoClaim);
  }
}
