import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import { refusersOf } from '../../../framework/diagnosis.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import { filtersFor, notPreselected } from '../../../framework/profile.ts';
import type { FilterPlugin, Profile } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import { copyAt, fillAt, keepFlagged, listFlagged, listOutdated, listOutdatedOfAll } from './columns.ts';
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
  /** node index -> generation of the node, as it is. */
  readonly generations: () => Float64Array;
  /** Somebody keeps room on some node. */
  readonly hasClaims: () => boolean;
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

/** From so many nodes on they are asked about at once. */
const manyNodes = 4;

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

  /** Lists the nodes that fit in the room's order; answers how many. They count as long as the room is not taken by another. */
  find(asked: Asked): number {
    const { nodes, within, narrowing, known, room } = this.#options;
    this.#begin(asked);
    room.take(this, nodes.length);
    if (this.#isInColumns) return (room.order.size = this.#findInColumns(room.order.indexes));
    const mayBeNarrowed =
      asked.nodeNames !== undefined || narrowing !== undefined || this.#reserve.size > 0 || this.#others.length > 0;
    const { indexes } = room.order;
    const nodeCount = this.#nodeCount;
    let size = 0;
    for (let place = 0; place < nodeCount; place++) {
      const node = nodes[within === undefined ? place : within[place]!]!;
      if (!(known.fits(node) ?? this.#refusalAlone(node) === undefined)) continue;
      if (mayBeNarrowed && this.#refusalByOthers(node) !== undefined) continue;
      indexes[size++] = node.index;
    }
    room.order.size = size;
    return size;
  }

  /** `find` for who wants to know how many alone; undefined where nodes have to be looked at one by one, or a plugin failed. */
  countAtOnce(asked: Asked): number | undefined {
    const { nodes, room } = this.#options;
    this.#begin(asked);
    if (!this.#isInColumns) return undefined;
    room.take(this, nodes.length);
    const size = (room.order.size = this.#findInColumns(room.order.indexes));
    return this.#error === undefined ? size : undefined;
  }

  /** Nothing is to be asked about single nodes but what the kept answers lack. */
  get #isInColumns(): boolean {
    const { within, narrowing, hasClaims } = this.#options;
    return (
      within === undefined &&
      narrowing === undefined &&
      this.#asked.nodeNames === undefined &&
      this.#reserve.size === 0 &&
      this.#anew.every(isInBulk) &&
      this.#others.every(isInBulk) &&
      !hasClaims()
    );
  }

  /** As `find`, through columns of numbers: several times as fast where most answers are known. */
  #findInColumns(indexes: Int32Array): number {
    const { nodes, generations, room } = this.#options;
    const now = generations();
    let size = nodes.length;
    for (const [i, working] of this.#working.entries()) {
      const { filtered, fits } = working.table;
      const isFirst = i === 0;
      const count = isFirst
        ? listOutdatedOfAll(room.outdated, size, filtered, now)
        : listOutdated(room.outdated, indexes, size, filtered, now);
      if (count >= manyNodes) this.#askMany(working, room.outdated, count);
      else for (let j = 0; j < count; j++) this.#ask(working, nodes[room.outdated[j]!]!);
      size = isFirst ? listFlagged(indexes, size, fits) : keepFlagged(indexes, size, fits);
    }
    if (this.#working.length === 0) for (let index = 0; index < size; index++) indexes[index] = index;
    if (this.#error !== undefined) return size;
    size = this.#keepPassingAll(this.#anew, indexes, size);
    const left = this.#keepPassingAll(this.#others, indexes, size);
    this.#dependsOnOthers ||= left < size;
    this.#isNarrowed ||= left < size;
    return left;
  }

  /** Of filters that can be asked about many nodes at once. A failure leaves none. */
  #keepPassingAll(filters: readonly FilterPlugin[], indexes: Int32Array, size: number): number {
    if (size === 0) return 0;
    const { state, pod } = this.#asked;
    const left = this.#options.profile.keepPassing(filters, state, pod, indexes, size);
    if (typeof left === 'number') return left;
    this.#failing(left);
    return 0;
  }

  /** Where `countAtOnce` did not answer: before the same nodes are gone through by `counts`, in this generation of the cluster. */
  beginToCount(generation: number): void {
    this.#error = undefined;
    this.#options.known.begin(this.#options.nodes.length, generation);
  }

  /** Whether the pod fits on the node. What the plugins that look at it alone say is known from then on. */
  counts(node: NodeInfo): boolean {
    const { known } = this.#options;
    const isRefused = this.#refusalAlone(node) !== undefined;
    // Nothing is known where a plugin fails.
    if (this.#error === undefined) known.note(node, !isRefused);
    return !isRefused && this.#refusalByOthers(node) === undefined;
  }

  #begin(asked: Asked): void {
    const { profile, nodes, answering, spend } = this.#options;
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
  }

  /** The node, one that fitted, has changed: does it still? */
  stillFits(node: NodeInfo): boolean {
    return this.#refusalAlone(node) === undefined;
  }

  /** By the plugins that look at this node alone. */
  #refusalAlone(node: NodeInfo): Status | undefined {
    const { index, generation } = node;
    const working = this.#working;
    for (let i = 0; i < working.length; i++) {
      const { table } = working[i]!;
      if (table.filtered[index] !== generation) this.#ask(working[i]!, node);
      if (table.fits[index] === 0) return table.statuses[index];
    }
    return this.#anew.length === 0 ? undefined : this.#failing(this.#filter(this.#anew, node));
  }

  /** By Reserve, PreFilter's choice of nodes, extenders, or those that read other nodes: never reused. */
  #refusalByOthers(node: NodeInfo): Status | undefined {
    const { narrowing } = this.#options;
    let status = this.#reserve.get(node.index);
    if (status === undefined && this.#asked.nodeNames?.has(node.name) === false) status = notPreselected;
    if (status === undefined && narrowing?.allowed.has(node.name) === false) {
      status = narrowing.refused.get(node.name) ?? notAsked;
    }
    if (status === undefined && this.#others.length > 0) {
      status = this.#failing(this.#filter(this.#others, node));
      this.#dependsOnOthers ||= status !== undefined;
    }
    this.#isNarrowed ||= status !== undefined;
    return status;
  }

  #failing(status: Status | undefined): Status | undefined {
    if (status?.code === 'Error') this.#error ??= status;
    return status;
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
    /** Most nodes are refused by one of a few constants. */
    const counts = new Map<Status, number>();
    for (let place = 0; place < nodeCount && this.#error === undefined; place++) {
      const status = this.#statusOf(this.#indexAt(place));
      if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    if (this.#error !== undefined) {
      return { pod, nodeCount, refusal: { kind: 'pod', status: this.#error }, ...refusersOf(this.#error) };
    }
    const reasons = new Map<string, number>();
    const plugins = new Set<string>();
    const pending = new Set<string>();
    let resolvable = false;
    for (const [status, count] of counts) {
      for (const reason of status.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
      if (status.plugin !== '') plugins.add(status.plugin);
      if (status.code === 'Pending') pending.add(status.plugin);
      resolvable ||= status.code === 'Unschedulable';
    }
    return { pod, nodeCount, refusal: { kind: 'nodes', reasons, resolvable }, plugins, pending };
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
    const status = this.#refusalAlone(node);
    if (status === undefined) return this.#refusalByOthers(node);
    if (this.#working.length + Math.min(1, this.#anew.length) < 2) return status;
    // Where several share the work, one that comes before in the profile may refuse the node too; beside claims each is asked twice.
    const { profile } = this.#options;
    const place = profile.localFilters.findIndex(({ name }) => name === status.plugin);
    const earlier = node.claims.size > 0 ? profile.localFilters : profile.localFilters.slice(0, place);
    return this.#filter(filtersFor(this.#asked.state, earlier), node) ?? status;
  }

  /**
   * As `#ask` of each of these nodes, which nobody claims: of those that can be asked about all at once, each is asked once. In their
   * order, about the nodes that those before let pass: what one cannot make sense of may be what another keeps from it.
   */
  #askMany(working: Working, indexes: Int32Array, count: number): void {
    const { profile, nodes, generations, room } = this.#options;
    const { state, pod } = this.#asked;
    const { table, filters } = working;
    const { passing, passed } = room;
    table.forgetFiltered(indexes, count);
    fillAt(table.fits, indexes, count, 0);
    fillAt(passed, indexes, count, 0);
    for (let i = 0; i < count; i++) passing[i] = indexes[i]!;
    let left = count;
    for (const [i, filter] of filters.entries()) {
      const kept = isInBulk(filter)
        ? profile.keepPassing([filter], state, pod, passing, left)
        : this.#keepPassing(table, filter, left);
      if (typeof kept !== 'number') {
        this.#failing(kept);
        return;
      }
      left = kept;
      fillAt(passed, passing, left, i + 1);
    }
    const now = generations();
    fillAt(table.fits, passing, left, 1);
    copyAt(table.filtered, passing, left, now);
    // Why it refuses is asked of the one that has dropped the node.
    const onwards = filters.map((_, i) => filters.slice(i));
    for (let i = 0; i < count; i++) {
      const index = indexes[i]!;
      if (table.filtered[index] === now[index]) continue;
      this.#note(table, nodes[index]!, this.#filter(onwards[passed[index]!]!, nodes[index]!));
    }
  }

  /** Of the first of `passing`, one after the other. Notes who is refused; answers how many are left, or the failure. */
  #keepPassing(table: NodeTable, filter: FilterPlugin, size: number): number | Status {
    const { nodes, room } = this.#options;
    const { passing } = room;
    const filters = [filter];
    let left = 0;
    for (let i = 0; i < size; i++) {
      const node = nodes[passing[i]!]!;
      const status = this.#filter(filters, node);
      if (status === undefined) passing[left++] = node.index;
      else if (status.code === 'Error') return status;
      else this.#note(table, node, status);
    }
    return left;
  }

  #ask({ table, filters }: Working, node: NodeInfo): void {
    this.#note(table, node, this.#filter(filters, node));
  }

  #note(table: NodeTable, node: NodeInfo, status: Status | undefined): void {
    table.setStatus(node.index, status);
    if (this.#failing(status)?.code !== 'Error') table.markFiltered(node);
  }

  #filter(filters: readonly FilterPlugin[], node: NodeInfo): Status | undefined {
    const { profile, hasNoClaim } = this.#options;
    const { state, pod } = this.#asked;
    if (node.claims.size === 0) return profile.filterAll(filters, state, pod, node);
    return filterBesideClaims(profile, filters, state, pod, node, hasNoClaim);
  }
}

function isInBulk({ plugin }: FilterPlugin): boolean {
  return plugin.filterAll !== undefined;
}
